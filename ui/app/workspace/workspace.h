// What the window shows, without how: the lesson and how far it is, both sides' configs and runs,
// the playhead, what went wrong.
//
// What needs no more than this stands beside it: playback.h, kept_runs.h, sweeping.h,
// window_link.h. The sides are carried out by run_desk.h, and answers kept by learner_record.h.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/runs/run.h"
#include "scenario/answers.h"
#include "scenario/lesson.h"
#include "scenario/link.h"
#include "ui/app/files/file_watch.h"
#include "ui/app/lesson/further.h"
#include "ui/app/lesson/learner_record.h"
#include "ui/app/lesson/lesson_model.h"
#include "ui/app/lesson/lesson_shelf.h"
#include "ui/app/lesson/present.h"
#include "ui/app/lesson/revisit.h"
#include "ui/app/lesson/solving.h"
#include "ui/app/views/sweep_form.h"
#include "ui/app/views/sweep_model.h"
#include "ui/app/workspace/config_history.h"
#include "ui/app/workspace/kept_runs.h"
#include "ui/app/workspace/notebook.h"
#include "ui/app/workspace/playback.h"
#include "ui/app/workspace/run_desk.h"
#include "ui/app/workspace/side_model.h"

namespace trainscope::ui {

enum class Screen : std::uint8_t {
  kShelf,   // lessons to choose from
  kLesson,  // one lesson, its runs A and B
  kRuns,    // one or two runs alone
};

class Workspace {
 public:
  // `wake` is called from another thread when there is something to take in.
  // `open`: the GPU of this machine, for what is measured.
  explicit Workspace(std::function<void()> wake,
                     analysis::GpuRuns::OpenDevice open = analysis::plugged_in_device);

  Present present;
  Playhead playhead;
  Notebook notebook;  // what people wrote on runs
  KeptRuns kept;
  SweepModel sweep;
  std::optional<SweepForm> sweep_form;  // what it was asked for last; for the panel's fields
  LessonShelf shelf;
  LearnerRecord record;
  std::string notice;  // a sentence to show once: what could not be done, or was

  // ---- What is open ----
  Screen screen() const { return screen_; }
  void show_shelf();
  // An attempt that was begun goes on where it was left.
  void open_lesson(scenario::Lesson lesson);
  // From its first step, without the answers given.
  void restart_lesson();
  // Reads the lesson that is open again where its file was saved since: the step, the answers and,
  // where the sides are set as before, the runs stay. A file with a fault changes nothing but
  // `LessonModel::fault`.
  void reload_if_saved();
  // Finished runs: one, or two to compare. Large ones, and those of a file whose metrics are not
  // there yet, come beside the window: the timeline first.
  void open_runs(const std::vector<RunPointer>& runs, const std::filesystem::path& file = {});
  void open_trace(const std::filesystem::path& file);
  // What a link means: a lesson at a step, its knobs as they were turned; or runs by their knobs.
  void open_link(const scenario::Link& link);
  // Of the lessons' texts: "de"; empty: English. A lesson that is open changes its words and
  // nothing else.
  void set_language(const std::string& language);

  // Beside A, in B's place where there is one; not in a lesson. What was turned, aligned or swept
  // before is forgotten; A and the runs that are kept stay.
  bool can_open_beside() const { return screen_ == Screen::kRuns && !sides().empty(); }
  void open_run_beside(const RunPointer& run, const std::filesystem::path& file = {});
  void open_trace_beside(const std::filesystem::path& file);
  void open_config_beside(program::Config config);
  // B begins with A's knobs.
  bool can_copy_beside() const { return can_open_beside() && sides().size() == 1 && knobs_free(); }
  void copy_beside();
  // B is a replay of A's trace, whose knobs ask what it would bring. `settings`: what it changes,
  // "replay.host_speed=2"; empty: nothing.
  bool can_replay_beside() const;
  void replay_beside(const std::string& settings = {});
  // A is alone again.
  bool can_close_beside() const { return can_open_beside() && sides().size() == 2; }
  void close_beside();

  // ---- What there is of it ----
  // Takes in what comes back from beside the window; true when something changed.
  bool take_reports();
  bool busy() const { return desk_.busy(); }
  bool outlining() const { return desk_.outlining(); }
  // Stops what runs; what there is of it is dropped, with a sentence that says so.
  void cancel();

  const std::vector<SideModel>& sides() const { return desk_.sides(); }
  LessonModel* lesson() { return lesson_.get(); }
  const LessonModel* lesson() const { return lesson_.get(); }
  // Both runs as the lesson sets them, or, before they are there, their configs alone.
  scenario::Sides lesson_sides() const;
  // Both runs as the knobs stand; empty while one is missing.
  scenario::Sides current_sides() const;

  // The results may be shown.
  bool revealed() const;
  // The lesson's step hides this panel or lane until its question is answered.
  bool hides(std::string_view name) const;
  // The lesson's prediction, which is still to be made, hides the code: until then nothing says in
  // what the sides differ, on no step before it either.
  bool hides_differences() const;

