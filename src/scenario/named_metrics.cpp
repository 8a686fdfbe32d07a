#include "scenario/named_metrics.h"

#include <cctype>
#include <string>
#include <string_view>

#include "scenario/grade.h"

namespace trainscope::scenario {
namespace {

// Whether a text names the metric, and not one whose name goes on after it.
bool names(std::string_view text, std::string_view metric) {
  for (std::size_t at = text.find(metric); at != text.npos; at = text.find(metric, at + 1)) {
    const std::size_t after = at + metric.size();
    const bool begins = at > 0 && text[at - 1] == '.';
    const bool ends =
        after >= text.size() || (std::isalnum(static_cast<unsigned char>(text[after])) == 0 &&
                                 text[after] != '_' && text[after] != '.');
    if (begins && ends) return true;
  }
  return false;
}

// Everything in a lesson that may name a metric.
std::string words_of(const Lesson& lesson) {
  std::string all;
  const auto add = [&all](const std::string& text) { all += text + "\n"; };
  for (const Step& step : lesson.steps) {
    add(step.text);
    add(step.explain);
    if (step.done_expect) add(step.done_expect->text());
    if (step.goal) add(step.goal->text());
    if (!step.question) continue;
    if (step.question->answer) add(step.question->answer->text());
    for (const Option& option : step.question->options) {
      add(option.why);
      if (option.correct_when) add(option.correct_when->text());
    }
  }
  for (const Expectation& expectation : lesson.expectations) add(expectation.expression.text());
  return all;
}

std::vector<const analysis::Metric*> named_in(std::string_view words) {
  std::vector<const analysis::Metric*> named;
  for (const analysis::Metric& metric : analysis::metrics())
    if (names(words, metric.name)) named.push_back(&metric);
  return named;
}

}  // namespace

std::vector<const analysis::Metric*> named_metrics(const Lesson& lesson) {
  return named_in(words_of(lesson));
}

std::vector<const analysis::Metric*> metrics_of_goal(const Step& step) {
  const Expression* goal = task_of(step);
  return named_in(step.explain + "\n" + (goal ? goal->text() : ""));
}

}  // namespace trainscope::scenario
