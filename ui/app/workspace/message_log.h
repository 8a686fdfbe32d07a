// What the window has said: notices, and why a side did not run. Each once, in order.
#pragma once

#include <array>
#include <deque>
#include <string>

#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

class MessageLog {
 public:
  struct Message {
    std::string time;  // of the day: "14:05:31"
    std::string text;
  };

  // Takes down what is new since it was last called.
  void take(const Workspace& workspace);

  const std::deque<Message>& messages() const { return messages_; }
  std::string text() const;  // all of it, a line each

 private:
  void add(const std::string& message, std::string& last);

  std::deque<Message> messages_;
  std::string notice_;
  std::array<std::string, 2> errors_;  // by side
};

}  // namespace trainscope::ui
