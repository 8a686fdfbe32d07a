#include "scenario/machine_caveat.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analysis/runs/measured_run.h"

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

// A measured one: on the GPU that was there.
std::string ran_on(const analysis::Run& run) {
  if (!run.trace || !trace::is_measured(*run.trace)) return run.config.word("machine");
  const trace::Origin& origin = run.trace->origin();
  return run.machine && analysis::is_of_device(origin) ? run.machine->id : origin.subject;
}

}  // namespace

std::string machine_caveat(const Lesson& lesson, const Sides& sides) {
  Words meant, other;
  for (const analysis::Run* run : sides) {
    const Words known = written_for(lesson, run->label);
    for (const std::string& one : known) add_once(meant, one);
    const std::string machine = ran_on(*run);
    if (!known.empty() && !holds(known, machine)) add_once(other, machine);
  }
  if (other.empty()) return "";
  return fmt::format(fmt::runtime(lesson.say("The text of this lesson is written for {}; on {} it "
                                             "need not hold.")),
                     fmt::join(meant, ", "), fmt::join(other, ", "));
}

}  // namespace trainscope::scenario
