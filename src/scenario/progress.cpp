#include "scenario/progress.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace trainscope::scenario {

Progress::Progress(const Lesson& lesson) : lesson_(&lesson), answers_(lesson.steps.size()) {}

void Progress::choose(int option) {
  if (!answers_[step_].committed) answers_[step_].option = option;
}

void Progress::enter(double number) {
  if (!answers_[step_].committed) answers_[step_].number = number;
}

void Progress::write(std::string text) {
  if (!answers_[step_].committed) answers_[step_].text = std::move(text);
}

bool Progress::can_commit() const {
  const auto& question = lesson_->steps[step_].question;
  const Answer& answer = answers_[step_];
  if (!question || answer.committed) return false;
  switch (question->kind) {
    case QuestionKind::kChoice:
      return answer.option >= 0;
    case QuestionKind::kNumber:
      return answer.number.has_value();
    case QuestionKind::kText:
      return !answer.text.empty();
    case QuestionKind::kFindSpan:
      return false;  // selecting the span commits
  }
  return false;
}

void Progress::commit() {
  if (can_commit()) answers_[step_].committed = true;
}

void Progress::skip() {
  answers_[step_].skipped = true;
  answers_[step_].committed = true;
}

bool Progress::select_span(const analysis::Run& run, trace::SpanId span) {
  const auto& question = lesson_->steps[step_].question;
  if (!question || question->kind != QuestionKind::kFindSpan) return false;
  if (question->span->run != run.label) return false;
  const auto meant = find_spans(*question->span, run);
  const bool right = std::find(meant.begin(), meant.end(), span) != meant.end();
  if (right) answers_[step_].committed = true;
  return right;
}

bool Progress::can_go_on() const {
  const Step& step = lesson_->steps[step_];
  if (step.kind == StepKind::kRun && !revealed_) return false;
  return !step.question || answers_[step_].committed;
}

void Progress::next() {
  if (can_go_on() && step_ + 1 < answers_.size()) ++step_;
}

void Progress::back() {
  if (step_ > 0) --step_;
}

void Progress::resume(std::vector<Answer> answers, std::size_t step) {
  answers.resize(answers_.size());
  answers_ = std::move(answers);
  step_ = std::min(step, answers_.size() - 1);
}

int right_option(const Question& question, const Sides& sides) {
  int right = -1, found = 0;
  for (std::size_t i = 0; i < question.options.size(); ++i)
    if (question.options[i].correct_when->evaluate(sides).truth()) {
      right = static_cast<int>(i);
      ++found;
    }
  return found == 1 ? right : -1;
}

namespace {

Verdict judge_choice(const Question& question, const Answer& answer, const Sides& sides) {
  Verdict verdict;
  verdict.right_option = right_option(question, sides);
  verdict.decided = verdict.right_option >= 0;
  if (!verdict.decided) return verdict;
  verdict.right = answer.option == verdict.right_option;
  if (answer.option >= 0 && !verdict.right)
    verdict.message = question.options[static_cast<std::size_t>(answer.option)].why;
  if (!question.depends.empty())
    verdict.message += (verdict.message.empty() ? "" : "\n\n") + question.depends;
  return verdict;
}

Verdict judge_number(const Question& question, const Answer& answer, const Sides& sides) {
  Verdict verdict;
  verdict.truth = question.answer->evaluate(sides);
  const double truth = verdict.truth->value;
  verdict.right =
      answer.number && std::abs(*answer.number - truth) <= question.tolerance * std::abs(truth);
  verdict.message = "The run says " + show(*verdict.truth) + ".";
  return verdict;
}

}  // namespace

Verdict judge(const Question& question, const Answer& answer, const Sides& sides) {
  switch (question.kind) {
    case QuestionKind::kChoice:
      return judge_choice(question, answer, sides);
    case QuestionKind::kNumber:
      return judge_number(question, answer, sides);
    case QuestionKind::kFindSpan: {
      Verdict verdict;
      verdict.right = answer.committed && !answer.skipped;
      return verdict;
    }
    case QuestionKind::kText:
      break;
  }
  Verdict verdict;
  verdict.message = question.text_answer;
  return verdict;
}

std::vector<int> lines_with(const std::string& code, const program::Listing& listing) {
  std::vector<int> found;
  for (std::size_t i = 0; i < listing.lines.size(); ++i)
    if (listing.lines[i].find(code) != std::string::npos) found.push_back(static_cast<int>(i) + 1);
  return found;
}

std::optional<int> line_of(const Focus& focus, const analysis::Run& run) {
  if (focus.code.empty()) return focus.line;
  if (!run.program) return std::nullopt;
  const std::vector<int> lines = lines_with(focus.code, run.program->listing);
  if (lines.empty()) return std::nullopt;
  return lines.front();
}

