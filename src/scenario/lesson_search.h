// Lessons by what they are about: "fsdp", "pin_memory", "loss scale". Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenario/lesson.h"

namespace trainscope::scenario {

// How much a lesson is about these words, each of which begins one of its own, whatever the case:
// in its title before its subject (topic, track, terms), its claim and knobs, and what its cards
// say. 0: not at all.
int relevance(const Lesson& lesson, std::string_view words);

// The lessons that are about the words, most so first, else as they stand; none for no words.
std::vector<const Lesson*> lessons_about(const std::vector<Lesson>& lessons,
                                         std::string_view words);

// What a lesson is about, in a line: its terms, in its language; of one without, its topic.
std::string subject_line(const Lesson& lesson);

}  // namespace trainscope::scenario
