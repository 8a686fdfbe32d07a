#include "analysis/views/gradient_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/steps/step_marks.h"
#include "analysis/views/collectives.h"
#include "base/text.h"
#include "trace/collective_kind.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::LaneKind;
using trace::Span;

constexpr std::string_view kWrapper = "DistributedDataParallel.forward";
constexpr std::string_view kFunctional = "_c10d_functional::";

// ---- The host's calls --------------------------------------------------------------------------

struct Call {
  Nanos start = 0;
  bool into_bucket = false;
  bool between_layers = false;  // of tensor parallelism: what it sums is no bucket
};

// What the host launched, by correlation; and whether the trace is of DistributedDataParallel.
struct Calls {
  std::unordered_map<std::uint32_t, Call> by_correlation;
  bool names_gradients = false;
  bool wrapped = false;
};

using ByLane = std::map<trace::LaneId, std::vector<Interval>>;

// The host's spans whose names have this part, by lane, in order.
ByLane operators_named(const trace::Trace& trace, std::string_view part) {
  std::vector<bool> has(trace.name_count());
  for (std::uint32_t i = 0; i < trace.name_count(); ++i) has[i] = contains(trace.name(i), part);
  ByLane operators;
  if (std::ranges::none_of(has, [](bool one) { return one; })) return operators;
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    if (has[span.name] && trace.lanes()[span.lane].kind == LaneKind::kHostThread)
      operators[span.lane].push_back({span.start, span.end()});
  }
  for (auto& [lane, all] : operators)
    std::sort(all.begin(), all.end(),
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
  return operators;
}

bool lies_in_one(const ByLane& operators, const Span& span) {
  const auto lane = operators.find(span.lane);
  if (lane == operators.end()) return false;
  const std::vector<Interval>& sorted = lane->second;
  const auto after =
      std::upper_bound(sorted.begin(), sorted.end(), span.start,
                       [](Nanos start, const Interval& one) { return start < one.start; });
  return after != sorted.begin() && std::prev(after)->end >= span.end();
}

bool writes_into_bucket(const program::Program& program, const program::Command& command) {
  const auto* launch = std::get_if<program::Launch>(&command.action);
  return launch && contains(program.operations[launch->operation].framework, kIntoBucket);
}

// The correlations of a lane's launches of kernels, in order.
std::vector<std::uint32_t> launches_on(const trace::Trace& trace, trace::LaneId lane) {
  std::vector<std::pair<Nanos, std::uint32_t>> launches;
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    if (span.lane == lane && span.category == Category::kHostApi &&
        trace.name(span).starts_with("cudaLaunchKernel"))
      launches.emplace_back(span.start, span.correlation);
  }
  std::sort(launches.begin(), launches.end());
  std::vector<std::uint32_t> correlations;
  for (const auto& [start, correlation] : launches) correlations.push_back(correlation);
  return correlations;
}

// A host without a framework has no operators: then the launches of a thread are its commands', one
// after the other.
void find_by_commands(const trace::Trace& trace, const program::Program& program, Calls& calls) {
  for (const program::Thread& thread : program.threads) {
    const auto& commands = thread.commands;
    const auto writes = [&](const auto& one) { return writes_into_bucket(program, one); };
    if (std::none_of(commands.begin(), commands.end(), writes)) continue;
    trace::LaneId lane = 0;
    while (lane < trace.lanes().size() &&
           (trace.lanes()[lane].name != thread.name || trace.lanes()[lane].rank != thread.rank))
      ++lane;
    const std::vector<std::uint32_t> launches = launches_on(trace, lane);
    std::size_t next = 0;
    for (const program::Command& command : commands) {
      const bool is_launch = std::holds_alternative<program::Launch>(command.action) ||
                             std::holds_alternative<program::Collective>(command.action);
      if (!is_launch || next >= launches.size()) continue;
      Call& call = calls.by_correlation[launches[next++]];
      call.into_bucket = writes(command);
      call.between_layers =
          command.name != program::kNoIndex && program.names[command.name].starts_with(kFunctional);
    }
    calls.names_gradients = true;
  }
}