namespace {

// When a rank's GPU computes: by start, none beside another.
using Times = std::vector<std::pair<Nanos, Nanos>>;

Times joined(Times times) {
  std::ranges::sort(times);
  Times joined;
  for (const auto& [start, end] : times)
    if (!joined.empty() && start <= joined.back().second)
      joined.back().second = std::max(joined.back().second, end);
    else
      joined.emplace_back(start, end);
  return joined;
}

std::map<std::int32_t, Times> kernel_times_by_rank(const trace::Trace& trace) {
  std::map<std::int32_t, Times> times;
  for (trace::SpanId id = 0, n = trace.spans().size(); id < n; ++id) {
    const trace::Span& span = trace.spans()[id];
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (lane.kind == trace::LaneKind::kStream && trace::is_kernel(span.category))
      times[lane.rank].emplace_back(span.start, span.end());
  }
  for (auto& [rank, of_rank] : times) of_rank = joined(std::move(of_rank));
  return times;
}

Nanos covered(const trace::Span& span, const Times& times) {
  Nanos sum = 0;
  auto time = std::ranges::upper_bound(times, span.start, {}, &Times::value_type::second);
  for (; time != times.end() && time->first < span.end(); ++time)
    sum += std::min(time->second, span.end()) - std::max(time->first, span.start);
  return sum;
}

void keep_exposed(std::vector<trace::SpanId>& found, const trace::Trace& trace) {
  const std::map<std::int32_t, Times> kernels = kernel_times_by_rank(trace);
  std::erase_if(found, [&](trace::SpanId id) {
    const trace::Span& span = trace.spans()[id];
    const auto times = kernels.find(trace.lanes()[span.lane].rank);
    return times != kernels.end() && 2 * covered(span, times->second) > span.duration;
  });
}

void keep_launched(std::vector<trace::SpanId>& found, const trace::Trace& trace) {
  std::erase_if(found,
                [&](trace::SpanId id) { return trace.spans()[id].cause != trace::Cause::kLaunch; });
}

}  // namespace

std::vector<trace::SpanId> find_spans(const Focus& focus, const analysis::Run& run) {
  const trace::Trace& trace = *run.trace;
  std::vector<trace::SpanId> found;
  const std::optional<int> line = line_of(focus, run);
  if (!line) return found;
  for (trace::SpanId id = 0, n = trace.spans().size(); id < n; ++id) {
    const trace::Span& span = trace.spans()[id];
    if (*line > 0 && span.line != *line) continue;
    if (trace.lanes()[span.lane].name == focus.lane && trace.name(span).starts_with(focus.span))
      found.push_back(id);
  }
  if (focus.which == WhichSpans::kLaunched) keep_launched(found, trace);
  if (focus.which == WhichSpans::kExposed) keep_exposed(found, trace);
  // Of GPUs that begin something at once, the first that is shown.
  std::ranges::stable_sort(found, {}, [&](trace::SpanId id) {
    return std::pair(trace.spans()[id].start, trace.spans()[id].lane);
  });
  return found;
}

namespace {

// The nth of the spans found, by their start; one of the warm-up's steps is that of the measured
// steps instead where they have so many.
std::size_t past_warmup(std::size_t nth, const std::vector<trace::SpanId>& found,
                        const analysis::Run& run) {
  const trace::Trace& trace = *run.trace;
  const auto begun_before = [&](Nanos time) {
    const auto first = std::ranges::lower_bound(
        found, time, {}, [&](trace::SpanId id) { return trace.spans()[id].start; });
    return static_cast<std::size_t>(first - found.begin());
  };
  const analysis::Measured& measured = run.facts.measured;
  const std::size_t warm = begun_before(measured.first_window().start);
  if (measured.marks.empty() || nth >= warm) return nth;
  const std::size_t first = begun_before(analysis::step_windows(trace).front().mark.start);
  if (nth < first || warm + nth - first >= found.size()) return nth;
  return warm + nth - first;
}

// Those that begin earlier, unless all do.
void drop_before(Nanos time, std::vector<trace::SpanId>& found, const trace::Trace& trace) {
  const auto before = [&](trace::SpanId id) { return trace.spans()[id].start < time; };
  if (!std::ranges::all_of(found, before)) std::erase_if(found, before);
}

}  // namespace

std::optional<trace::SpanId> shown_span(const Focus& focus, const analysis::Run& run) {
  std::vector<trace::SpanId> found = find_spans(focus, run);
  const auto nth = static_cast<std::size_t>(std::max(focus.nth, 0));
  if (nth >= found.size()) return std::nullopt;
  if (nth > 0) return found[past_warmup(nth, found, run)];
  const analysis::Measured& measured = run.facts.measured;
  if (!measured.marks.empty()) {
    // What only the warm-up has, as a first fetch of memory, is rather of a step than of the setup.
    drop_before(analysis::step_windows(*run.trace).front().mark.start, found, *run.trace);
    drop_before(measured.first_window().start, found, *run.trace);
  }
  if (!focus.span.empty()) return found.front();
  return *std::ranges::max_element(
      found, {}, [&](trace::SpanId id) { return run.trace->spans()[id].duration; });
}

}  // namespace trainscope::scenario
