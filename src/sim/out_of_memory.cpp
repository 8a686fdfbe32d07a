#include "sim/out_of_memory.h"

#include <algorithm>

#include "base/text.h"
#include "base/units.h"

namespace trainscope::sim {
namespace {

std::string bytes(const Speech& speech, std::int64_t count) {
  return speech.number(format_bytes(static_cast<double>(count)));
}

}  // namespace

std::string buffer_words(const std::string& name, program::Role role, const std::string& words,
                         const Speech& speech) {
  const std::string_view role_name = program::name_of(role);
  if (name == role_name) return words.empty() ? name : name + " (" + words + ")";
  std::string brackets = speech.say(role_name);
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

std::string holders_words(const std::vector<OutOfMemory::Holder>& holders, const Speech& speech) {
  std::string text;
  for (const OutOfMemory::Holder& one : holders)
    add_to_list(text, buffer_words(one.name, one.role, bytes(speech, one.bytes), speech));
  return text.empty() ? text : told(speech, "; the largest are {}", text);
}

namespace {

std::string request_words(const OutOfMemory& why, const Speech& speech) {
  const std::string buffer = buffer_words(why.buffer, why.role, {}, speech);
  const std::string requested = bytes(speech, why.requested);
  const std::string capacity = bytes(speech, why.capacity);
  const std::string reserved = bytes(speech, why.reserved);
  const std::string allocated = bytes(speech, why.allocated);
  if (why.reserved == 0 && why.context == 0)
    return told(speech, "{} asks for {}, more than the {} that there are", buffer, requested,
                capacity);
  if (why.reserved == 0)
    return told(speech, "{} asks for {}, more than the {} that CUDA's context of {} leaves", buffer,
                requested, capacity, bytes(speech, why.context));
  if (why.context == 0)
    return told(speech,
                "{} asks for {}, and of the {} that there are, the allocator holds {}, {} of "
                "them in tensors",
                buffer, requested, capacity, reserved, allocated);
  return told(speech,
              "{} asks for {}, and of the {} that CUDA's context of {} leaves, the allocator "
              "holds {}, {} of them in tensors",
              buffer, requested, capacity, bytes(speech, why.context), reserved, allocated);
}

}  // namespace

std::string sentence(const OutOfMemory& why, const Speech& speech) {
  std::string text = why.line > 0
                         ? told(speech, "{} is out of memory at line {}", why.gpu, why.line)
                         : told(speech, "{} is out of memory", why.gpu);
  return text + ": " + request_words(why, speech) + holders_words(why.holders, speech) +
         speech.say(
             "; what is shown ends there: ask for less, or choose a machine with more memory");
}

}  // namespace trainscope::sim
