#include "scenario/where_it_runs.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "scenario/findings.h"

namespace trainscope::scenario {
namespace {

// As the lesson's file names it: a file of one's own from the lesson's folder.
std::string name_in(const Lesson& lesson, const std::string& machine) {
  const std::filesystem::path folder = lesson.file.parent_path();
  if (!machine.ends_with(".toml") || folder.empty()) return machine;
  return std::filesystem::path(machine).lexically_relative(folder).string();
}

// Numbers and the machine's name make no reason of their own.
std::string reason_of(const std::string& machine, std::string why) {
  if (const std::size_t at = why.find(machine); at != why.npos) why.erase(at, machine.size());
  std::erase_if(why, [](char c) { return c >= '0' && c <= '9'; });
  return why;
}

}  // namespace

std::string WhereItRuns::to_write(const Lesson& lesson) const {
  if (!lesson.machines.empty() || compares_machines(lesson) || runs_on_.empty()) return "";
  std::string words;
  for (const std::string& machine : runs_on_)
    words += (words.empty() ? "\"" : ", \"") + name_in(lesson, machine) + "\"";
  return "; where it is not meant to, write machines = [" + words + "]";
}

std::vector<Finding> WhereItRuns::findings(const Lesson& lesson) const {
  struct Reason {
    std::string first;
    std::vector<std::string> machines;
  };
  std::map<std::string, Reason> reasons;
  for (const auto& [machine, why] : does_not_run_) {
    Reason& reason = reasons.try_emplace(reason_of(machine, why), Reason{why, {}}).first->second;
    reason.machines.push_back(machine);
  }
  std::vector<Finding> findings;
  for (const auto& [key, reason] : reasons)
    findings.push_back({lesson.place_of("machine"), "it does not run on " +
                                                        where_words(reason.machines) + ": " +
                                                        reason.first + to_write(lesson)});
  return findings;
}

}  // namespace trainscope::scenario
