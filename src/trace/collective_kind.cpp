#include "trace/collective_kind.h"

#include <utility>

namespace trainscope::trace {

// "reduce" is part of other names: it comes behind them.
std::optional<CollectiveKind> kind_of(std::string_view operation) {
  constexpr std::pair<std::string_view, CollectiveKind> kParts[] = {
      {"allreduce", CollectiveKind::kAllReduce},
      {"allgather", CollectiveKind::kAllGather},
      {"all_to_all", CollectiveKind::kAllToAll},
      {"alltoall", CollectiveKind::kAllToAll},
      {"reduce_scatter", CollectiveKind::kReduceScatter},
      {"broadcast", CollectiveKind::kBroadcast},
      {"reduce", CollectiveKind::kReduce},
      {"send", CollectiveKind::kSendReceive},
      {"recv", CollectiveKind::kSendReceive}};
  for (const auto& [part, kind] : kParts)
    if (operation.find(part) != std::string_view::npos) return kind;
  return std::nullopt;
}

}  // namespace trainscope::trace
