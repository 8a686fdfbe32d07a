#include "host/later_numbers.h"

#include <algorithm>
#include <map>
#include <utility>

namespace trainscope::host {

bool numbers_decide(const program::Program& program) {
  const auto decides = [](const program::Command& command) {
    const auto* launch = std::get_if<program::Launch>(&command.action);
    return std::holds_alternative<program::Branch>(command.action) ||
           (launch && launch->predicate != program::kNoIndex);
  };
  return std::any_of(program.threads.begin(), program.threads.end(), [&](const auto& thread) {
    return std::any_of(thread.commands.begin(), thread.commands.end(), decides);
  });
}

LaterNumbers::LaterNumbers(const program::Program& program,
                           std::unique_ptr<program::Numbers> numbers)
    : program_(program),
      numbers_(std::move(numbers)),
      ordered_(std::ranges::all_of(program.threads,
                                   [](const auto& thread) { return thread.rank == 0; })) {}

trace::TrainingStep LaterNumbers::step(std::int64_t number) {
  calls_.emplace_back(StepRow{number});
  trace::TrainingStep row;
  row.step = number;
  return row;
}

trace::Evaluation LaterNumbers::evaluation(std::int64_t step) {
  calls_.emplace_back(EvaluationRow{step});
  return {.step = step};
}

// ---- In the order of each rank -----------------------------------------------------------------

int LaterNumbers::gpu_of(const Call& call) const {
  const auto of_buffer = [&](program::Index buffer) { return program_.buffers[buffer].device; };
  const auto of = [&](const auto& one) {
    using Type = std::decay_t<decltype(one)>;
    if constexpr (std::is_same_v<Type, const program::LoadBatch*>) {
      return of_buffer(one->x);
    } else if constexpr (std::is_same_v<Type, const program::Operation*>) {
      // One without results computes nothing.
      const program::Operation& first = one->parts.empty() ? *one : one->parts.front();
      return first.writes.empty() ? 0 : of_buffer(first.writes.front());
    } else if constexpr (std::is_same_v<Type, const program::Copy*>) {
      return of_buffer(one->to);
    } else if constexpr (std::is_same_v<Type, const program::View*>) {
      return of_buffer(one->of);
    } else if constexpr (std::is_same_v<Type, const program::Collective*>) {
      return program_.streams[one->stream].device;
    } else {
      return of_buffer(program_.gauges.loss);
    }
  };
  return std::visit(of, call);
}

namespace {

// Calls of each GPU, and which of them comes next.
struct Queue {
  int gpu = 0;
  std::vector<std::size_t> calls;
  std::size_t next = 0;
  bool waits = false;  // its next one is a collective that others have not come to
};

}  // namespace

void LaterNumbers::order_by_ranks() {
  ordered_ = true;
  std::map<int, Queue> queues;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const int gpu = gpu_of(calls_[i]);
    queues[gpu].gpu = gpu;
    queues[gpu].calls.push_back(i);
  }
  std::map<std::pair<program::Index, std::int64_t>, std::vector<Queue*>> meetings;
  std::vector<Call> ordered;
  ordered.reserve(calls_.size());
  const auto take = [&](Queue& queue) {
    ordered.push_back(calls_[queue.calls[queue.next++]]);
    queue.waits = false;
  };
  // Those that meet come one behind the other.
  const auto meet = [&](Queue& queue, const program::Collective& one) {
    std::vector<Queue*>& there = meetings[{one.communicator, one.sequence}];
    there.push_back(&queue);
    queue.waits = true;
    const auto members =
        static_cast<std::size_t>(program_.communicators[one.communicator].simulated);
    if (there.size() < members) return;
    // By rank: who meets others elsewhere may come here late.
    std::ranges::sort(there, {}, [](const Queue* member) { return member->gpu; });
    for (Queue* const member : there) take(*member);
    meetings.erase({one.communicator, one.sequence});
  };
  for (bool any = true; any;) {
    any = false;
    for (auto& [gpu, queue] : queues)
      while (!queue.waits && queue.next < queue.calls.size()) {
        any = true;
        const Call& call = calls_[queue.calls[queue.next]];
        const auto* collective = std::get_if<const program::Collective*>(&call);
        collective ? meet(queue, **collective) : take(queue);
      }
  }
  calls_ = std::move(ordered);  // what waits for ever is never computed
}

// ---- Computing ---------------------------------------------------------------------------------

namespace {

// As many as are complete, in the order of their times.
template <typename Rows, typename Write>
void write(Rows& rows, const Write& write_row) {
  for (; rows.written < rows.noted.size(); ++rows.written) {
    const auto& noted = rows.noted[rows.written];
    const auto found = rows.computed.find(noted.step);
    if (found == rows.computed.end()) return;
    auto row = found->second;
    row.time = noted.time;
    write_row(row);
  }
}

}  // namespace

bool LaterNumbers::compute_next(trace::Trace& trace) {
  if (!ordered_) order_by_ranks();
  if (computed_ == calls_.size()) return false;
  const auto compute = [&](const auto& call) {
    using Type = std::decay_t<decltype(call)>;
    if constexpr (std::is_same_v<Type, const program::LoadBatch*>) {
      numbers_->load(*call);
    } else if constexpr (std::is_same_v<Type, const program::Operation*>) {
      numbers_->run(*call);
    } else if constexpr (std::is_same_v<Type, const program::Copy*>) {
      numbers_->copy(*call);
    } else if constexpr (std::is_same_v<Type, const program::View*>) {
      numbers_->view(*call);
    } else if constexpr (std::is_same_v<Type, const program::Collective*>) {
      numbers_->collective(*call);
    } else if constexpr (std::is_same_v<Type, StepRow>) {
      const trace::TrainingStep row = numbers_->step(call.number);
      ended_run_ |= program::ends_run(row);
      steps_.computed.emplace(call.number, row);
      write(steps_, [&](const trace::TrainingStep& one) { trace.add_step(one); });
    } else {
      evaluations_.computed.emplace(call.step, numbers_->evaluation(call.step));
      write(evaluations_, [&](const trace::Evaluation& one) { trace.add_evaluation(one); });
    }
  };
  std::visit(compute, calls_[computed_++]);
  return true;
}

double LaterNumbers::share() const {
  return calls_.empty() ? 1.0 : static_cast<double>(computed_) / static_cast<double>(calls_.size());
}

// ---- Rows that are known -----------------------------------------------------------------------

class LaterNumbers::Known final : public program::Numbers {
 public:
  explicit Known(const LaterNumbers& from) : from_(from) {}

  void load(const program::LoadBatch&) override {}
  void run(const program::Operation&) override {}
  void copy(const program::Copy&) override {}
  void collective(const program::Collective&) override {}
  double value(program::Index) const override { return 0; }
  trace::TrainingStep step(std::int64_t number) override {
    return from_.steps_.computed.at(number);
  }
  trace::Evaluation evaluation(std::int64_t step) override {
    return from_.evaluations_.computed.at(step);
  }

 private:
  const LaterNumbers& from_;
};

std::unique_ptr<program::Numbers> LaterNumbers::known() const {
  return std::make_unique<Known>(*this);
}

}  // namespace trainscope::host
