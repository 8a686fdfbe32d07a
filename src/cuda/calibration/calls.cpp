// What calls cost the host, and what passes between a call and the device.

#include <algorithm>
#include <limits>

#include "cuda/calibration/calibration.h"
#include "cuda/clock_shift.h"

namespace trainscope::cuda {
namespace {

constexpr Nanos kMicro = 1000;
constexpr Nanos kMilli = 1'000'000;

void add(Calibration& to, const char* name, const Summary& summary, const std::string& what) {
  if (summary.count == 0) {
    to.left_out.push_back(std::string(name) + ": the tracer did not tell of all " + what);
    return;
  }
  to.figures.push_back({name, summary.median, summary.spread, summary.count,
                        "median of " + std::to_string(summary.count) + " " + what});
}

// The times of `body` on the host, one a call. The device gets time to catch up now and then, so
// that no call waits for room in its queue.
template <typename Body>
Summary calls(Bench& bench, const CalibrationPlan& plan, const Body& body) {
  constexpr int kTogether = 100;
  std::vector<double> times;
  for (int i = -plan.warm_up; i < 4 * plan.repeats; ++i) {
    const auto took = static_cast<double>(bench.timed(body));
    if (i >= 0) times.push_back(took);
    if (i % kTogether == 0) bench.device().synchronise();
  }
  bench.device().synchronise();
  return summarise(std::move(times));
}

// How many launches of a stream are not done when a call first waits for one; 0: none waited.
int launches_before_a_wait(Bench& bench, double launch_ns) {
  constexpr int kMost = 4096;
  const KernelCall& small = bench.prepare(empty_kernel());
  const Nanos blocked = std::max<Nanos>(100 * kMilli, static_cast<Nanos>(4 * kMost * launch_ns));
  const Nanos wait = blocked / 4;  // what disturbs the host is shorter
  const KernelCall& blocker = bench.prepare(long_kernel(blocked));
  bench.device().synchronise();
  bench.launch(blocker);
  int found = 0;
  for (int queued = 1; queued <= kMost && found == 0; ++queued)
    if (bench.timed([&] { bench.launch(small); }) > wait) found = queued;
  bench.device().synchronise();
  return found;
}

// A launch on an idle device, and the wait for its kernel, by the host's clock.
struct Waited {
  Nanos begun = 0;
  Nanos returned = 0;  // the launch
  Nanos woken = 0;
};

// From a call to its kernel, and from the kernel's end to the return of the wait. Of both together
// the host's clock tells exactly; how they share that, the tracer's, which may be off. It is set
// later, or earlier, by as little as lets no kernel begin before its launch or end after the wait.
void add_latencies(const std::vector<Waited>& calls, const std::vector<Activity>& kernels,
                   Calibration& to) {
  Nanos least = std::numeric_limits<Nanos>::min(), most = std::numeric_limits<Nanos>::max();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    least = std::max(least, calls[i].begun - kernels[i].start);
    most = std::min(most, calls[i].woken - kernels[i].end);
  }
  const Nanos shift = calls.empty() ? 0 : least_shift(least, most);
  std::vector<double> latencies, wakes;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Nanos both = calls[i].woken - calls[i].returned - (kernels[i].end - kernels[i].start);
    const Nanos latency = std::clamp<Nanos>(kernels[i].start + shift - calls[i].returned, 0,
                                            std::max<Nanos>(both, 0));
    latencies.push_back(static_cast<double>(latency));
    wakes.push_back(static_cast<double>(std::max<Nanos>(both, 0) - latency));
  }
  const std::string clock =
      shift == 0 ? "" : ", the tracer's clock set " + std::to_string(shift) + " ns later";
  add(to, "host.launch_latency", summarise(std::move(latencies)),
      "launches on an idle GPU" + clock);
  add(to, "host.wake", summarise(std::move(wakes)), "waits for a kernel of 100 us" + clock);
}

// From the start of one kernel to the start of the next, of many on a stream behind one that lasts
// until all are launched. Nothing watches: a tracer has work of its own between two.
Summary from_start_to_start(Bench& bench, const CalibrationPlan& plan, const KernelCall& small) {
  const int count = 4 * plan.repeats;
  const KernelCall& blocker = bench.prepare(long_kernel(count * 20 * kMicro));
  const auto took = [&](int kernels) {
    return static_cast<double>(bench.timed([&] {
      bench.launch(blocker);
      for (int i = 0; i < kernels; ++i) bench.launch(small);
      bench.device().synchronise_stream(bench.stream());
    }));
  };
  std::vector<double> alone, together;
  for (int i = -1; i < plan.few; ++i) {
    const double without = took(0), with = took(count);
    if (i < 0) continue;  // warm-up
    alone.push_back(without);
    together.push_back(with);
  }
  const double blocked = summarise(std::move(alone)).median;
  for (double& each : together) each = (each - blocked) / count;
  return summarise(std::move(together));
}

}  // namespace

