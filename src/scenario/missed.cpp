#include "scenario/missed.h"

#include <algorithm>
#include <exception>

#include "analysis/runs/run.h"
#include "base/error.h"
#include "scenario/sheet.h"

namespace trainscope::scenario {
namespace {

bool same_question(const Choice& a, const Choice& b) {
  return a.lesson == b.lesson && a.step == b.step;
}

std::optional<analysis::Run> carried_out(const std::string& label, const program::Config& config,
                                         const Stopped& stopped) {
  constexpr std::uint64_t kEventsAtOnce = 4096;  // some milliseconds
  analysis::Session session(label, config);
  while (!stopped())
    if (session.advance(kEventsAtOnce)) return session.result();
  return std::nullopt;
}

std::string setting_of(const analysis::LessonSheet& sheet) {
  const auto scene =
      std::ranges::find(sheet.steps, name_of(StepKind::kScene), &analysis::SheetStep::kind);
  return scene == sheet.steps.end() ? "" : scene->text;
}

// What is wrong with a lesson that cannot be read is told on the shelf.
std::optional<Lesson> still_there(const std::string& id, std::string_view language) {
  try {
    return find_lesson(id, language);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

void take(Choices& missed, const JudgedChoice& judged) {
  std::erase_if(missed, [&](const Choice& one) { return same_question(one, judged.choice); });
  if (!judged.right) missed.push_back(judged.choice);
}

bool comes_back(const Step& step) {
  const bool stands_alone = step.kind == StepKind::kPredict || step.kind == StepKind::kRecap;
  return stands_alone && step.question && step.question->kind == QuestionKind::kChoice;
}

const Step* step_of(const Choice& choice, const Lesson& lesson) {
  const auto found = std::ranges::find(lesson.steps, choice.step, &Step::id);
  if (lesson.id != choice.lesson || found == lesson.steps.end() || !comes_back(*found))
    return nullptr;
  const auto options = static_cast<int>(found->question->options.size());
  return choice.option >= 0 && choice.option < options ? &*found : nullptr;
}

int to_revisit(const Choices& missed, const std::vector<Lesson>& lessons) {
  return static_cast<int>(std::ranges::count_if(missed, [&](const Choice& one) {
    return std::ranges::any_of(lessons, [&](const Lesson& lesson) { return step_of(one, lesson); });
  }));
}

std::optional<AskedAgain> ask_again(const Lesson& lesson, const Choice& missed,
                                    const Stopped& stopped) {
  const Step* step = step_of(missed, lesson);
  if (!step) return std::nullopt;
  const auto a = carried_out("A", lesson.side("A", missed.knobs.a), stopped);
  if (!a) return std::nullopt;
  const auto b = carried_out("B", lesson.side("B", missed.knobs.b), stopped);
  if (!b) return std::nullopt;
  const analysis::LessonSheet sheet = sheet_of(lesson, {&*a, &*b});
  const auto number = static_cast<std::size_t>(step - lesson.steps.data());
  if (!sheet.steps[number].decided) return std::nullopt;
  return AskedAgain{missed, lesson.title, setting_of(sheet), sheet.caveat, sheet.steps[number]};
}

std::optional<AskedAgain> first_to_ask(const Choices& missed, std::string_view language,
                                       const Stopped& stopped) {
  std::exception_ptr first;
  for (const Choice& one : missed) {
    if (stopped()) return std::nullopt;
    const std::optional<Lesson> lesson = still_there(one.lesson, language);
    if (lesson) try {
        if (auto asked = ask_again(*lesson, one, stopped)) return asked;
      } catch (const Error& error) {
        if (error.fault() == Fault::kInternal) throw;
        if (!first) first = std::current_exception();
      }
  }
  if (first) std::rethrow_exception(first);
  return std::nullopt;
}

}  // namespace trainscope::scenario
