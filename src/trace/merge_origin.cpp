#include "trace/merge_origin.h"

#include <algorithm>
#include <utility>

#include "base/rank_words.h"

namespace trainscope::trace {
namespace {

std::vector<std::string> parts_of(const std::string& detail) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from < detail.size();) {
    const std::size_t end = std::min(detail.find(", ", from), detail.size());
    parts.push_back(detail.substr(from, end - from));
    from = end + 2;
  }
  return parts;
}

}  // namespace

std::string notes_of_others(const std::vector<const Trace*>& traces,
                            const std::vector<int>& ranks) {
  const Origin& first = traces.front()->origin();
  const std::vector<std::string> own = parts_of(first.detail);
  std::vector<std::pair<std::string, std::vector<int>>> notes;
  for (std::size_t i = 1; i < traces.size(); ++i) {
    const Origin& origin = traces[i]->origin();
    std::vector<std::string> parts = parts_of(origin.detail);
    if (origin.subject != first.subject && !origin.subject.empty())
      parts.insert(parts.begin(), "on " + origin.subject);
    for (const std::string& part : parts) {
      if (std::find(own.begin(), own.end(), part) != own.end()) continue;
      auto known = std::ranges::find(notes, part, &std::pair<std::string, std::vector<int>>::first);
      if (known == notes.end()) known = notes.insert(notes.end(), {part, {}});
      known->second.push_back(ranks[i]);
    }
  }
  std::string text;
  for (const auto& [part, who] : notes) text += ", " + rank_words(who) + ": " + part;
  return text;
}

}  // namespace trainscope::trace