Calls calls_of(const trace::Trace& trace, const program::Program* program) {
  Calls calls;
  const ByLane into_buckets = operators_named(trace, kIntoBucket);
  const ByLane functional = operators_named(trace, kFunctional);
  calls.names_gradients = !into_buckets.empty();
  calls.wrapped = !operators_named(trace, kWrapper).empty();
  calls.wrapped |= program && !program->first_buckets.empty();
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    if (span.correlation == 0 || span.category != Category::kHostApi) continue;
    calls.by_correlation[span.correlation] = {span.start, lies_in_one(into_buckets, span),
                                              lies_in_one(functional, span)};
  }
  if (!calls.names_gradients && program) find_by_commands(trace, *program, calls);
  return calls;
}

// ---- The GPU's work ----------------------------------------------------------------------------

struct Filled {
  Nanos call = 0;
  Nanos ready = 0;
};
struct Sum {
  Nanos call = 0;
  trace::SpanId span = trace::kNone;
  std::int64_t bytes = 0;
};

// Of one GPU.
struct Work {
  std::vector<Filled> filled;  // by call, as are
  std::vector<Sum> sums;
  std::vector<trace::SpanId> collectives;  // by start
  IntervalSet kernels;
  int ranks = 1;
  int rank = 0;  // of the GPU
};

bool is_on_device(const trace::Lane& lane) {
  return lane.kind == LaneKind::kStream || lane.kind == LaneKind::kCollective;
}

// By what is told of it, else by its name: a library's kernel may be called "Generic".
bool is_all_reduce(const trace::Trace& trace, const Span& span) {
  if (span.category != Category::kCollective || !is_on_device(trace.lanes()[span.lane]))
    return false;
  const trace::Detail* detail = trace.detail(span);
  const auto* told = detail ? std::get_if<trace::CollectiveDetail>(detail) : nullptr;
  const auto kind = told ? trace::kind_of(told->operation) : std::nullopt;
  return kind ? kind == trace::CollectiveKind::kAllReduce : contains(trace.name(span), "AllReduce");
}

// Where the first all-reduce ran; null: there is none.
const trace::Lane* first_lane(const trace::Trace& trace, const Measured& measured) {
  const trace::Lane* first = nullptr;
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    if (!is_all_reduce(trace, span)) continue;
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (!measured.counts(lane)) continue;
    if (!first || std::pair(lane.rank, lane.device) < std::pair(first->rank, first->device))
      first = &lane;
  }
  return first;
}

struct Summing {
  std::set<std::pair<std::int32_t, std::int32_t>> gpus;
  std::set<int> ranks;
};

Summing gpus_that_sum(const trace::Trace& trace) {
  Summing found;
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (!is_all_reduce(trace, span)) return;
    const trace::Lane& lane = trace.lanes()[span.lane];
    found.gpus.emplace(lane.rank, lane.device);
    found.ranks.insert(lane.rank);
  });
  return found;
}

void add_sum(const trace::Trace& trace, trace::SpanId id, Nanos call, Work& work) {
  const auto* detail = trace.detail(trace.spans()[id]);
  const auto* collective = detail ? std::get_if<trace::CollectiveDetail>(detail) : nullptr;
  Sum sum{call, id, 0};
  if (collective) {
    sum.bytes = bytes_of(*collective);
    work.ranks = std::max(work.ranks, static_cast<int>(collective->group_size));
  }
  work.sums.push_back(sum);
}