  // ---- The lesson's way ----
  void run_lesson();
  // Both runs, carried out elsewhere; revealed by run_lesson().
  void adopt(const std::vector<RunPointer>& runs);
  bool can_run() const;
  void next_step();
  void previous_step();
  void skip_question();
  void show_hint();
  // The knobs that do what the step asks for, set on both sides for whoever asks to be shown. Being
  // shown is not finding: of a step whose goal was not reached before, it is recorded.
  bool can_solve() const;
  void solve();
  // Whether what the step's task asks for the least of would do with less on the runs as they are;
  // nothing while that is being found out.
  std::optional<bool> goes_further() const;
  bool further_busy() const { return further_.busy() || solving_.busy(); }
  // What is to be shown is being looked for.
  bool solving() const { return solving_.busy(); }
  // Tells the lesson which span was clicked.
  void select_span(std::size_t side, trace::SpanId span);
  // The knobs that the lesson was opened with beyond its own.
  scenario::TurnedKnobs opened_with() const;
  // Those that were turned since.
  scenario::TurnedKnobs turned_knobs() const;
  void keep_learner_in(std::filesystem::path folder);
  // Keeps the answers where something was answered since it was last called.
  void keep_answers();
  // A question of an earlier lesson, asked again of a learner alone once this one is over; null:
  // there is none, or not now. What becomes of it changes nothing of the lesson that is open.
  const Revisit* revisit() const;
  Revisit* revisit();
  bool revisit_busy() const { return revisit_.busy(); }
  void answer_again();

  // Leaving the lesson's path, and coming back to exactly where one left.
  bool forked() const { return fork_.has_value(); }
  bool can_explore() const;
  void explore();
  void return_to_lesson();

  // ---- Knobs and machines: a change runs that side at once ----
  // Knobs may be turned now: of each side that has some; of this one.
  bool knobs_free() const;
  bool knobs_free(std::size_t side) const;
  // All that were not imported. Where one is meant and not named, it is the last.
  std::vector<std::size_t> sides_with_knobs() const;
  void set_knob(std::size_t side, const std::string& name, const program::Value& value);
  // Several knobs of a side at once: one run.
  void set_knobs(std::size_t side,
                 const std::vector<std::pair<std::string, program::Value>>& values);
  bool knobs_changed() const;
  void reset_knobs();
  // Takes back the last change of a knob or a machine, and does it again. What is turned on a step
  // of a lesson belongs to that step.
  bool can_undo() const;
  bool can_redo() const;
  void undo();
  void redo();
  // Each side has its own machine; a lesson may allow only some.
  bool has_machines() const;  // not all was imported: there is a machine to speak of
  // Why a side may not run on that machine now, as a sentence; empty: it may.
  std::string machine_refusal(const std::string& id) const;
  // Does nothing where that is refused.
  void set_machine(std::size_t side, const std::string& id);

  // The sides that have knobs, on the GPU of this machine and as they are turned, in place of what
  // is shown.
  bool can_measure() const;
  void measure();  // or says why that would show nothing
  // What was measured is simulated again, as turning one of its knobs does.
  bool can_simulate_again() const;
  void simulate_again();

 private:
  struct Fork {
    std::vector<SideModel> sides;
    Playhead playhead;
    ConfigHistory history;
  };

  void close();
  // Why measuring these would show nothing; empty: it shows something.
  std::string same_when_measured(const std::vector<std::size_t>& sides) const;
  void forget_pair();
  void reveal_when_done();
  program::Config lesson_config(std::size_t side) const;
  void open_configs(const scenario::Link& link);
  void open_lesson_at(scenario::Lesson lesson, const scenario::Link& link);
  void turn_as_linked();
  void remember(const std::string& what);
  void restore(const ConfigHistory::State& configs);
  // What is left of knobs on a step is part of its answer. `waits`: until it is known whether less
  // would do, too.
  void note_task(bool waits = true);
  void turn_to(const scenario::TurnedKnobs& solution);
  void ask_further();
  void leave_step();
  void show_lesson(scenario::Lesson lesson);
  void tell_translation();
  void watch_lesson();
  void reload(scenario::Lesson again);
  void resume(const scenario::Answers& answers, std::optional<std::size_t> at = {});
  // What was missed in other lessons so far.
  void prepare_revisit();
  void tell_unread_answers();
  void begin_revisit();

  Screen screen_ = Screen::kShelf;
  std::unique_ptr<LessonModel> lesson_;
  RunDesk desk_;
  std::optional<Fork> fork_;
  ConfigHistory history_;
  scenario::TurnedKnobs linked_;  // to be turned once the lesson has run
  std::vector<RunPointer> adopted_;
  Revisit revisit_;
  Further further_;
  Solving solving_;
  FileWatch watch_;
};

}  // namespace trainscope::ui
