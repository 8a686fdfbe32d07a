#include "ui/app/workspace/config_history.h"

#include <utility>

namespace trainscope::ui {
namespace {

constexpr std::size_t kMost = 200;  // changes that are kept

std::optional<ConfigHistory::State> moved(std::deque<ConfigHistory::State>& from,
                                          std::deque<ConfigHistory::State>& to,
                                          ConfigHistory::State now) {
  if (from.empty()) return std::nullopt;
  to.push_back(std::move(now));
  ConfigHistory::State there = std::move(from.back());
  from.pop_back();
  return there;
}

}  // namespace

void ConfigHistory::remember(State before, const std::string& what) {
  const bool goes_on = !past_.empty() && future_.empty() && what == last_;
  future_.clear();
  last_ = what;
  if (goes_on) return;
  past_.push_back(std::move(before));
  if (past_.size() > kMost) past_.pop_front();
}

std::optional<ConfigHistory::State> ConfigHistory::undo(State now) {
  last_.clear();
  return moved(past_, future_, std::move(now));
}

std::optional<ConfigHistory::State> ConfigHistory::redo(State now) {
  last_.clear();
  return moved(future_, past_, std::move(now));
}

void ConfigHistory::clear() {
  *this = {};
}

}  // namespace trainscope::ui
