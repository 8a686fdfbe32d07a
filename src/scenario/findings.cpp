#include "scenario/findings.h"

#include <algorithm>

namespace trainscope::scenario {
namespace {

constexpr std::size_t kMostNamed = 3;

}  // namespace

void Findings::add(const SourcePlace& place, const std::string& sentence) {
  all_.push_back({place, sentence, "", ""});
}

void Findings::add_all(const std::vector<Finding>& findings) {
  for (const Finding& one : findings) add(one.place, one.sentence);
}

void Findings::add_on(const std::string& where, const SourcePlace& place, const std::string& before,
                      const std::string& after) {
  all_.push_back({place, before, where, after});
}

const SourcePlace* Findings::first_with(std::size_t mark, const std::string& words) const {
  for (std::size_t i = mark; i < all_.size(); ++i)
    if (all_[i].after.find(words) != std::string::npos) return &all_[i].place;
  return nullptr;
}

std::vector<Finding> Findings::take() const {
  std::vector<Found> folded;
  std::vector<std::vector<std::string>> where;
  for (const Found& one : all_) {
    const auto same = std::ranges::find_if(folded, [&](const Found& other) {
      return other.place.line == one.place.line && other.place.column == one.place.column &&
             other.before == one.before && other.where.empty() == one.where.empty();
    });
    const auto at = static_cast<std::size_t>(same - folded.begin());
    if (same == folded.end()) {
      folded.push_back(one);
      where.emplace_back();
    }
    if (!std::ranges::count(where[at], one.where)) where[at].push_back(one.where);
  }
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < folded.size(); ++i) {
    const Found& one = folded[i];
    findings.push_back({one.place, one.where.empty()
                                       ? one.before
                                       : one.before + " on " + where_words(where[i]) + one.after});
  }
  return findings;
}

std::string where_words(const std::vector<std::string>& where) {
  if (where.size() > kMostNamed)
    return where.front() + " and " + std::to_string(where.size() - 1) + " more";
  std::string words;
  for (std::size_t i = 0; i < where.size(); ++i)
    words += (i == 0 ? "" : i + 1 == where.size() ? " and " : ", ") + where[i];
  return words;
}

}  // namespace trainscope::scenario
