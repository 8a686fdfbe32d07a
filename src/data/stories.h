// Very short stories from a grammar of our own, to learn characters from.
//
// What a model can find in them, from near to far: spelling; a or an; is or are, it or them, by
// how many things the story is about; he or she by who it is about; the names, the thing and
// the place that come back; and small sums.
#pragma once

#include <string>

#include "data/draws.h"

namespace trainscope::data {

// A paragraph of some sentences in one line, which ends in a newline.
std::string write_story(Draws& draws);

}  // namespace trainscope::data
