// What the window shows, without how: the lesson and how far it is, both sides' configs and runs,
// the playhead, what went wrong. It starts runs on a worker and takes in what comes back.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/run.h"
#include "scenario/answers.h"
#include "scenario/learner.h"
#include "scenario/lesson.h"
#include "scenario/link.h"
#include "scenario/progress.h"
#include "ui/app/config_history.h"
#include "ui/app/file_watch.h"
#include "ui/app/notebook.h"
#include "ui/app/present.h"
#include "ui/app/revisit.h"
#include "ui/app/side_model.h"
#include "ui/app/sweep_form.h"
#include "ui/app/sweep_model.h"
#include "ui/app/worker.h"

namespace trainscope::ui {

enum class Screen : std::uint8_t {
  kShelf,   // lessons to choose from
  kLesson,  // one lesson, its runs A and B
  kRuns,    // one or two runs alone
};

// A lesson and its learner. Progress points at the lesson, so this is never moved.
struct LessonModel {
  explicit LessonModel(scenario::Lesson which) : lesson(std::move(which)), progress(lesson) {}
  LessonModel(const LessonModel&) = delete;
  LessonModel& operator=(const LessonModel&) = delete;

  const scenario::Step& step() const { return lesson.steps[progress.step()]; }

  scenario::Lesson lesson;
  scenario::Progress progress;
  std::vector<SideModel> as_run;  // both sides as the lesson sets them: what its texts are about
  bool run_asked = false;         // by the run step
  bool hint_shown = false;
  bool shown = false;  // what the step points at was asked for
  std::string fault;   // of its file as it was saved last: a sentence; empty: none
  std::string remark;  // on the last span selected
  // What progress does not hold of the answers: spans, knobs as they were left, hints taken.
  scenario::Answers noted;
  // Steps whose choice the record of the learner has been told of.
  std::set<std::string, std::less<>> told;
  // Steps whose question a link went past: nobody was asked, so nothing is kept of them.
  std::set<std::size_t> passed_over;
  bool kept = true;  // false: the answers of an attempt that is finished, looked at again
};

// A run put aside as it was.
struct KeptRun {
  std::string name;  // "1"
  RunPointer run;
  TraceView view;
};

struct Playhead {
  Nanos time = 0;        // of A, and of B where they are aligned by time
  bool by_step = false;  // B stands where it is as far in the same step
  bool playing = false;
  double seconds = 20;  // for the visible range
};

class Workspace {
 public:
  // `wake` is called from another thread when there is something to take in.
  // `open`: the GPU of this machine, for what is measured.
  explicit Workspace(std::function<void()> wake,
                     analysis::GpuRuns::OpenDevice open = analysis::plugged_in_device);

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
  // Beside A, in B's place where there is one; not in a lesson. What was turned, aligned or swept
  // before is forgotten; A and the runs that are kept stay.
  bool can_open_beside() const { return screen_ == Screen::kRuns && !sides_.empty(); }
  void open_run_beside(const RunPointer& run, const std::filesystem::path& file = {});
  void open_trace_beside(const std::filesystem::path& file);
  void open_config_beside(program::Config config);
  // B begins with A's knobs.
  bool can_copy_beside() const { return can_open_beside() && sides_.size() == 1 && knobs_free(); }
  void copy_beside();
  // B is a replay of A's trace, whose knobs ask what it would bring. `setting`: what it changes,
  // "replay.host_speed=2"; empty: nothing.
  bool can_replay_beside() const;
  void replay_beside(const std::string& settings = {});
  // A is alone again.
  bool can_close_beside() const { return can_open_beside() && sides_.size() == 2; }
  void close_beside();
  // What a link means: a lesson at a step, its knobs as they were turned; or runs by their knobs.
  void open_link(const scenario::Link& link);
  // What is open now as a link; not of what was read from a file.
  bool can_link() const;
  scenario::Link link() const;

  // Of the lessons' texts: "de"; empty: English. A lesson that is open changes its words and
  // nothing else.
  void set_language(const std::string& language);
  const std::string& language() const { return language_; }

