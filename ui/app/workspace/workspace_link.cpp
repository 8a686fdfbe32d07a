// What a link means, on the screen.

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {
namespace {

using scenario::Lesson;

// The step that a link means, from 0. What was turned can be seen only once the lesson has run.
std::size_t step_of(const scenario::Link& link, const Lesson& lesson) {
  if (link.step > 0) return std::min(link.step, lesson.steps.size()) - 1;
  const bool turned = !link.knobs.a.values().empty() || !link.knobs.b.values().empty();
  return turned ? std::min(scenario::run_step(lesson) + 1, lesson.steps.size() - 1) : 0;
}

}  // namespace

void Workspace::open_link(const scenario::Link& link) {
  try {
    if (link.lesson.empty())
      open_configs(link);
    else
      open_lesson_at(scenario::find_lesson(link.lesson, shelf.language()), link);
  } catch (const Error& error) {
    notice = error.what();
  }
}

// One run, or two where the link tells them apart.
void Workspace::open_configs(const scenario::Link& link) {
  close();
  screen_ = Screen::kRuns;
  const bool two = !link.knobs.b.values().empty() && !(link.knobs.a == link.knobs.b);
  for (std::size_t i = 0; i < (two ? 2 : 1); ++i) {
    desk_.outline(i, i == 0 ? link.knobs.a : link.knobs.b);
    desk_.start(i);
  }
}

// Questions are as the learner answered them in an attempt of their own. One that is finished is
// looked at and stays as it is; in front of a room its answers would give away what is asked there.
void Workspace::open_lesson_at(Lesson lesson, const scenario::Link& link) {
  const std::size_t step = step_of(link, lesson);
  show_lesson(std::move(lesson));
  std::optional<scenario::Answers> own = record.learner().under_way(lesson_->lesson.id);
  if (!record.is_of_this(own, opened_with())) {
    own = record.learner().finished(lesson_->lesson.id);
    lesson_->kept = !record.is_of_this(own, opened_with());
    if (lesson_->kept || present.on) own.reset();
    if (!lesson_->kept && !present.on)
      notice = lesson_->lesson.say(
          "You have finished this lesson. Your answers are shown as you gave them, and stay so.");
  }
  tell_unread_answers();
  resume(own.value_or(scenario::Answers()), step);
  linked_ = link.knobs;
}

// Once the lesson's own runs are there, what the link turned is turned.
void Workspace::turn_as_linked() {
  const scenario::TurnedKnobs knobs = std::exchange(linked_, {});
  for (std::size_t i = 0; i < sides().size(); ++i) {
    const program::Config& linked = i == 0 ? knobs.a : knobs.b;
    program::Config config = sides()[i].config;
    // With the seed of who sent it comes what that seed draws.
    if (lesson_ && linked.is_set("seed"))
      config = lesson_->lesson.side(SideModel::label_of(i), linked);
    else
      config.override_with(linked);
    if (config == sides()[i].config) continue;
    remember("link");
    desk_.carry_out(i, std::move(config));
  }
}

}  // namespace trainscope::ui
