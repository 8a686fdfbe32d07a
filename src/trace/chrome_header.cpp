#include "trace/chrome_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/error.h"

namespace trainscope::trace::chrome {
namespace {

constexpr std::int64_t kFormat = 1;

// In the order of LaneKind.
constexpr std::array<std::string_view, 14> kLaneKinds = {
    "steps", "host thread", "loader",     "pin thread", "staging",     "copy engine", "stream",
    "SM",    "link",        "collective", "memory",     "memory role", "counter",     "other"};
static_assert(kLaneKinds.size() == static_cast<std::size_t>(LaneKind::kOther) + 1);

// In the order of OriginKind.
constexpr std::array<std::string_view, 3> kOriginKinds = {"simulated", "measured", "imported"};

class Damaged {};

// Text that is not UTF-8 stands as {"bytes": "..."}.
std::string read_own_text(json::value value) {
  if (!is_object(value)) return text_of(token_of(value));
  std::string text;
  each_field(value, [&](const char* key, json::value field) {
    if (is(key, "bytes")) text = bytes_from_text(text_of(token_of(field)));
  });
  return text;
}

void append_own_text(std::string& out, std::string_view text) {
  if (is_utf8(text)) return append_quoted(out, text);
  out += "{\"bytes\": ";
  append_quoted(out, bytes_as_text(text));
  out += "}";
}

template <std::size_t kSize>
std::size_t word_index(const std::array<std::string_view, kSize>& words, json::value value) {
  const auto found = std::ranges::find(words, text_of(token_of(value)));
  if (found == words.end()) throw Damaged();
  return static_cast<std::size_t>(found - words.begin());
}

std::int64_t read_own_integer(json::value value) {
  const auto number = integer_of(token_of(value));
  if (!number) throw Damaged();
  return *number;
}

std::int32_t read_own_int32(json::value value) {
  const std::int64_t number = read_own_integer(value);
  if (number != static_cast<std::int32_t>(number)) throw Damaged();
  return static_cast<std::int32_t>(number);
}

OwnHeader::OwnLane read_own_lane(json::value value) {
  OwnHeader::OwnLane own;
  each_field(value, [&](const char* key, json::value field) {
    if (is(key, "name")) own.lane.name = read_own_text(field);
    if (is(key, "kind")) own.lane.kind = static_cast<LaneKind>(word_index(kLaneKinds, field));
    if (is(key, "rank")) own.lane.rank = read_own_int32(field);
    if (is(key, "device")) own.lane.device = read_own_int32(field);
    if (is(key, "process")) own.lane.process = read_own_integer(field);
    if (is(key, "thread")) own.lane.thread = read_own_integer(field);
    if (is(key, "group")) own.lane.group = read_own_text(field);
    if (is(key, "pid")) own.pid = read_own_integer(field);
    if (is(key, "tids"))
      for (auto tid : field.get_array()) own.tids.push_back(read_own_integer(tid.value()));
  });
  return own;
}

Dropped read_own_dropped(json::value value) {
  Dropped dropped;
  each_field(value, [&](const char* key, json::value field) {
    if (is(key, "reason")) dropped.reason = read_own_text(field);
    if (is(key, "count")) dropped.count = read_own_integer(field);
  });
  // They are missing from the trace, not from this file.
  dropped.complete_event = false;
  return dropped;
}

void read_own_field(const char* key, json::value value, std::int64_t& format, OwnHeader& header) {
  if (is(key, "format")) format = read_own_integer(value);
  if (is(key, "origin"))
    header.origin.kind = static_cast<OriginKind>(word_index(kOriginKinds, value));
  if (is(key, "subject")) header.origin.subject = read_own_text(value);
  if (is(key, "detail")) header.origin.detail = read_own_text(value);
  if (is(key, "clockStart")) header.origin.clock_start = read_own_integer(value);
  if (is(key, "warmupSteps")) header.origin.warmup_steps = read_own_int32(value);
  if (is(key, "endedEarly")) header.origin.ended_early = read_own_text(value);
  if (is(key, "spans")) header.span_count = read_own_integer(value);
  if (is(key, "correlationOffset")) header.correlation_offset = read_own_int32(value);
  if (is(key, "lanes"))
    for (auto lane : value.get_array()) header.lanes.push_back(read_own_lane(lane.value()));
  if (is(key, "dropped"))
    for (auto entry : value.get_array()) header.dropped.push_back(read_own_dropped(entry.value()));
}

void append_own_lane(std::string& out, const OwnHeader::OwnLane& own) {
  out += "  {\"name\": ";
  append_own_text(out, own.lane.name);
  fmt::format_to(std::back_inserter(out),
                 R"(, "kind": "{}", "rank": {}, "device": {}, "process": {}, "thread": {}, )"
                 R"("group": )",
                 kLaneKinds[static_cast<std::size_t>(own.lane.kind)], own.lane.rank,
                 own.lane.device, own.lane.process, own.lane.thread);
  append_own_text(out, own.lane.group);
  fmt::format_to(std::back_inserter(out), R"(, "pid": {}, "tids": [{}]}})", own.pid,
                 fmt::join(own.tids, ", "));
}

void read_device(json::value value, FileHeader& header) {
  if (!is_object(value)) return;
  each_field(value, [&](const char* key, json::value field) {
    if (is(key, "name")) header.devices.push_back(text_of(token_of(field)));
  });
}

}  // namespace

bool read_header_field(const char* key, json::value value, FileHeader& header) {
  if (is(key, "schemaVersion")) {
    header.schema = integer_of(token_of(value));
  } else if (is(key, "baseTimeNanoseconds")) {
    header.base = integer_or(token_of(value), 0);
  } else if (is(key, "deviceProperties")) {
    if (is_array(value))
      for (auto device : value.get_array()) read_device(device.value(), header);
  } else if (is(key, "distributedInfo")) {
    if (!is_object(value)) return true;
    each_field(value, [&](const char* field_key, json::value field) {
      if (is(field_key, "rank")) header.rank = integer_of(token_of(field));
      if (is(field_key, "world_size")) header.world = integer_or(token_of(field), 0);
    });
  } else {
    return false;
  }
  return true;
}

OwnHeader read_own_header(std::string_view name, json::value value) {
  OwnHeader header;
  std::int64_t format = 0;
  try {
    if (!is_object(value)) throw Damaged();
    each_field(value, [&](const char* key, json::value field) {
      read_own_field(key, field, format, header);
    });
  } catch (const Damaged&) {
    format = 0;
  }
  if (format > kFormat)
    throw InputError(std::string(name) + ": was written by a newer Trainscope (format " +
                     std::to_string(format) + "; this one reads format " + std::to_string(kFormat) +
                     "); update this one");
  if (format != kFormat)
    throw InputError(std::string(name) +
                     ": its object \"trainscope\" is damaged; export the trace again, or remove "
                     "the object to read the rest as a plain trace");
  return header;
}

void append_own_header(std::string& out, const OwnHeader& header) {
  fmt::format_to(std::back_inserter(out), R"({{"format": {}, "origin": "{}", "subject": )", kFormat,
                 kOriginKinds[static_cast<std::size_t>(header.origin.kind)]);
  append_own_text(out, header.origin.subject);
  out += R"(, "detail": )";
  append_own_text(out, header.origin.detail);
  if (!header.origin.ended_early.empty()) {
    out += R"(, "endedEarly": )";
    append_own_text(out, header.origin.ended_early);
  }
  fmt::format_to(std::back_inserter(out),
                 R"(, "clockStart": {}, "warmupSteps": {}, "spans": {}, "correlationOffset": {}, )"
                 R"("lanes": [)",
                 header.origin.clock_start, header.origin.warmup_steps, header.span_count,
                 header.correlation_offset);
  std::string_view separator = "\n";
  for (const auto& lane : header.lanes) {
    out += separator;
    append_own_lane(out, lane);
    separator = ",\n";
  }
  out += R"(], "dropped": [)";
  separator = "";
  for (const Dropped& dropped : header.dropped) {
    out += separator;
    out += R"({"reason": )";
    append_own_text(out, dropped.reason);
    fmt::format_to(std::back_inserter(out), R"(, "count": {}}})", dropped.count);
    separator = ", ";
  }
  out += "]}";
}

}  // namespace trainscope::trace::chrome
