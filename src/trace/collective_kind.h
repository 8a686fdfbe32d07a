// Which operation a collective is, by the name that a trace has for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace trainscope::trace {

enum class CollectiveKind : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kSendReceive
};

// Of CollectiveDetail::operation, as PyTorch's profiler names them; variants of one kind share its
// name ("_allreduce_base", "allgather_into_tensor_coalesced"). Nothing for others: "barrier".
std::optional<CollectiveKind> kind_of(std::string_view operation);

}  // namespace trainscope::trace
