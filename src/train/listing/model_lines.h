// How a learner writes models of which no library has the class, and cuts it into a pipeline's
// stages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/model/graph.h"

namespace trainscope::train {

// The lines of a text that "\n" parts.
std::vector<std::string> lines_of(std::string_view text);

// The classes of gpt-mini and its blocks, and its parts. `written_out`: its attention, as
// attention_lines() has it. `checkpoint_every`: of the blocks, so many-th is recomputed; 0: none
// is.
ListedModel listed_gpt(bool written_out, int checkpoint_every);

}  // namespace trainscope::train
