#include "ui/app/actions/lesson_actions.h"

#include "ui/app/actions/conditions.h"
#include "ui/app/window/application.h"
#include "ui/app/workspace/laptop.h"

namespace trainscope::ui {
namespace {

const LessonModel* walked_lesson(const Application& app) {
  return app.workspace().forked() ? nullptr : app.workspace().lesson();
}

bool has_open_question(const Application& app) {
  const LessonModel* lesson = walked_lesson(app);
  return lesson && lesson->step().question &&
         !lesson->progress.answer(lesson->progress.step()).committed;
}

bool asks_for_a_span(const Application& app) {
  const LessonModel* lesson = walked_lesson(app);
  return has_open_question(app) && lesson->progress.revealed() &&
         lesson->step().question->kind == scenario::QuestionKind::kFindSpan;
}

bool can_answer_again(const Application& app) {
  const Revisit* revisit = app.workspace().revisit();
  return revisit && revisit->can_answer();
}

// A selected span may have been found by keys, not clicked.
bool can_predict(const Application& app) {
  const LessonModel* lesson = walked_lesson(app);
  if (can_answer_again(app)) return true;
  if (asks_for_a_span(app)) return app.attention().timeline.selected.span != trace::kNone;
  return lesson && lesson->progress.can_commit();
}

void predict(Application& app) {
  const SpanRef selected = app.attention().timeline.selected;
  if (can_answer_again(app))
    app.workspace().answer_again();
  else if (asks_for_a_span(app))
    app.workspace().select_span(static_cast<std::size_t>(selected.side), selected.span);
  else
    app.workspace().lesson()->progress.commit();
}

bool can_go_on(const Application& app) {
  const LessonModel* lesson = walked_lesson(app);
  return lesson && lesson->progress.can_go_on() &&
         lesson->progress.step() + 1 < lesson->progress.steps() && !lesson->run_asked;
}

bool can_go_back(const Application& app) {
  const LessonModel* lesson = walked_lesson(app);
  return lesson && lesson->progress.step() > 0 && !lesson->run_asked;
}

bool has_hint(const Application& app) {
  const LessonModel* lesson = walked_lesson(app);
  return lesson && !lesson->step().hint.empty() && !lesson->hint_shown;
}

bool can_show(const Application& app) {
  const LessonModel* lesson = walked_lesson(app);
  if (!lesson) return false;
  const auto& step = lesson->step();
  const bool find = step.question && step.question->kind == scenario::QuestionKind::kFindSpan;
  if (app.workspace().can_solve()) return true;
  if (step.focus && !step.focus->knob.empty()) return true;
  return (step.focus || find) && lesson->progress.revealed();
}

// ---- In front of a room ------------------------------------------------------------------------

// Where it cannot be, the key says why.
void go_to_laptop(Application& app) {
  const std::string refusal = laptop_refusal(app.workspace());
  if (refusal.empty())
    app.choose_machine(app.workspace().sides().size() == 2 ? "AB" : "A", kLaptop);
  else
    app.workspace().notice = refusal;
}

void add_present(std::vector<Binding>& table) {
  table.push_back({"lesson.notes",
                   [](const Application& app) {
                     const LessonModel* lesson = app.workspace().lesson();
                     return lesson && !lesson->lesson.notes.empty();
                   },
                   [](Application& app) { app.toggle_notes(); }});
  table.push_back({"present.toggle", [](const Application&) { return true; },
                   [](Application& app) { app.set_present(!app.workspace().present.on); }});
  table.push_back(
      {"present.reveal",
       [](const Application& app) { return next_reveal(app.workspace()) != Reveal::kNothing; },
       [](Application& app) {
         const Reveal next = next_reveal(app.workspace());
         // A cause is revealed where it is seen.
         if (next == Reveal::kCause) app.deck().open_by_hand("difference");
         if (next == Reveal::kSpan) return app.show_me();
         reveal_next(app.workspace());
       }});
  table.push_back({"present.clear_hands",
                   [](const Application& app) {
                     return app.workspace().present.on && can_take_option(app.workspace(), 0);
                   },
                   [](Application& app) { clear_hands(app.workspace()); }});
  table.push_back({"machine.laptop",
                   [](const Application& app) { return app.workspace().has_machines(); },
                   go_to_laptop});
}

template <int option>
Binding option_key(const char* id) {
  return {id,
          [](const Application& app) {
            const Revisit* revisit = app.workspace().revisit();
            return can_take_option(app.workspace(), option) ||
                   (revisit && revisit->can_choose(option));
          },
          [](Application& app) {
            take_option(app.workspace(), option);
            if (Revisit* revisit = app.workspace().revisit()) revisit->choose(option);
          }};
}

void add_steps(std::vector<Binding>& table) {
  table.push_back(option_key<0>("lesson.option_1"));
  table.push_back(option_key<1>("lesson.option_2"));
  table.push_back(option_key<2>("lesson.option_3"));
  table.push_back(option_key<3>("lesson.option_4"));
  table.push_back({"lesson.predict", can_predict, predict});
  table.push_back({"lesson.run", [](const Application& app) { return app.workspace().can_run(); },
                   [](Application& app) { app.workspace().run_lesson(); }});
  table.push_back({"lesson.next", can_go_on, [](Application& app) {
                     app.workspace().next_step();
                     app.attention().lit_knob.clear();
                   }});
  table.push_back({"lesson.back", can_go_back, [](Application& app) {
                     app.workspace().previous_step();
                     app.attention().lit_knob.clear();
                   }});
  table.push_back({"lesson.hint", has_hint, [](Application& app) { app.workspace().show_hint(); }});
  table.push_back({"lesson.show_me", can_show, [](Application& app) { app.show_me(); }});
  table.push_back({"lesson.skip", has_open_question,
                   [](Application& app) { app.workspace().skip_question(); }});
  table.push_back({"lesson.explore",
                   [](const Application& app) { return app.workspace().can_explore(); },
                   [](Application& app) { app.explore(); }});
  table.push_back({"lesson.return", [](const Application& app) { return app.workspace().forked(); },
                   [](Application& app) { app.return_to_lesson(); }});
  table.push_back({"lesson.terms",
                   [](const Application& app) {
                     return has_lesson(app) && !app.workspace().lesson()->lesson.glossary.empty();
                   },
                   [](Application& app) { app.toggle_terms(); }});
  table.push_back({"lesson.language", [](const Application&) { return true; },
                   [](Application& app) { app.next_language(); }});
  table.push_back({"lesson.restart", has_lesson, [](Application& app) {
                     app.attention() = {};
                     app.workspace().restart_lesson();
                   }});
  table.push_back(
      {"lesson.shelf",
       [](const Application& app) { return app.workspace().screen() != Screen::kShelf; },
       [](Application& app) { app.workspace().show_shelf(); }});
}

}  // namespace

void add_lesson_actions(std::vector<Binding>& table) {
  add_steps(table);
  add_present(table);
}

}  // namespace trainscope::ui
