#include "sim/out_of_memory.h"

#include <algorithm>

#include "base/units.h"

namespace trainscope::sim {
namespace {

std::string bytes(std::int64_t count) {
  return format_bytes(static_cast<double>(count));
}

}  // namespace

std::string buffer_words(const std::string& name, program::Role role, const std::string& words) {
  std::string brackets = name == program::name_of(role) ? "" : std::string(program::name_of(role));
  if (!brackets.empty() && !words.empty()) brackets += ", ";
  brackets += words;
  return brackets.empty() ? name : name + " (" + brackets + ")";
}

std::vector<OutOfMemory::Holder> largest_of(std::vector<OutOfMemory::Holder> holders) {
  constexpr std::size_t kMost = 5;
  std::stable_sort(holders.begin(), holders.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  holders.resize(std::min(holders.size(), kMost));
  return holders;
}

std::string holders_words(const std::vector<OutOfMemory::Holder>& holders) {
  std::string text;
  for (const OutOfMemory::Holder& one : holders)
    text += (text.empty() ? "; the largest are " : ", ") +
            buffer_words(one.name, one.role, bytes(one.bytes));
  return text;
}

std::string sentence(const OutOfMemory& why) {
  std::string text = why.gpu + " is out of memory";
  if (why.line > 0) text += " at line " + std::to_string(why.line);
  text += ": " + buffer_words(why.buffer, why.role) + " asks for " + bytes(why.requested) +
          ", and of the " + bytes(why.capacity) + " that there are, the allocator holds " +
          bytes(why.reserved) + ", " + bytes(why.allocated) + " of them in tensors";
  return text + holders_words(why.holders) +
         "; what is shown ends there: ask for less, or choose a machine with more memory";
}

}  // namespace trainscope::sim
