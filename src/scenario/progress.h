// How far a learner is in a lesson: the step shown, the answers given, what may be seen. Pure
// state; the window and the command line drive it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "scenario/lesson.h"

namespace trainscope::scenario {

struct Answer {
  int option = -1;               // of a choice
  std::optional<double> number;  // in the unit of the expected quantity
  std::string text;
  bool committed = false;  // it can no longer be changed
  bool skipped = false;
};

struct Verdict {
  bool right = false;
  bool decided = true;            // false: not exactly one option is right on these runs
  int right_option = -1;          // of a choice; -1: none is, or several are
  std::string message;            // why the chosen option is wrong; or what the number was
  std::optional<Quantity> truth;  // of a number
};

class Progress {
 public:
  explicit Progress(const Lesson& lesson);

  std::size_t step() const { return step_; }
  std::size_t steps() const { return answers_.size(); }
  const Answer& answer(std::size_t step) const { return answers_[step]; }

  // The answer of the step shown; ignored once it is committed.
  void choose(int option);
  void enter(double number);
  void write(std::string text);
  bool can_commit() const;
  void commit();
  void skip();  // recorded: skipped is not done

  // A span was selected; on a find-span step this commits when it is the right one and says so.
  // Any span that the question means is right, whatever its nth.
  bool select_span(const analysis::Run& run, trace::SpanId span);

  bool can_go_on() const;  // the step's question is answered or skipped, its run is done
  void next();
  void back();

  // Goes on where an earlier attempt ended: its answers, by step of the lesson, and the step shown.
  void resume(std::vector<Answer> answers, std::size_t step);

  // The results may be seen: the run step has been carried out.
  bool revealed() const { return revealed_; }
  void reveal() { revealed_ = true; }

  bool finished() const { return step_ + 1 == answers_.size() && can_go_on(); }

 private:
  const Lesson* lesson_;
  std::vector<Answer> answers_;
  std::size_t step_ = 0;
  bool revealed_ = false;
};

// The one option that is right on these runs; -1: none or several are.
int right_option(const Question& question, const Sides& sides);

// Compares an answer with the runs. Throws InputError when the lesson's expressions fail.
Verdict judge(const Question& question, const Answer& answer, const Sides& sides);

// The spans that a focus means: those of that name (or whose name begins with it) in that lane,
// caused by that line of the listing where it names one, and such as it says, by start. Empty when
// there are none.
std::vector<trace::SpanId> find_spans(const Focus& focus, const analysis::Run& run);

// The one of them that is shown: the focus's nth, counted from the first of all, but one of a step
// of the warm-up is counted from the first measured step, where there are so many. Where the focus
// names no number it is the first of the steps that are measured, if any is, else of any step, or
// of them, where it has no name, the longest. None where there are not so many.
std::optional<trace::SpanId> shown_span(const Focus& focus, const analysis::Run& run);

// The line that a focus names; 0: any. None where the run's listing lacks it.
std::optional<int> line_of(const Focus& focus, const analysis::Run& run);

// The lines of the listing on which `code` stands, from 1.
std::vector<int> lines_with(const std::string& code, const program::Listing& listing);

}  // namespace trainscope::scenario
