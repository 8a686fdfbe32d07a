// What a trace lacks of its file, in words: why, and how many each. Empty: it lacks nothing.
#pragma once

#include <fmt/format.h>

#include <string>

#include "trace/trace.h"

namespace trainscope::ui {

inline std::string left_out(const trace::Trace& trace) {
  std::string reasons;
  for (std::uint32_t i = 0; i < trace.dropped().size(); ++i) {
    const trace::Dropped& dropped = trace.dropped()[i];
    if (!reasons.empty()) reasons += "\n\n";
    reasons += fmt::format("{}: {}", dropped.reason, dropped.count);
  }
  return reasons;
}

}  // namespace trainscope::ui
