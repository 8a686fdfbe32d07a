#include "sim/out_of_memory.h"

#include "base/units.h"

namespace trainscope::sim {
namespace {

std::string bytes(std::int64_t count) {
  return format_bytes(static_cast<double>(count));
}

// "y (batch)", and of a buffer that is called after its role "activations"; with words about it in
// the brackets.
std::string named(const std::string& name, program::Role role, const std::string& words = {}) {
  std::string brackets = name == program::name_of(role) ? "" : std::string(program::name_of(role));
  if (!brackets.empty() && !words.empty()) brackets += ", ";
  brackets += words;
  return brackets.empty() ? name : name + " (" + brackets + ")";
}

}  // namespace

std::string sentence(const OutOfMemory& why) {
  std::string text = why.gpu + " is out of memory";
  if (why.line > 0) text += " at line " + std::to_string(why.line);
  text += ": " + named(why.buffer, why.role) + " asks for " + bytes(why.requested) +
          ", and of the " + bytes(why.capacity) + " that there are, the allocator holds " +
          bytes(why.reserved) + ", " + bytes(why.allocated) + " of them in tensors";
  for (std::size_t i = 0; i < why.holders.size(); ++i)
    text += (i == 0 ? "; the largest are " : ", ") +
            named(why.holders[i].name, why.holders[i].role, bytes(why.holders[i].bytes));
  return text + "; what is shown ends there: ask for less, or choose a machine with more memory";
}

}  // namespace trainscope::sim
