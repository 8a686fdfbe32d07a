// A question of an earlier lesson that its learner got wrong, asked again when this one is over.
//
// At the end, because recalling after a delay is what teaches: right at the start of a lesson that
// follows another at once it would only be repeated. It may be left, and counts for nothing.
#pragma once

#include <memory>
#include <string>

#include "scenario/missed.h"
#include "ui/app/workspace/background.h"

namespace trainscope::ui {

class Revisit {
 public:
  // A lesson is opened before which these were missed, in others.
  void prepare(scenario::Choices missed);
  bool is_due() const { return !missed_.empty() && !begun_; }
  // Has the first that can be asked made ready, with its texts in a language, beside the window;
  // what was chosen of it stays.
  void begin(const std::string& language);
  bool begun() const { return begun_; }
  // Takes in what has been made ready since; true when something has.
  bool take();
  bool busy() const { return busy_; }
  // Why what was taken in last is no question: a sentence. Empty: it is one, or there is none.
  const std::string& fault() const { return fault_; }

  // Null: there is none, it is not ready, or it was set aside.
  const scenario::AskedAgain* question() const { return set_aside_ ? nullptr : question_.get(); }

  void choose(int option);
  bool can_choose(int option) const;
  bool can_answer() const;
  // It can no longer be changed.
  scenario::JudgedChoice answer();
  void set_aside();

  int chosen() const { return chosen_; }  // -1: none is
  bool answered() const { return answered_; }

 private:
  scenario::Choices missed_;
  bool begun_ = false, busy_ = false, answered_ = false, set_aside_ = false;
  int chosen_ = -1;
  std::string fault_;
  std::shared_ptr<const scenario::AskedAgain> question_;
  Background<scenario::AskedAgain> making_ready_;
};

}  // namespace trainscope::ui
