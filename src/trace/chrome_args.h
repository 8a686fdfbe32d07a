// The args of one event, key by key. Inline, as all on-demand parsing (see chrome_json.h).
#pragma once

#include <string_view>

#include "trace/chrome_event.h"
#include "trace/chrome_json.h"

namespace trainscope::trace::chrome {

inline void read_triple(json::value value, std::int64_t (&triple)[3]) {
  if (!is_array(value)) return;
  std::size_t i = 0;
  for (auto element : value.get_array())
    if (i < 3) triple[i++] = integer_or(token_of(element.value()), 1);
}

// An arg whose token is kept as it stands.
template <typename Args>
struct TokenArg {
  std::string_view key;
  std::string_view Args::* token;
};

// `key` starts behind its opening quote; the padding makes it harmless to look beyond it.
template <typename Args, std::size_t kSize>
inline bool keep_token(const TokenArg<Args> (&known)[kSize], const char* key, json::value value,
                       Args& args) {
  for (const TokenArg<Args>& arg : known) {
    if (std::memcmp(key, arg.key.data(), arg.key.size()) != 0 || key[arg.key.size()] != '"')
      continue;
    args.*arg.token = token_of(value);
    return true;
  }
  return false;
}

inline constexpr TokenArg<EventArgs> kCapitalArgs[] = {
    {"Collective name", &EventArgs::collective},
    {"In msg nelems", &EventArgs::elements_in},
    {"Out msg nelems", &EventArgs::elements_out},
    {"Group size", &EventArgs::group_size},
    {"Process Group Name", &EventArgs::group},
    {"Process Group Description", &EventArgs::group_description},
    {"Process Group Ranks", &EventArgs::members},
    {"Seq", &EventArgs::sequence},
    {"Sequence number", &EventArgs::node},
    {"Fwd thread id", &EventArgs::forward_thread},
    {"Bytes", &EventArgs::allocated},
    {"Total Allocated", &EventArgs::total_allocated},
    {"Total Reserved", &EventArgs::total_reserved},
    {"Device Type", &EventArgs::device_type},
    {"Device Id", &EventArgs::device_id},
};
inline constexpr TokenArg<EventArgs> kSmallArgs[] = {
    {"bytes", &EventArgs::bytes},
    {"registers per thread", &EventArgs::registers},
    {"shared memory", &EventArgs::shared},
    {"est. achieved occupancy %", &EventArgs::occupancy},
    {"dtype", &EventArgs::type},
    {"cuda_sync_kind", &EventArgs::sync_kind},
    {"name", &EventArgs::name},
};

inline void read_arg(const char* key, json::value value, EventArgs& args) {
  if (key[0] >= 'A' && key[0] <= 'Z') {
    keep_token(kCapitalArgs, key, value, args);
  } else if (is(key, "stream")) {
    args.stream = integer_of(token_of(value));
  } else if (is(key, "device") || (is(key, "inDevice") && !args.device)) {
    args.device = integer_of(token_of(value));  // inDevice: of a copy between two devices
  } else if (is(key, "correlation")) {
    args.correlation = integer_of(token_of(value));
  } else if (is(key, "grid")) {
    read_triple(value, args.grid);
  } else if (is(key, "block")) {
    read_triple(value, args.block);
  } else {
    keep_token(kSmallArgs, key, value, args);
  }
}

inline constexpr TokenArg<OwnArgs> kOwnArgs[] = {
    {"span", &OwnArgs::span},
    {"cause", &OwnArgs::cause},
    {"cause span", &OwnArgs::cause_span},
    {"category", &OwnArgs::category},
    {"line", &OwnArgs::line},
    {"flow", &OwnArgs::flow},
    {"correlation", &OwnArgs::correlation},
    {"device", &OwnArgs::device},
    {"stream", &OwnArgs::stream},
    {"detail", &OwnArgs::detail},
    {"name", &OwnArgs::name},
    {"name bytes", &OwnArgs::name_bytes},
    {"kind bytes", &OwnArgs::kind_bytes},
    {"operation bytes", &OwnArgs::operation_bytes},
    {"type bytes", &OwnArgs::type_bytes},
    {"group bytes", &OwnArgs::group_bytes},
    {"members bytes", &OwnArgs::members_bytes},
    {"algorithm", &OwnArgs::algorithm},
    {"algorithm bytes", &OwnArgs::algorithm_bytes},
    {"protocol", &OwnArgs::protocol},
    {"protocol bytes", &OwnArgs::protocol_bytes},
    {"flops", &OwnArgs::flops},
    {"bytes", &OwnArgs::bytes},
    {"occupancy", &OwnArgs::occupancy},
    {"from", &OwnArgs::from},
    {"to", &OwnArgs::to},
    {"value", &OwnArgs::value},
};

inline void read_own_arg(const char* key, json::value value, OwnArgs& args) {
  constexpr std::string_view kPrefix = "Trainscope ";
  if (std::memcmp(key, kPrefix.data(), kPrefix.size()) == 0)
    keep_token(kOwnArgs, key + kPrefix.size(), value, args);
}

}  // namespace trainscope::trace::chrome