Work work_of(const trace::Trace& trace, const Calls& calls, const trace::Lane& where) {
  Work work;
  work.rank = where.rank;
  std::vector<Interval> kernels;
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (!is_on_device(lane) || lane.rank != where.rank || lane.device != where.device) continue;
    const auto call = calls.by_correlation.find(span.correlation);
    const bool known = span.correlation != 0 && call != calls.by_correlation.end();
    if (trace::is_kernel(span.category)) {
      kernels.push_back({span.start, span.end()});
      if (known && call->second.into_bucket)
        work.filled.push_back({call->second.start, span.end()});
    }
    if (span.category != Category::kCollective) continue;
    work.collectives.push_back(i);
    if (is_all_reduce(trace, span) && !(known && call->second.between_layers))
      add_sum(trace, i, known ? call->second.start : span.start, work);
  }
  const auto by_call = [](const auto& a, const auto& b) { return a.call < b.call; };
  std::stable_sort(work.filled.begin(), work.filled.end(), by_call);
  std::stable_sort(work.sums.begin(), work.sums.end(), by_call);
  std::stable_sort(work.collectives.begin(), work.collectives.end(),
                   [&](trace::SpanId a, trace::SpanId b) {
                     return trace.spans()[a].start < trace.spans()[b].start;
                   });
  work.kernels = IntervalSet(std::move(kernels));
  return work;
}

// The time in which each collective is the newest: each nanosecond belongs to one.
std::unordered_map<trace::SpanId, Interval> own_times(const trace::Trace& trace, const Work& work) {
  std::unordered_map<trace::SpanId, Interval> own;
  Nanos counted = 0;  // up to here
  for (const trace::SpanId id : work.collectives) {
    const Span& span = trace.spans()[id];
    const Nanos start = std::max(span.start, counted);
    if (start >= span.end()) continue;
    own[id] = {start, span.end()};
    counted = span.end();
  }
  return own;
}

// Of an interval, what lies in another and has no kernel.
Nanos exposed_within(const Work& work, Interval own, Interval window) {
  const Interval both{std::max(own.start, window.start), std::min(own.end, window.end)};
  if (both.start >= both.end) return 0;
  return both.end - both.start - work.kernels.length_within(both);
}

// ---- Which gradient went where -----------------------------------------------------------------

std::map<program::Index, std::size_t> bucket_of_gradient(
    const std::vector<program::Bucket>& buckets) {
  std::map<program::Index, std::size_t> bucket_of;
  for (std::size_t i = 0; i < buckets.size(); ++i)
    for (const program::Index gradient : buckets[i].gradients) bucket_of[gradient] = i;
  return bucket_of;
}

std::string parameter_name(const program::Program& program, program::Index gradient) {
  constexpr std::string_view kSuffix = ".grad";
  std::string name = program.buffers[gradient].name;
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  return name;
}

class Reader {
 public:
  Reader(const trace::Trace& trace, const program::Program* program, const Calls& calls,
         const Work& work)
      : trace_(trace), program_(program), calls_(calls), work_(work), own_(own_times(trace, work)) {
    for (const StepWindow& step : step_windows(trace)) steps_.push_back(step);
    find_numbers();
    if (program_) order_ = bucket_writes(*program_, work.rank);
  }

  GradientFlow read() {
    GradientFlow flow;
    flow.ranks = work_.ranks;
    std::size_t sum = 0, filled = 0;
    while (sum < work_.sums.size()) {
      const std::size_t before = sum;
      BackwardFlow backward = knows_buckets() ? read_known(sum, filled) : read_unknown(sum, filled);
      if (!backward.buckets.empty()) flow.backwards.push_back(std::move(backward));
      if (sum == before) ++sum;  // it sums no gradients
    }
    add_steps(flow);
    return flow;
  }

 private:
  void find_numbers() {
    const RankMarks ranks = marks_by_rank(trace_);
    if (ranks.empty()) return;
    for (const StepMark& mark : ranks.begin()->second)
      numbers_[mark.time.start] = static_cast<int>(std::max<std::int64_t>(mark.number, 0));
  }

  bool knows_buckets() const { return program_ && !program_->first_buckets.empty(); }

  int step_of(Nanos call) const {
    const auto after =
        std::upper_bound(steps_.begin(), steps_.end(), call,
                         [](Nanos time, const StepWindow& one) { return time < one.mark.start; });
    return static_cast<int>(after - steps_.begin()) - (after == steps_.begin() ? 0 : 1);
  }

