#include "ui/app/workspace/message_log.h"

#include <fmt/chrono.h>

#include <ctime>

namespace trainscope::ui {
namespace {

constexpr std::size_t kMost = 500;

}  // namespace

void MessageLog::take(const Workspace& workspace) {
  add(workspace.notice, notice_);
  for (std::size_t i = 0; i < errors_.size(); ++i) {
    const bool there = i < workspace.sides().size() && !workspace.sides()[i].error.empty();
    const std::string error =
        there ? workspace.sides()[i].label + ": " + workspace.sides()[i].error : "";
    add(error, errors_[i]);
  }
}

void MessageLog::add(const std::string& message, std::string& last) {
  if (message == last) return;
  last = message;
  if (message.empty()) return;
  messages_.push_back({fmt::format("{:%H:%M:%S}", fmt::localtime(std::time(nullptr))), message});
  if (messages_.size() > kMost) messages_.pop_front();
}

std::string MessageLog::text() const {
  std::string all;
  for (const Message& message : messages_) all += message.time + "  " + message.text + "\n";
  return all;
}

}  // namespace trainscope::ui