  // The lessons that are shipped; read once. When they cannot be: a sentence.
  const std::vector<scenario::Lesson>& shelf();
  const std::string& shelf_error() const { return shelf_error_; }

  // Takes in what the worker has to say; true when something changed.
  bool take_reports();
  bool busy() const;
  // A side that does not run yet waits for its listing and its lanes.
  bool outlining() const;
  // Stops what runs; what there is of it is dropped, with a sentence that says so.
  void cancel();

  const std::vector<SideModel>& sides() const { return sides_; }
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
  // Knobs may be turned now: of each side that has some; of this one.
  bool knobs_free() const;
  bool knobs_free(std::size_t side) const;
  // All that were not imported. Where one is meant and not named, it is the last.
  std::vector<std::size_t> sides_with_knobs() const;

  // The lesson.
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
  // Whose answers these are. Lessons opened from now on take the seed of that name.
  void set_student(std::string name) { student_ = std::move(name); }
  const std::string& student() const { return student_; }
  // The knobs that the lesson was opened with beyond its own.
  scenario::TurnedKnobs opened_with() const;
  // Those that were turned since.
  scenario::TurnedKnobs turned_knobs() const;
  // What is kept of the learner; at first nothing is kept on disk.
  const scenario::Learner& learner() const { return learner_; }
  void keep_learner_in(std::filesystem::path folder);
  // Keeps the answers where something was answered since it was last called.
  void keep_answers();
  // A question of an earlier lesson, asked again of a learner alone once this one is over; null:
  // there is none, or not now. What becomes of it changes nothing of the lesson that is open.
  const Revisit* revisit() const;
  bool revisit_busy() const { return revisit_.busy(); }
  void choose_again(int option);
  void answer_again();
  void set_revisit_aside() { revisit_.set_aside(); }
  // Tells the lesson which span was clicked.
  void select_span(std::size_t side, trace::SpanId span);

  // Knobs. A change runs that side at once.
  void set_knob(std::size_t side, const std::string& name, const program::Value& value);
  void reset_knobs();
  // Takes back the last change of a knob or a machine, and does it again. What is turned on a step
  // of a lesson belongs to that step.
  bool can_undo() const;
  bool can_redo() const;
  void undo();
  void redo();

  // Several knobs of a side at once: one run.
  void set_knobs(std::size_t side,
                 const std::vector<std::pair<std::string, program::Value>>& values);

  // Sweeps: one of the sides as they stand now, over values of one knob or two.
  const SweepModel& sweep() const { return sweep_; }
  // What it was asked for last; for the panel's fields.
  const std::optional<SweepForm>& sweep_form() const { return sweep_form_; }
  bool can_sweep() const { return knobs_free(); }
  // Throws InputError for what no sweep can be of.
  void start_sweep(const SweepForm& form);
  void cancel_sweep() { sweep_.cancel(); }
  // The lesson's own, of its sides as it sets them, where it is not there yet.
  void start_lesson_sweep();
  // The sides by label, as their knobs stand.
  std::vector<scenario::LabelledConfig> labelled_configs() const;
  // The side takes the values of a point.
  void take_sweep_point(std::size_t side, std::size_t point);

  // Machines. Each side has its own; a lesson may allow only some.
  bool has_machines() const;  // not all was imported: there is a machine to speak of
  // Why a side may not run on that machine now, as a sentence; empty: it may.
  std::string machine_refusal(const std::string& id) const;
  // Does nothing where that is refused.
  void set_machine(std::size_t side, const std::string& id);
  bool knobs_changed() const;

  // Leaving the lesson's path, and coming back to exactly where one left.
  bool forked() const { return fork_.has_value(); }
  bool can_explore() const;
  void explore();
  void return_to_lesson();

  Present present;
  // How much later B stands on the shared axis than its own times say; A never moves.
  Nanos offset() const { return offset_; }
  void set_offset(Nanos offset);

