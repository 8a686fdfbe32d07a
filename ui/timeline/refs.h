// What points into a timeline: a side, a span of it, a range of the shared axis.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "trace/trace.h"

namespace trainscope::ui {

enum class Side : std::uint8_t { kA, kB };

struct SpanRef {
  Side side = Side::kA;
  trace::SpanId span = trace::kNone;
  friend bool operator==(const SpanRef&, const SpanRef&) = default;
};

struct LaneRef {
  Side side = Side::kA;
  trace::LaneId lane = trace::kNone;
  friend bool operator==(const LaneRef&, const LaneRef&) = default;
};

// A note of a side, by its position in TimelineSide::notes.
struct NoteRef {
  Side side = Side::kA;
  std::size_t note = SIZE_MAX;  // none
  friend bool operator==(const NoteRef&, const NoteRef&) = default;
};

struct TimeRange {
  Nanos start = 0;
  Nanos end = 0;
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

}  // namespace trainscope::ui