void measure_calls(Bench& bench, const CalibrationPlan& plan, Calibration& to) {
  DeviceCalls& device = bench.device();
  const KernelCall& small = bench.prepare(empty_kernel());
  const Summary launch = calls(bench, plan, [&] { bench.launch(small); });
  add(to, "host.launch_call", launch, "launches, nothing watching");
  const auto watched_launch = [&](WatchLevel level) {
    device.watch(level);
    const Summary watched = calls(bench, plan, [&] { bench.launch(small); });
    device.watch(WatchLevel::kNothing);
    device.collect();
    return watched.median;
  };
  to.kernels_watched_launch_ns = watched_launch(WatchLevel::kKernels);
  to.watched_launch_ns = watched_launch(WatchLevel::kEverything);
  const EventHandle event = device.make_event(0);
  const Summary record = calls(bench, plan, [&] { device.record(event, bench.stream()); });
  const Summary wait = calls(bench, plan, [&] { device.wait(bench.other_stream(), event); });
  to.figures.push_back({"host.event_call", (record.median + wait.median) / 2,
                        std::max(record.spread, wait.spread), record.count + wait.count,
                        "mean of the medians of " + std::to_string(record.count) +
                            " records and as many waits of a stream"});
  add(to, "host.sync_call", calls(bench, plan, [&] { device.synchronise_stream(bench.stream()); }),
      "synchronisations of an idle stream");
  constexpr std::int64_t kSmall = 4096;
  const CopyCall copy{bench.on_host(kSmall, program::MemoryKind::kPinned), bench.on_device(kSmall),
                      kSmall, program::MemoryKind::kPinned, program::MemoryKind::kDevice};
  add(to, "host.copy_call", calls(bench, plan, [&] { bench.copy(copy); }),
      "calls of a pinned copy of 4 KiB");
  const int queue = launches_before_a_wait(bench, launch.median);
  if (queue > 0) {
    to.figures.push_back({"host.launch_queue", static_cast<double>(queue), 0, 1,
                          "launches not done when the first call waited for one"});
  } else {
    to.left_out.push_back("host.launch_queue: no call of 4096 waited for room");
  }
  bench.free_all();
}

// From a call to its kernel, from a kernel to the next, from the last to the return of a call.
void measure_order(Bench& bench, const CalibrationPlan& plan, Calibration& to) {
  DeviceCalls& device = bench.device();
  const KernelCall& small = bench.prepare(empty_kernel());
  const KernelCall& longer = bench.prepare(long_kernel(100 * kMicro));
  const KernelCall& blocker = bench.prepare(long_kernel(plan.repeats * 20 * kMicro));
  std::vector<double> floors;
  std::vector<Waited> calls;
  const auto alone = bench.watched([&] {
    for (int i = -plan.warm_up; i < plan.repeats; ++i) {
      Waited& one = calls.emplace_back();
      one.begun = device.now();
      bench.launch(longer);
      one.returned = device.now();
      device.synchronise_stream(bench.stream());
      one.woken = device.now();
    }
  });
  // Each launch waits for the one before, so records come in the order of the calls.
  const auto warm = static_cast<std::ptrdiff_t>(plan.warm_up);
  const bool all_told = alone.size() == calls.size();
  add_latencies(all_told ? std::vector(calls.begin() + warm, calls.end()) : std::vector<Waited>(),
                all_told ? std::vector(alone.begin() + warm, alone.end()) : std::vector<Activity>(),
                to);
  // Behind a long one, so that they follow one another however slow the host is.
  const auto records = bench.watched([&] {
    bench.launch(blocker);
    for (int i = 0; i < plan.repeats; ++i) bench.launch(small);
  });
  for (std::size_t i = 1; i < records.size(); ++i)
    floors.push_back(static_cast<double>(records[i].end - records[i].start));
  const Summary floor = summarise(std::move(floors));
  add(to, "gpu.kernel_floor", floor, "kernels that write one number");
  Summary gap = from_start_to_start(bench, plan, small);
  if (floor.count == 0) gap = {};
  gap.median = std::max(0.0, gap.median - floor.median);
  add(to, "gpu.kernel_gap", gap,
      "streams of " + std::to_string(4 * plan.repeats) +
          " kernels back to back, untraced, less the kernels");
  bench.free_all();
}

void measure_graphs(Bench& bench, const CalibrationPlan& plan, Calibration& to) {
  DeviceCalls& device = bench.device();
  const KernelCall& small = bench.prepare(empty_kernel());
  std::vector<Point> launched, instantiated;
  for (const int nodes : {1, 16, 64, 256, 1024}) {
    const StreamHandle captured = device.make_stream(program::StreamKind::kNonBlocking, 0, 0);
    device.begin_capture(captured);
    for (int i = 0; i < nodes; ++i) device.launch(small, captured);
    const GraphHandle graph = device.end_capture(captured);
    std::vector<double> made, times;
    for (int i = 0; i < plan.few; ++i)
      made.push_back(static_cast<double>(bench.timed([&] { device.instantiate(graph); })));
    for (int i = -plan.warm_up; i < plan.repeats; ++i) {
      const Nanos took = bench.timed([&] { device.launch_graph(graph, bench.stream()); });
      device.synchronise();
      if (i >= 0) times.push_back(static_cast<double>(took));
    }
    instantiated.push_back({static_cast<double>(nodes), summarise(std::move(made)).median});
    launched.push_back({static_cast<double>(nodes), summarise(std::move(times)).median});
  }
  const std::string how = "line through the medians for graphs of 1 to 1024 nodes";
  const Line launch = fit_line(launched), instantiate = fit_line(instantiated);
  to.figures.push_back({"host.graph_launch", launch.at_zero, 0, launch.count, how});
  to.figures.push_back(
      {"host.graph_launch_node", std::max(0.0, launch.slope), 0, launch.count, how});
  to.figures.push_back(
      {"host.graph_instantiate_node", std::max(0.0, instantiate.slope), 0, instantiate.count, how});
  bench.free_all();
}

}  // namespace trainscope::cuda
