// Where the lanes and spans of a trace stand in a Chrome-trace file: pids, tids, and the order of
// events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace trainscope::trace::chrome {

// What the lanes of one pid have in common, and what a viewer calls it.
struct ProcessPlace {
  std::int64_t pid = 0;
  std::string name;   // "Rank 0 GPU 0"
  std::string label;  // "GPU 0"
  std::int64_t order = 0;
};

struct LanePlace {
  bool written = false;
  std::int64_t pid = 0;
  std::vector<std::int64_t> tids;  // further ones for spans that cannot nest in the first
  std::int32_t device = 0;         // of a lane on a device, as written
  std::int32_t stream = -1;        // of a stream, as written: more than 0
};

struct Layout {
  std::vector<ProcessPlace> processes;
  std::vector<LanePlace> lanes;     // by LaneId
  std::vector<SpanId> order;        // by start, the longer first: parents before children
  std::vector<std::uint32_t> rows;  // by SpanId: which of its lane's tids
};

// `rank`: only that rank's lanes. `sync_records`: see WriteOptions.
Layout lay_out(const Trace& trace, std::optional<int> rank, bool sync_records);

// Lanes whose spans are calls and work of the host.
bool is_host_lane(LaneKind kind);

}  // namespace trainscope::trace::chrome
