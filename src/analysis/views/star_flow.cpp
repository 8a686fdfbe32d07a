#include "analysis/views/star_flow.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "analysis/steps/by_correlation.h"
#include "analysis/views/collectives.h"
#include "base/text.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::LaneKind;
using trace::Span;

// A transfer as it is found, before it is known what it is for.
struct Found {
  bool is_copy = false;
  bool leaves = false;  // GPU 0
  Nanos call = 0;
  StarTransfer transfer;
};

std::int64_t bytes_moved(const trace::Trace& trace, const Span& span) {
  const auto* detail = trace.detail(span);
  if (!detail) return 0;
  if (const auto* copy = std::get_if<trace::CopyDetail>(detail)) return copy->bytes;
  if (const auto* collective = std::get_if<trace::CollectiveDetail>(detail))
    return bytes_of(*collective);
  return 0;
}

class Reader {
 public:
  explicit Reader(const trace::Trace& trace)
      : trace_(trace), steps_(step_windows(trace)), calls_(trace, kNoCall) {}

  StarFlow read() {
    find_calls();
    gather();
    if (flow_.gpus.size() < 2) return {};
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Found& a, const Found& b) { return a.call < b.call; });
    name_targets();
    divide();
    measure_exposed();
    return std::move(flow_);
  }

 private:
  void find_calls() {
    trace::for_each(trace_.spans(), [&](const Span& span, trace::SpanId) {
      if (span.correlation != 0 && span.category == Category::kHostApi)
        calls_.add(span.correlation, span.start);
    });
  }

  struct Kernels {
    std::vector<Interval> forward, backward, optimizer, others;
  };

  void gather() {
    std::vector<Kernels> kernels;
    for (std::uint32_t i = 0, n = trace_.spans().size(); i < n; ++i) {
      const Span& span = trace_.spans()[i];
      const trace::Lane& lane = trace_.lanes()[span.lane];
      if (lane.kind != LaneKind::kStream || lane.device < 0) continue;
      const auto gpu = static_cast<std::size_t>(lane.device);
      if (gpu >= kMostGpus) continue;
      if (kernels.size() <= gpu) kernels.resize(gpu + 1);
      add(kernels[gpu], span);
      add_transfer(span, lane.device, i);
    }
    for (Kernels& one : kernels)
      flow_.gpus.push_back(
          {IntervalSet(std::move(one.forward)), IntervalSet(std::move(one.backward)),
           IntervalSet(std::move(one.optimizer)), IntervalSet(std::move(one.others))});
  }

  static void add(Kernels& kernels, const Span& span) {
    const Interval interval{span.start, span.end()};
    if (span.category == Category::kForward) kernels.forward.push_back(interval);
    if (span.category == Category::kBackward) kernels.backward.push_back(interval);
    if (span.category == Category::kOptimizer) kernels.optimizer.push_back(interval);
    if (span.category == Category::kKernel) kernels.others.push_back(interval);
  }

  // Of a collective, GPU 0's part stands for all.
  void add_transfer(const Span& span, int gpu, trace::SpanId id) {
    const std::string& name = trace_.name(span);
    const bool copy = trace::is_copy(span.category) && contains(name, "PtoP");
    const bool broadcast = span.category == Category::kCollective && contains(name, "Broadcast");
    const bool reduce = span.category == Category::kCollective && !broadcast &&
                        contains(name, "Reduce") && !contains(name, "AllReduce") &&
                        !contains(name, "ReduceScatter");
    if (!copy && (gpu != 0 || (!broadcast && !reduce))) return;
    Found found;
    found.is_copy = copy;
    found.leaves = copy ? gpu == 0 : broadcast;
    const Nanos* call = calls_.find(span.correlation);
    found.call = call ? *call : span.start;
    found.transfer = {copy && gpu != 0 ? gpu : StarTransfer::kAll, bytes_moved(trace_, span),
                      span.start, span.end(), id};
    found_.push_back(found);
  }

  // Copies from GPU 0 go to the others in turn.
  void name_targets() {
    const int others = static_cast<int>(flow_.gpus.size()) - 1;
    int turn = 0;
    for (Found& one : found_)
      if (one.is_copy && one.leaves) one.transfer.other = 1 + turn++ % others;
  }

  int step_of(Nanos call) const {
    const auto after =
        std::upper_bound(steps_.begin(), steps_.end(), call,
                         [](Nanos time, const StepWindow& one) { return time < one.mark.start; });
    return after == steps_.begin() ? 0 : static_cast<int>(after - steps_.begin()) - 1;
  }

  Interval window_of(int step) const {
    if (steps_.empty()) return {0, trace_.end()};
    return steps_[static_cast<std::size_t>(step)].window;
  }

  static StarStage stage_of(const Found& one, bool gathered) {
    if (!one.is_copy) return one.leaves ? StarStage::kReplicate : StarStage::kReduce;
    if (!one.leaves) return StarStage::kGather;
    return gathered ? StarStage::kScatterGradient : StarStage::kScatter;
  }

  void divide() {
    bool gathered = false;  // since the last scatter of a batch
    for (const Found& one : found_) {
      const int number = step_of(one.call);
      if (flow_.steps.empty() || flow_.steps.back().step != number) {
        flow_.steps.push_back({number, window_of(number), {}});
        gathered = false;
      }
      const StarStage stage = stage_of(one, gathered);
      gathered = stage == StarStage::kGather || (gathered && stage == StarStage::kScatterGradient);
      std::vector<StarStageTimes>& stages = flow_.steps.back().stages;
      if (stages.empty() || stages.back().stage != stage) {
        stages.push_back({});
        stages.back().stage = stage;
        stages.back().start = one.transfer.start;
      }
      put(stages.back(), one.transfer);
    }
  }

  void put(StarStageTimes& stage, const StarTransfer& transfer) const {
    const auto others = static_cast<std::int64_t>(flow_.gpus.size()) - 1;
    stage.transfers.push_back(transfer);
    stage.bytes += transfer.bytes * (transfer.other == StarTransfer::kAll ? others : 1);
    stage.start = std::min(stage.start, transfer.start);
    stage.end = std::max(stage.end, transfer.end);
  }

  void measure_exposed() {
    const IntervalSet kernels = flow_.gpus.front().all();
    IntervalSet counted;
    for (StarStep& step : flow_.steps)
      for (StarStageTimes& stage : step.stages) {
        std::vector<Interval> intervals;
        for (const StarTransfer& one : stage.transfers) intervals.push_back({one.start, one.end});
        const IntervalSet alone =
            IntervalSet(std::move(intervals)).without(kernels).without(counted);
        stage.exposed = alone.length();
        counted = alone;  // only a neighbour can overlap
      }
  }

  static constexpr std::size_t kMostGpus = 64;
  static constexpr Nanos kNoCall = std::numeric_limits<Nanos>::min();

  const trace::Trace& trace_;
  std::vector<StepWindow> steps_;
  ByCorrelation<Nanos> calls_;  // when each began
  std::vector<Found> found_;
  StarFlow flow_;
};

}  // namespace

std::string_view name_of(StarStage stage) {
  constexpr std::array<std::string_view, 5> kNames{"scatter", "replicate", "gather",
                                                   "scatter gradient", "reduce gradients"};
  return kNames[static_cast<std::size_t>(stage)];
}

bool leaves_gpu0(StarStage stage) {
  return stage != StarStage::kGather && stage != StarStage::kReduce;
}

IntervalSet GpuWork::all() const {
  return forward.united(backward).united(optimizer).united(others);
}

const StarStep& StarFlow::at(Nanos time) const {
  const auto after =
      std::upper_bound(steps.begin(), steps.end(), time,
                       [](Nanos when, const StarStep& step) { return when < step.window.start; });
  return after == steps.begin() ? *after : *std::prev(after);
}

StarFlow star_flow(const trace::Trace& trace) {
  return Reader(trace).read();
}

}  // namespace trainscope::analysis
