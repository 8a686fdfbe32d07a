// Traces read from a few events, as text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trace/chrome_reader.h"

namespace trainscope::test {

inline std::unique_ptr<trace::Trace> events(const std::string& list) {
  return trace::read_chrome_trace("t.json",
                                  "{\"schemaVersion\": 1, \"traceEvents\": [" + list + "]}");
}

// An operator on thread 1; both in microseconds.
inline std::string complete(const std::string& ts, const std::string& dur) {
  return R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": )" + ts +
         R"(, "dur": )" + dur + "}";
}

// How many events were left out for this reason.
inline std::int64_t lost(const trace::Trace& trace, const std::string& reason) {
  for (std::uint32_t i = 0; i < trace.dropped().size(); ++i)
    if (trace.dropped()[i].reason == reason) return trace.dropped()[i].count;
  return 0;
}

}  // namespace trainscope::test
