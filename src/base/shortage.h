// What the system has no more of, told by an exception that nobody wrote a sentence for.
#pragma once

#include <exception>
#include <string>

namespace trainscope {

// A sentence about memory or threads that there are no more of; empty: it is another matter.
std::string shortage(const std::exception& error);

}  // namespace trainscope
