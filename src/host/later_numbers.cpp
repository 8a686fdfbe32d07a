#include "host/later_numbers.h"

#include <algorithm>

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

LaterNumbers::LaterNumbers(std::unique_ptr<program::Numbers> numbers)
    : numbers_(std::move(numbers)) {}

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
