#include "scenario/machine_caveat.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace trainscope::scenario {
namespace {

using Words = std::vector<std::string>;

bool holds(const Words& words, const std::string& one) {
  return std::find(words.begin(), words.end(), one) != words.end();
}

void add_once(Words& words, const std::string& one) {
  if (!holds(words, one)) words.push_back(one);
}

// The machines that the text of a side is written for; none: any.
Words written_for(const Lesson& lesson, const std::string& label) {
  return compares_machines(lesson) ? Words{lesson.side(label).word("machine")} : lesson.machines;
}

}  // namespace

std::string machine_caveat(const Lesson& lesson, const Sides& sides) {
  Words meant, other;
  for (const analysis::Run* run : sides) {
    const Words known = written_for(lesson, run->label);
    for (const std::string& one : known) add_once(meant, one);
    const std::string& machine = run->config.word("machine");
    if (!known.empty() && !holds(known, machine)) add_once(other, machine);
  }
  if (other.empty()) return "";
  return fmt::format(fmt::runtime(lesson.say("The text of this lesson is written for {}; on {} it "
                                             "need not hold.")),
                     fmt::join(meant, ", "), fmt::join(other, ", "));
}

}  // namespace trainscope::scenario
