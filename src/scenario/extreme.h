// A task that asks for the least of a knob, or for the most: it is done where its goal holds, and
// with the knob one less would hold no longer.
//
//   least = "A.loader.num_workers"      or most; "common.batch_size": of both sides, turned alike
//
// One less: of a knob that counts, the number before; of another, the value before it of the
// lesson's [sweep]. A goal that holds again further down is not looked for.
#pragma once

#include <functional>
#include <optional>

#include "scenario/lesson.h"
#include "scenario/solution.h"

namespace trainscope::scenario {

class Fields;

// `least` or `most` of a step that has neither, or one. Throws InputError where it cannot be.
std::optional<KnobExtreme> read_extreme(const Fields& fields, const Step& step);

// Throws InputError where there is nothing that is one less: a word, or a fraction, that the lesson
// does not sweep.
void check_extreme(const Lesson& lesson, const Step& step);

// The knobs of these sides one further towards what the task asks for; nothing where the knob ends
// here, or the task asks for no such thing.
std::optional<TurnedKnobs> one_further(const Lesson& lesson, const Step& step, const Sides& sides);

// The same as one knows it: "A.loader.num_workers = 2".
std::string words_of(const KnobExtreme& extreme, const TurnedKnobs& knobs);

// Whether the goal would hold one further, too: what was reached is not yet the least. Carries that
// out in the simulator, all of it where a side was measured. `knobs`: where they are put.
bool goes_further(const Lesson& lesson, const Step& step, const Sides& sides,
                  TurnedKnobs* knobs = nullptr);

// The task is done: its goal holds, and goes no further.
bool is_done(const Lesson& lesson, const Step& step, const Sides& sides);

// A step's solution as it is on these sides, the lesson's own: turned on until it goes no further,
// as less may do on another machine. As it is written where it asks for no such thing, or does not
// reach the goal. Where `stopped` says so, it is turned no further.
TurnedKnobs solution_on(
    const Lesson& lesson, const Step& step, const Sides& sides,
    const std::function<bool()>& stopped = [] { return false; });

}  // namespace trainscope::scenario
