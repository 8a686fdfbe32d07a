// Copies between host and device, by size, direction and memory kind.

#include <algorithm>

#include "cuda/calibration/calibration.h"

namespace trainscope::cuda {
namespace {

using program::MemoryKind;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

struct Way {
  const char* name;
  MemoryKind from;
  MemoryKind to;
};
constexpr Way kThere{"h2d", MemoryKind::kPinned, MemoryKind::kDevice};
constexpr Way kBack{"d2h", MemoryKind::kDevice, MemoryKind::kPinned};

// Memory for copies of one kind of host memory, both ways.
struct Ends {
  Ends(Bench& bench, std::int64_t bytes, MemoryKind host_kind)
      : kind(host_kind), host(bench.on_host(bytes, host_kind)), device(bench.on_device(bytes)) {}
  CopyCall there(std::int64_t bytes) const {
    return {host, device, bytes, kind, MemoryKind::kDevice};
  }
  CopyCall back(std::int64_t bytes) const {
    return {device, host, bytes, MemoryKind::kDevice, kind};
  }
  MemoryKind kind;
  void* host;
  void* device;
};

std::vector<std::int64_t> sizes_to(std::int64_t most) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = 64 << 10; bytes <= most; bytes *= 4) sizes.push_back(bytes);
  return sizes;
}

// The time of one copy on its engine.
Summary on_engine(Bench& bench, const CopyCall& copy, int repeats) {
  std::vector<double> times;
  const auto records = bench.watched([&] {
    for (int i = -1; i < repeats; ++i) bench.copy(copy);
  });
  for (std::size_t i = 1; i < records.size(); ++i)
    times.push_back(static_cast<double>(records[i].end - records[i].start));
  return summarise(std::move(times));
}

Line measure_pinned(Bench& bench, const CalibrationPlan& plan, const Ends& ends, const Way& way,
                    Calibration& to) {
  std::vector<Point> points;
  for (const std::int64_t bytes : sizes_to(plan.most_copied)) {
    const bool there = way.to == MemoryKind::kDevice;
    const Summary took = on_engine(bench, there ? ends.there(bytes) : ends.back(bytes), plan.few);
    if (took.count == 0) continue;
    points.push_back({static_cast<double>(bytes), took.median});
    to.transfers.push_back({std::string(way.name) + " pinned", bytes, took.median, took.spread});
  }
  if (points.size() < 2) {
    to.left_out.push_back(std::string("pcie.") + way.name + ": no copy of it was seen");
    return {};
  }
  const Line line = fit_line(points);
  const std::string pcie = std::string("pcie.") + way.name;
  const std::string how = "line through pinned copies of 64 KiB to " +
                          std::to_string(plan.most_copied / kMiB) + " MiB, within " +
                          std::to_string(static_cast<int>(100 * line.worst + 0.5)) + " %";
  to.figures.push_back({pcie, 1e9 / line.slope, 0, line.count, how});
  to.figures.push_back({pcie + "_latency", line.at_zero, 0, line.count, how});
  return line;
}

// The calls of pageable copies: a thread is held while it stages, so the slope is its own copying,
// or the link's where that is slower.
void measure_pageable(Bench& bench, const CalibrationPlan& plan, Calibration& to) {
  const Ends ends(bench, plan.most_copied, MemoryKind::kPageable);
  for (const bool there : {true, false}) {
    std::vector<Point> points;
    for (std::int64_t bytes = plan.most_copied / 8; bytes <= plan.most_copied; bytes *= 2) {
      const CopyCall copy = there ? ends.there(bytes) : ends.back(bytes);
      std::vector<double> times;
      for (int i = -1; i < plan.few; ++i) {
        bench.device().synchronise();
        const auto took = static_cast<double>(bench.timed([&] { bench.copy(copy); }));
        if (i >= 0) times.push_back(took);
      }
      const Summary took = summarise(std::move(times));
      points.push_back({static_cast<double>(bytes), took.median});
      to.transfers.push_back(
          {there ? "h2d pageable" : "d2h pageable", bytes, took.median, took.spread});
    }
    const Line line = fit_line(points);
    to.figures.push_back({there ? "host.memcpy" : "host.memcpy_back", 1e9 / line.slope, 0,
                          line.count,
                          "slope of the calls of pageable copies to " +
                              std::to_string(plan.most_copied / kMiB) + " MiB"});
  }
}

