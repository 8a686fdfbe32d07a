// On which machines a lesson runs, and why not on the others.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenario/check.h"

namespace trainscope::scenario {

class WhereItRuns {
 public:
  void runs_on(const std::string& machine) { runs_on_.push_back(machine); }
  void does_not_run_on(const std::string& machine, const std::string& why) {
    does_not_run_.emplace_back(machine, why);
  }
  bool everywhere() const { return does_not_run_.empty(); }

  // One for each reason, with the machines to name where the lesson names none.
  std::vector<Finding> findings(const Lesson& lesson) const;

 private:
  std::string to_write(const Lesson& lesson) const;

  std::vector<std::string> runs_on_;
  std::vector<std::pair<std::string, std::string>> does_not_run_;
};

}  // namespace trainscope::scenario
