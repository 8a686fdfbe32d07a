#include "ui/app/lesson/revisit.h"

#include <utility>

namespace trainscope::ui {
namespace {

// In other words, maybe.
bool same_question(const scenario::AskedAgain& a, const scenario::AskedAgain& b) {
  return a.missed == b.missed && a.question.options.size() == b.question.options.size();
}

}  // namespace

void Revisit::prepare(scenario::Choices missed) {
  making_ready_.drop();
  missed_ = std::move(missed);
  begun_ = busy_ = answered_ = set_aside_ = false;
  chosen_ = -1;
  question_ = nullptr;
  fault_.clear();
}

void Revisit::begin(const std::string& language) {
  using Ready = Background<scenario::AskedAgain>;
  begun_ = busy_ = true;
  making_ready_.start([missed = missed_, language](const Ready::Stopped& stopped) {
    auto found = scenario::first_to_ask(missed, language, stopped);
    return found ? std::make_shared<scenario::AskedAgain>(std::move(*found)) : nullptr;
  });
}

bool Revisit::take() {
  if (!busy_ || making_ready_.busy()) return false;
  busy_ = false;
  const std::shared_ptr<scenario::AskedAgain> ready = making_ready_.get();
  fault_ = making_ready_.error();
  if (ready && (!question_ || same_question(*ready, *question_))) question_ = ready;
  making_ready_.drop();
  return true;
}

bool Revisit::can_choose(int option) const {
  return question() && !answered_ && option >= 0 &&
         static_cast<std::size_t>(option) < question_->question.options.size();
}

void Revisit::choose(int option) {
  if (can_choose(option)) chosen_ = option;
}

bool Revisit::can_answer() const {
  return can_choose(chosen_);
}

scenario::JudgedChoice Revisit::answer() {
  answered_ = true;
  scenario::JudgedChoice judged{question_->missed};
  judged.choice.option = chosen_;
  judged.right = question_->question.options[static_cast<std::size_t>(chosen_)].right;
  return judged;
}

void Revisit::set_aside() {
  if (!answered_) set_aside_ = true;
}

}  // namespace trainscope::ui
