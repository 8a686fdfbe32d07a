// A lesson as it stands, in one line to be sent to somebody: which lesson, which step, which knobs
// were turned on each side.
//
//   trainscope:1?lesson=pinned-vs-pageable&step=5&A.copy.count=40&seed=7
//
// 1 is the format. A knob without a side is both sides'. Steps count from 1. Bytes other than
// letters, digits and -._~:,/ stand as %XX; control characters are not told. Without a lesson it is
// one run, or two: by their knobs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scenario/answers.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

struct Link {
  std::string lesson;    // its id; empty: the knobs alone
  std::size_t step = 0;  // from 1; 0: not told
  TurnedKnobs knobs;     // beyond the lesson's own, or the registry's
};

// "trainscope:", as every link begins.
inline constexpr std::string_view kLinkBegins = "trainscope:";

std::string write_link(const Link& link);

// Whether the lesson and the step are there is for who opens it. Throws InputError with what is
// wrong and where.
Link parse_link(std::string_view text);

// The step that a link names of its lesson, from 0; nothing where it names none. Throws InputError
// for one that the lesson does not have.
std::optional<std::size_t> step_in(const Link& link, const Lesson& lesson);

}  // namespace trainscope::scenario
