// Which knobs a task is done with: reached with others it is another task.
#pragma once

#include <string>
#include <vector>

#include "scenario/answers.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

// Those that the step names, else those that the lesson shows.
const std::vector<std::string>& knobs_of_task(const Lesson& lesson, const Step& step);

// The knobs that were turned and are none of these, each once: "copy.memory". A machine that the
// lesson is not made for is one too: "machine t4-1". `base`: what the lesson was run with beyond
// its own; a knob is turned where a side differs from that.
std::vector<std::string> strays(const Lesson& lesson, const Step& step, const TurnedKnobs& base,
                                const TurnedKnobs& turned);

}  // namespace trainscope::scenario
