// One event of a Chrome trace as its text stands in the file, and what a file says about itself.
// Tokens (see chrome_text.h) point into the file's text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/chrome_words.h"
#include "trace/trace.h"

namespace trainscope::trace::chrome {

// The args that the reader knows; an empty token or nullopt: absent.
struct EventArgs {
  std::optional<std::int64_t> device, stream, correlation;
  std::int64_t grid[3] = {1, 1, 1};
  std::int64_t block[3] = {1, 1, 1};
  std::string_view bytes, registers, shared, occupancy;
  std::string_view collective, type, elements_in, elements_out, group_size, sequence, group,
      group_description, members;
  std::string_view sync_kind;
  std::string_view node, forward_thread;  // of autograd
  std::string_view allocated, total_allocated, total_reserved, device_type, device_id;
  std::string_view name;  // of metadata
};

// The args that only our own files have, all named "Trainscope ...".
struct OwnArgs {
  std::string_view span, cause_span, line, correlation, flow, device, stream;
  std::string_view category, cause, detail;
  std::string_view name, name_bytes, kind_bytes, operation_bytes, type_bytes;
  std::string_view group_bytes, members_bytes;
  std::string_view algorithm, algorithm_bytes, protocol, protocol_bytes;
  std::string_view flops, bytes, occupancy, from, to, value;
};

struct Event {
  char phase = 0;  // the first letter of `ph`
  bool has_kind = false;
  EventKind kind = EventKind::kUnknown;
  std::string_view name, pid, tid, ts, dur, id;
  bool has_args = false;
  EventArgs args;
  OwnArgs own;
  std::vector<std::pair<std::string_view, std::string_view>> series;  // of a counter: key, token
};

// What our own writer says in the object "trainscope".
struct OwnHeader {
  Origin origin;
  std::int64_t span_count = 0;
  std::int64_t correlation_offset = 0;  // what the file's numbers are ahead of the trace's
  struct OwnLane {
    Lane lane;
    std::int64_t pid = 0;
    std::vector<std::int64_t> tids;
  };
  std::vector<OwnLane> lanes;
  std::vector<Dropped> dropped;
};

struct FileHeader {
  std::optional<std::int64_t> schema;
  std::vector<std::string> devices;  // names, one a device
  std::optional<std::int64_t> rank;
  std::int64_t world = 0;  // ranks of the job; 0: not known
  Nanos base = 0;          // the epoch time at the file's time 0
  std::optional<OwnHeader> own;
};

}  // namespace trainscope::trace::chrome