// cudaHostAlloc, whose time is that of the pages it finds and locks.
void measure_page_lock(Bench& bench, const CalibrationPlan& plan, Calibration& to) {
  DeviceCalls& device = bench.device();
  std::vector<Point> points;
  for (std::int64_t bytes = plan.most_copied / 8; bytes <= plan.most_copied; bytes *= 2) {
    std::vector<double> times;
    for (int i = -1; i < plan.few; ++i) {
      void* memory = nullptr;
      const auto took = static_cast<double>(
          bench.timed([&] { memory = device.allocate_host(bytes, MemoryKind::kPinned); }));
      device.release_host(memory, MemoryKind::kPinned);
      if (i >= 0) times.push_back(took);
    }
    points.push_back({static_cast<double>(bytes), summarise(std::move(times)).median});
  }
  const Line line = fit_line(points);
  if (line.slope <= 0) {
    to.left_out.push_back("host.page_lock: cudaHostAlloc took no longer for more bytes");
    return;
  }
  to.figures.push_back(
      {"host.page_lock", 1e9 / line.slope, 0, line.count,
       "slope of cudaHostAlloc to " + std::to_string(plan.most_copied / kMiB) + " MiB"});
}

// Two copies at once, of as many bytes as each way carries in the same time alone, so that they
// overlap for most of it.
void measure_both(Bench& bench, const CalibrationPlan& plan, const Line& there, const Line& back,
                  Calibration& to) {
  const Ends out(bench, plan.most_copied, MemoryKind::kPinned);
  const Ends in(bench, plan.most_copied, MemoryKind::kPinned);
  const auto bytes = [&](const Line& way) {
    const double share = std::min(there.slope, back.slope) / way.slope;
    return static_cast<std::int64_t>(share * static_cast<double>(plan.most_copied)) & -4096;
  };
  std::vector<double> rates;
  for (int i = 0; i < plan.few; ++i) {
    auto records = bench.watched([&] {
      bench.copy(out.there(bytes(there)), bench.stream());
      bench.copy(in.back(bytes(back)), bench.other_stream());
    });
    if (records.size() != 2) continue;
    if (records.front().to != MemoryKind::kDevice) std::swap(records[0], records[1]);
    if (const auto rate = rate_of_both({records[0], there}, {records[1], back}))
      rates.push_back(*rate);
  }
  if (rates.empty()) {
    to.left_out.push_back("pcie.both: copies both ways hardly overlapped");
    return;
  }
  Summary rate = summarise(std::move(rates));
  // What a machine file may say (src/machine/rules.h); a measurement may miss it by its error.
  const double h2d = 1e9 / there.slope, d2h = 1e9 / back.slope;
  rate.median = std::clamp(rate.median, std::max(h2d, d2h), h2d + d2h);
  to.figures.push_back({"pcie.both", rate.median, rate.spread, rate.count,
                        "median of " + std::to_string(rate.count) +
                            " pairs of pinned copies, one each way at once"});
}

}  // namespace

std::optional<double> rate_of_both(const OneWay& there, const OneWay& back) {
  const auto first_byte = [](const OneWay& way) {
    return static_cast<double>(way.activity.start) + way.alone.at_zero;
  };
  const double begin = std::max(first_byte(there), first_byte(back));
  const auto end = static_cast<double>(std::min(there.activity.end, back.activity.end));
  constexpr double kHardly = 0.5;
  double bytes = 0;
  for (const OneWay* way : {&there, &back}) {
    const auto last = static_cast<double>(way->activity.end);
    if (end - begin < kHardly * (last - first_byte(*way))) return std::nullopt;
    const double alone = (begin - first_byte(*way)) + (last - end);
    bytes += static_cast<double>(way->activity.bytes) - alone / way->alone.slope;
  }
  return 1e9 * bytes / (end - begin);
}

void measure_copies(Bench& bench, const CalibrationPlan& plan, Calibration& to) {
  Line there, back;
  {
    const Ends ends(bench, plan.most_copied, MemoryKind::kPinned);
    there = measure_pinned(bench, plan, ends, kThere, to);
    back = measure_pinned(bench, plan, ends, kBack, to);
  }
  if (there.slope > 0 && back.slope > 0) measure_both(bench, plan, there, back, to);
  bench.free_all();
  measure_pageable(bench, plan, to);
  bench.free_all();
  measure_page_lock(bench, plan, to);
}

}  // namespace trainscope::cuda
