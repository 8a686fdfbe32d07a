#include "base/suggest.h"

#include <algorithm>
#include <numeric>

namespace trainscope {
namespace {

// Edit distance in which swapping two neighbours counts as one edit.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

// WORKLOAD means workload, and AdamW adamw.
std::string in_small_letters(std::string_view name) {
  std::string small(name);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

// "h100-sxm-1" and "h100-sxm-8" of "h100".
std::vector<std::string> longer_names(std::string_view start,
                                      const std::vector<std::string>& candidates) {
  const std::string small = in_small_letters(start);
  std::vector<std::string> names;
  for (const std::string& candidate : candidates)
    if (!small.empty() && candidate.size() > small.size() && candidate.starts_with(small) &&
        (candidate[small.size()] == '-' || candidate[small.size()] == '.'))
      names.push_back(candidate);
  return names;
}

std::string_view first_word(std::string_view name) {
  return name.substr(0, name.find('.'));
}

// "checkpoint.enabled" of "gradient_checkpointing": the names whose first word it has in it, the
// longest that it has.
std::vector<std::string> names_within(std::string_view wrong,
                                      const std::vector<std::string>& candidates) {
  constexpr std::size_t kLeast = 5;  // shorter ones are in many words by chance
  const std::string small = in_small_letters(wrong);
  std::vector<std::string> names;
  std::size_t longest = kLeast;
  for (const std::string& candidate : candidates) {
    const std::string_view word = first_word(candidate);
    if (word == candidate || word.size() < longest || small.find(word) == std::string::npos)
      continue;
    if (word.size() > longest) names.clear();
    longest = word.size();
    names.push_back(candidate);
  }
  return names;
}

std::string_view last_word(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongest = 64;  // a longer "name" is not a typing slip
  if (wrong.empty() || wrong.size() > kLongest) return "";
  const std::string small = in_small_letters(wrong);
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, wrong.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // Beside other capitals a slip weighs more: MHz is not ms.
    const std::size_t folded = edit_distance(small, in_small_letters(candidate));
    std::size_t distance = std::min(edit_distance(wrong, candidate), folded == 0 ? 0 : folded + 1);
    // `pin_memory` means `loader.pin_memory`.
    if (wrong.find('.') == std::string_view::npos && last_word(candidate) != candidate)
      distance = std::min(distance, edit_distance(wrong, last_word(candidate)) + 1);
    // A name none of whose letters is right is no slip.
    if (distance >= std::max(wrong.size(), candidate.size())) continue;
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

namespace {

std::vector<std::string> nearest_names(std::string_view wrong,
                                       const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(wrong, candidates);
  return nearest.empty() ? std::vector<std::string>() : std::vector<std::string>{nearest};
}

std::vector<std::string> same_but_for_case(std::string_view wrong,
                                           const std::vector<std::string>& candidates) {
  const std::string small = in_small_letters(wrong);
  for (const std::string& candidate : candidates)
    if (!small.empty() && in_small_letters(candidate) == small) return {candidate};
  return {};
}

}  // namespace

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& candidates) {
  constexpr std::size_t kMost = 5;     // more are a list to look up
  constexpr std::size_t kLong = 1024;  // is no name
  if (wrong.size() > kLong) return "";
  const auto is_short = [](const std::vector<std::string>& names) {
    return !names.empty() && names.size() <= kMost;
  };
  std::vector<std::string> names = same_but_for_case(wrong, candidates);
  if (names.empty()) names = longer_names(wrong, candidates);
  if (!is_short(names)) names = nearest_names(wrong, candidates);
  if (names.empty()) names = names_within(wrong, candidates);
  if (!is_short(names)) return "";
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return " (did you mean " + text + "?)";
}

}  // namespace trainscope