  // The backward of the step that the call is in.
  BackwardFlow backward_of(Nanos call) const {
    BackwardFlow backward;
    backward.step = step_of(call);
    const auto at = static_cast<std::size_t>(backward.step);
    const auto number = at < steps_.size() ? numbers_.find(steps_[at].mark.start) : numbers_.end();
    backward.number = number == numbers_.end() ? backward.step : number->second;
    return backward;
  }

  BucketTimes times_of(const Sum& sum) const {
    const Span& span = trace_.spans()[sum.span];
    BucketTimes bucket;
    bucket.bytes = sum.bytes;
    bucket.launched = sum.call;
    bucket.started = span.start;
    bucket.done = span.end();
    bucket.span = sum.span;
    CollectiveWay way = way_of(trace_, span);
    bucket.algorithm = std::move(way.algorithm);
    bucket.protocol = std::move(way.protocol);
    if (const auto own = own_.find(sum.span); own != own_.end())
      bucket.exposed = exposed_within(work_, own->second, own->second);
    return bucket;
  }

  static void add(BucketTimes& bucket, BucketGradient gradient) {
    bucket.ready = std::max(bucket.ready.value_or(gradient.ready), gradient.ready);
    bucket.gradients.push_back(std::move(gradient));
  }

  // The program says which buckets a backward has; those of the first one, or those kept after it.
  bool sums_are(std::size_t sum, const std::vector<program::Bucket>& buckets) const {
    if (buckets.empty()) return false;
    for (std::size_t i = 0; i < buckets.size() && sum + i < work_.sums.size(); ++i)
      if (buckets[i].bytes != work_.sums[sum + i].bytes) return false;
    return true;
  }

  BackwardFlow read_known(std::size_t& sum, std::size_t& filled) {
    const bool kept = sums_are(sum, program_->buckets);
    const auto& buckets = kept ? program_->buckets : program_->first_buckets;
    if (!kept && !sums_are(sum, buckets)) return {};
    const auto bucket_of = bucket_of_gradient(buckets);
    BackwardFlow backward = backward_of(work_.sums[sum].call);
    for (std::size_t i = 0; i < buckets.size() && sum < work_.sums.size(); ++i)
      backward.buckets.push_back(times_of(work_.sums[sum++]));
    const Nanos last_call = backward.buckets.back().launched;
    const std::size_t all = std::min(order_.size(), work_.filled.size());
    for (; filled < all && work_.filled[filled].call < last_call; ++filled) {
      const program::Index gradient = order_[filled];
      const auto found = bucket_of.find(gradient);
      if (found == bucket_of.end() || found->second >= backward.buckets.size()) continue;
      add(backward.buckets[found->second],
          {parameter_name(*program_, gradient), program_->buffers[gradient].bytes,
           work_.filled[filled].ready});
    }
    return backward;
  }

  // What was written into buckets before an all-reduce, and after the one before it, is in its
  // bucket: buckets are launched as they fill.
  BackwardFlow read_unknown(std::size_t& sum, std::size_t& filled) {
    BackwardFlow backward = backward_of(work_.sums[sum].call);
    for (; sum < work_.sums.size() && step_of(work_.sums[sum].call) == backward.step; ++sum) {
      BucketTimes bucket = times_of(work_.sums[sum]);
      for (; filled < work_.filled.size() && work_.filled[filled].call < bucket.launched; ++filled)
        add(bucket, {"", 0, work_.filled[filled].ready});
      if (!bucket.gradients.empty() || !calls_.names_gradients)
        backward.buckets.push_back(std::move(bucket));
    }
    return backward;
  }

  void add_steps(GradientFlow& flow) const {
    for (const StepWindow& step : steps_) flow.steps.push_back({step.window, step.mark.start});
    if (flow.steps.empty()) flow.steps.push_back({{0, trace_.end()}});
    std::set<trace::SpanId> is_bucket;
    for (const BackwardFlow& backward : flow.backwards)
      for (const BucketTimes& bucket : backward.buckets) is_bucket.insert(bucket.span);
    for (const auto& [id, own] : own_)
      for (StepExposure& step : flow.steps)
        (is_bucket.count(id) ? step.buckets : step.others) +=
            exposed_within(work_, own, step.window);
  }

