// Searching the timelines of both sides: what was typed, what was found, which one is next. Pure.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "ui/timeline/view.h"

namespace trainscope::ui {

struct TimelineSearch {
  bool open = false;
  bool just_opened = false;
  std::string words;

  // Of the side; null: nothing is searched for.
  const Matches* matches(std::size_t side) const;
  std::size_t count() const;

  // What `found` was found in.
  struct Source {
    std::string words;
    const trace::TraceIndex* index = nullptr;
    std::vector<trace::LaneId> hidden;
    bool operator==(const Source&) const = default;
  };
  std::array<Source, 2> sources;
  std::array<Matches, 2> found;
};

// Searches again where the words, a run or the lanes shown have changed. Before the result there is
// no trace, and nothing is found.
void refresh(TimelineSearch& search, const TimelineInput& input);

// The match after the one selected, or before it, in time, A's first where both start together;
// from the left edge of the view where nothing is selected. After the last one comes the first.
std::optional<SpanRef> next_match(const TimelineSearch& search, const TimelineInput& input,
                                  const TimelineState& state, bool forward);

// "3 of 12", "12 spans", "nothing found".
std::string count_words(const TimelineSearch& search, const TimelineInput& input,
                        const TimelineState& state);

}  // namespace trainscope::ui
