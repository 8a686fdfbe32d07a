#include "scenario/check_cards.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>
#include <string>

#include "scenario/check_units.h"
#include "scenario/place_in_file.h"

namespace trainscope::scenario {
namespace {

constexpr int kMostWords = 60;         // on one card
constexpr double kWordsAMinute = 180;  // read on a screen, with the eye on the timeline
constexpr double kMinutesAnAct = 0.5;  // to answer, find, run or turn something
constexpr double kLeastTolerance = 0.02, kMostTolerance = 0.5;

int words_in(const std::string& text) {
  std::istringstream stream(text);
  int count = 0;
  for (std::string word; stream >> word;) ++count;
  return count;
}

// `text` without its {placeholders} and `code`.
std::string prose(const std::string& text) {
  static const std::regex marked("\\{[^}]*\\}|`[^`]*`");
  return std::regex_replace(text, marked, " ");
}

class CardChecker {
 public:
  explicit CardChecker(const Lesson& lesson) : lesson_(lesson), file_(lesson.file) {}

  std::vector<Finding> check() {
    check_shape();
    for (const Step& step : lesson_.steps) check_step(step);
    check_card(lesson_.place_of("limits"), "limits", lesson_.limits);
    check_minutes();
    for (const Expectation& one : lesson_.expectations) check_units(one.expression, one.place);
    if (lesson_.sweep)
      for (const SweepExpectation& one : lesson_.sweep->expectations)
        check_units(one.expression, one.place);
    return std::move(findings_);
  }

 private:
  void add(const SourcePlace& place, const std::string& sentence) {
    findings_.push_back({place, sentence});
  }
  SourcePlace top() const { return {lesson_.file.string(), 1, 1}; }

  void check_shape() {
    const bool runs = std::any_of(lesson_.steps.begin(), lesson_.steps.end(),
                                  [](const Step& s) { return s.kind == StepKind::kRun; });
    if (!runs) add(top(), "the lesson has no step of kind run");
    if (std::ranges::none_of(lesson_.steps,
                             [](const Step& s) { return s.kind == StepKind::kRecap; }))
      add(top(),
          "the lesson has no step of kind recap, so that nobody has to say it back; write one with "
          "a [step.question]");
    if (lesson_.steps.size() < 4 || lesson_.steps.size() > 8)
      add(top(), "a lesson has 4 to 8 steps; this one has " + std::to_string(lesson_.steps.size()));
    if (lesson_.expectations.empty())
      add(top(),
          "the lesson expects nothing of its runs, so that nobody sees when what it teaches no "
          "longer holds; write [[expect]] with expression = \"ratio(A.time.step, B.time.step) > "
          "1\"");
  }

  void check_step(const Step& step) {
    check_card(step.place, "the text of step " + step.id, step.text);
    check_card(step.place, "the explanation of step " + step.id, step.explain);
    check_card(step.place, "the hint of step " + step.id, step.hint);
    check_task(step);
    if (step.question) check_question(step, *step.question);
    if (step.kind == StepKind::kRecap && !step.question)
      add(step.place, "step " + step.id +
                          " is a recap and asks nothing, so that nobody has to say it back; write "
                          "a [step.question]");
  }

  void check_question(const Step& step, const Question& question) {
    for (const Option& option : question.options) {
      check_card(step.place, "an option of step " + step.id, option.text);
      check_card(step.place, "the why of an option of step " + step.id, option.why);
      check_units(*option.correct_when, question.place);
    }
    check_card(step.place, "what step " + step.id + " depends on", question.depends);
    if (question.kind == QuestionKind::kNumber &&
        (question.tolerance < kLeastTolerance || question.tolerance > kMostTolerance))
      add(question.place,
          "tolerance lets a prediction be wrong by nothing or by anything; choose "
          "between 0.02 and 0.5");
  }

  // Whether it is done once its solution is turned, and not before, only a vary step is put to.
  void check_task(const Step& step) {
    for (const auto* task : {&step.goal, &step.done_expect})
      if (*task) check_units(**task, step.place);
    if (step.done_expect && step.kind != StepKind::kVary && !step.goal)
      add(step.place, "step " + step.id + " is of kind " + std::string(name_of(step.kind)) +
                          ", where no knob is turned, so that what its done_when expects holds "
                          "from the start or never; make it a step of kind vary, or leave it out");
  }

  void check_card(const SourcePlace& place, const std::string& what, const std::string& text) {
    static const std::regex typed_number(
        R"((^|[^\w.])\d[\d.,]*\s?(ns|us|µs|ms|s|[KMGT]i?B(/s)?|%|x|×|times)(?![\w]))");
    const int words = words_in(text);
    if (words > kMostWords)
      add(place, what + " has " + std::to_string(words) + " words; at most " +
                     std::to_string(kMostWords) + " fit a card, so make it two steps");
    std::smatch match;
    const std::string plain = prose(text);
    if (std::regex_search(plain, match, typed_number))
      add(place, what + " has the typed number \"" + match.str() +
                     "\"; write a {placeholder} that the run fills in");
    if (plain.find('!') != std::string::npos) add(place, what + " has an exclamation mark");
  }

  void check_units(const Expression& expression, const SourcePlace& from) {
    for (const std::string& fault : unit_faults(expression))
      add(file_.place_of(expression.text(), from), fault);
  }

  void check_minutes() {
    double minutes = 0;
    for (const Step& step : lesson_.steps) {
      int words = words_in(step.text) + words_in(step.explain);
      if (step.question)
        for (const Option& option : step.question->options) words += words_in(option.text);
      minutes += words / kWordsAMinute;
      const bool acts = step.question || step.kind == StepKind::kRun ||
                        step.kind == StepKind::kVary || !step.done_action.empty();
      if (acts) minutes += kMinutesAnAct;
    }
    if (lesson_.minutes < minutes * 0.6 || lesson_.minutes > minutes * 1.8)
      add(lesson_.place_of("minutes"), "minutes is " + std::to_string(lesson_.minutes) +
                                           ", but reading and acting take about " +
                                           std::to_string(std::lround(std::ceil(minutes))));
  }

  const Lesson& lesson_;
  FileText file_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check_cards(const Lesson& lesson) {
  return CardChecker(lesson).check();
}

}  // namespace trainscope::scenario
