// Work that is given up before it is done.
#pragma once

#include <functional>

namespace trainscope {

// Asked every so often by long work: whether nobody wants it any more.
using Stopped = std::function<bool()>;

// Thrown out of work that is given up, to where it began: there is nothing to say.
struct Abandoned {};

}  // namespace trainscope