  // Runs kept to be looked at beside A and B, until something else is opened.
  static constexpr std::size_t kMostKept = 4;
  const std::vector<KeptRun>& kept() const { return kept_runs_; }
  // The sides that have knobs, on the GPU of this machine and as they are turned, in place of what
  // is shown.
  bool can_measure() const;
  void measure();  // or says why that would show nothing
  bool is_measured(std::size_t side) const;
  // What was measured is simulated again, as turning one of its knobs does.
  bool can_simulate_again() const;
  void simulate_again();

  // The side has a finished run that is not kept yet, and there is room.
  bool can_keep(std::size_t side) const;
  void keep(std::size_t side);
  void drop_kept(std::size_t number);
  // A side takes a kept run's knobs.
  void take_kept(std::size_t side, std::size_t number);

  Notebook notebook;  // what people wrote on runs
  Playhead playhead;
  // Its time on a side, with A and B aligned as they are.
  Nanos playhead_of(std::size_t side) const;
  // The playhead's time when a side is at this one.
  Nanos playhead_at(std::size_t side, Nanos time) const;
  // Where playing pauses: at the span that the lesson's step points at, where the step wants that.
  std::optional<Nanos> pause_time() const;
  // Both sides have steps to be aligned by.
  bool can_align_steps() const;
  Nanos end() const;           // of the longer run shown
  Nanos playhead_end() const;  // how far it goes: the end of A where B follows by step
  std::string notice;          // a sentence to show once: what could not be done, or was

 private:
  struct Fork {
    std::vector<SideModel> sides;
    Playhead playhead;
    ConfigHistory history;
  };

  void close();
  void start(std::size_t side);
  // Why measuring these would show nothing; empty: it shows something.
  std::string same_when_measured(const std::vector<std::size_t>& sides) const;
  // A side with nothing in it yet, new or in place of what is there.
  SideModel& place(std::size_t slot, program::Config config);
  void read_run(std::size_t slot, const RunPointer& run, const std::filesystem::path& file);
  void read_trace(std::size_t slot, const std::filesystem::path& file);
  void run_config(std::size_t slot, program::Config config);
  void forget_pair();
  // Where one side's times are of a step and the other's cannot be, both are of all of it.
  void level();
  void take(Report& report);
  void reveal_when_done();
  program::Config base_config(std::size_t side) const;
  void open_configs(const scenario::Link& link);
  void open_lesson_at(scenario::Lesson lesson, const scenario::Link& link);
  // The attempt is by this student, with the seed and the machine that the lesson has now.
  bool is_of_this(const std::optional<scenario::Answers>& answers) const;
  void turn_as_linked();
  void remember(const std::string& what);
  void restore(const ConfigHistory::State& configs);
  // What is left of knobs on a step is part of its answer.
  void note_task();
  void show_lesson(scenario::Lesson lesson);
  void tell_translation();
  void watch_lesson();
  void reload(scenario::Lesson again);
  void resume(const scenario::Answers& answers, std::optional<std::size_t> at = {});
  // What was missed in other lessons so far.
  void prepare_revisit();
  void begin_revisit();
  std::vector<scenario::JudgedChoice> take_decided();

  Screen screen_ = Screen::kShelf;
  std::unique_ptr<LessonModel> lesson_;
  std::vector<SideModel> sides_;
  std::vector<program::Config> opened_;  // configs of runs that were opened
  std::optional<Fork> fork_;
  ConfigHistory history_;
  scenario::TurnedKnobs linked_;  // to be turned once the lesson has run
  std::vector<RunPointer> adopted_;
  std::string student_;
  std::string language_;
  scenario::Learner learner_;
  // What says that there is something new to keep.
  struct GivenAnswers {
    std::size_t committed = 0, noted = 0, step = 0;
    bool revealed = false;
    bool operator==(const GivenAnswers&) const = default;
  };
  GivenAnswers kept_;
  Revisit revisit_;
  Nanos offset_ = 0;
  std::vector<KeptRun> kept_runs_;
  int kept_so_far_ = 0;
  std::optional<std::vector<scenario::Lesson>> shelf_;
  std::string shelf_error_;
  std::unique_ptr<Worker> worker_;
  std::optional<SweepForm> sweep_form_;
  SweepModel sweep_;
  FileWatch watch_;
};

}  // namespace trainscope::ui