  const trace::Trace& trace_;
  const program::Program* program_;
  const Calls& calls_;
  const Work& work_;
  std::unordered_map<trace::SpanId, Interval> own_;
  std::vector<StepWindow> steps_;
  std::map<Nanos, int> numbers_;  // of the steps, by the start of their marks
  std::vector<program::Index> order_;
};

}  // namespace

std::vector<program::Index> bucket_writes(const program::Program& program, int rank) {
  // A saved run keeps only threads that load.
  const auto loads = [](const program::Thread& one) {
    return one.role == program::ThreadRole::kLoaderWorker;
  };
  if (std::ranges::all_of(program.threads, loads)) return program.bucket_writes;
  std::vector<program::Index> gradients;
  for (const program::Thread& thread : program.threads) {
    if (thread.rank != rank) continue;
    for (const program::Command& command : thread.commands)
      if (writes_into_bucket(program, command))
        gradients.push_back(
            program.operations[std::get<program::Launch>(command.action).operation].reads.front());
  }
  return gradients;
}

Nanos BackwardFlow::begun() const {
  std::optional<Nanos> first;
  for (const BucketTimes& bucket : buckets)
    for (const BucketGradient& gradient : bucket.gradients)
      first = std::min(first.value_or(gradient.ready), gradient.ready);
  return first.value_or(buckets.front().launched);
}

const BackwardFlow& GradientFlow::at(Nanos time) const {
  const auto after = std::upper_bound(
      backwards.begin(), backwards.end(), time,
      [](Nanos when, const BackwardFlow& backward) { return when < backward.begun(); });
  return after == backwards.begin() ? *after : *std::prev(after);
}

GradientFlow gradient_flow(const trace::Trace& trace, const program::Program* program) {
  Measured measured = measure_whole(trace, program, nullptr);
  // Ranks of a pipeline have buckets of their own, and the program tells the first one's.
  if (program && program->stages > 1) measured.rank = measured.device = 0;
  const trace::Lane* where = first_lane(trace, measured);
  if (!where) return {};
  const Calls calls = calls_of(trace, program);
  if (!calls.names_gradients && !calls.wrapped) return {};
  const Work work = work_of(trace, calls, *where);
  GradientFlow flow = Reader(trace, program, calls, work).read();
  if (measured.rank >= 0) flow.rank = measured.rank;
  // Of one process that drives several GPUs all are there.
  const Summing here = gpus_that_sum(trace);
  const bool by_ranks = here.gpus.size() == here.ranks.size();
  if (trace.origin().kind == trace::OriginKind::kImported && by_ranks &&
      static_cast<int>(here.ranks.size()) < flow.ranks)
    for (const int rank : here.ranks) flow.here.push_back(std::clamp(rank, 0, flow.ranks - 1));
  return flow;
}

BucketState state_at(const BucketTimes& bucket, Nanos time) {
  if (time >= bucket.done) return BucketState::kDone;
  if (time >= bucket.started) return BucketState::kRunning;
  return time >= bucket.ready.value_or(bucket.launched) ? BucketState::kReady
                                                        : BucketState::kFilling;
}

double share_ready(const BucketTimes& bucket, Nanos time) {
  if (bucket.gradients.empty()) return time >= bucket.launched ? 1 : 0;
  double ready = 0, all = 0;
  const bool by_bytes = bucket.gradients.front().bytes > 0;
  for (const BucketGradient& gradient : bucket.gradients) {
    const double weight = by_bytes ? static_cast<double>(gradient.bytes) : 1;
    all += weight;
    if (gradient.ready <= time) ready += weight;
  }
  return ready / all;
}

double share_summed(const BucketTimes& bucket, Nanos time) {
  if (time >= bucket.done) return 1;
  if (time <= bucket.started) return 0;
  return static_cast<double>(time - bucket.started) /
         static_cast<double>(bucket.done - bucket.started);
}

}  // namespace trainscope::analysis
