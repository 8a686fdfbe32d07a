#include "scenario/subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "scenario/machine_caveat.h"
#include "scenario/sentences.h"
#include "scenario/translation.h"

namespace trainscope::scenario {
namespace {

// What the runs do not tell stands as a blank; `why` is then a sentence, of the first of it.
std::string filled(const std::string& text, const Sides& sides, char decimal, std::string& why) {
  try {
    return fill_in(text, sides, decimal);
  } catch (const InputError& error) {
    if (why.empty()) why = error.what();
    return fill_in_known(text, sides, decimal);
  }
}

// The text of a run that ended early is of what would have come: left out. Of one that a GPU told
// less of, it stands.
bool any_ended_early(const Sides& sides) {
  return std::any_of(sides.begin(), sides.end(),
                     [](const analysis::Run* run) { return run->ending.has_value(); });
}

}  // namespace

analysis::Subject subject_of(const Lesson& lesson, const Sides& sides) {
  analysis::Subject subject;
  subject.lesson = lesson.id;
  subject.title = lesson.title;
  subject.language = lesson.language == kEnglish ? "" : lesson.language;
  subject.caveat = machine_caveat(lesson, sides);
  std::string left_open;
  const auto add = [&](std::vector<std::string>& words, const std::string& text) {
    std::string why;
    std::string whole = filled(text, sides, lesson.decimal(), why);
    if (!why.empty() && any_ended_early(sides)) return;
    if (left_open.empty()) left_open = why;
    words.push_back(std::move(whole));
  };
  for (const Step& step : lesson.steps)
    if (step.kind == StepKind::kScene || step.kind == StepKind::kExplain)
      add(subject.paragraphs, without_keys(step.text));
  add(subject.limits, lesson.limits);
  if (!left_open.empty())
    subject.caveat += (subject.caveat.empty() ? "" : " ") +
                      fmt::format("Its text leaves figures open: {}.", left_open);
  return subject;
}

}  // namespace trainscope::scenario
