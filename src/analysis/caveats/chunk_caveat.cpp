#include "analysis/caveats/chunk_caveat.h"

#include <set>
#include <tuple>

#include "sim/collectives/chunk_schedule.h"
#include "sim/collectives/collective_model.h"

namespace trainscope::analysis {
namespace {

using Call = std::tuple<program::Index, program::CollectiveKind, std::int64_t>;

// Each that is different from the others, of one thread of many that do the same.
std::set<Call> calls_of(const program::Program& program) {
  std::set<Call> calls;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* one = std::get_if<program::Collective>(&command.action))
        calls.insert({one->communicator, one->kind, one->bytes});
  return calls;
}

}  // namespace

std::string chunk_caveat(const program::Config& config, const program::Program& program,
                         const machine::Machine& machine) {
  if (!config.flag("collective.expanded") || config.word("collective.algorithm") != "auto")
    return "";
  const std::set<Call> calls = calls_of(program);
  for (const auto& [group, kind, bytes] : calls) {
    const program::Communicator& communicator = program.communicators[group];
    if (communicator.ranks == 1 || kind == program::CollectiveKind::kSendReceive) return "";
    if (sim::has_schedule(sim::plan_collective(machine, communicator, kind, bytes).algorithm))
      return "";
  }
  if (calls.empty()) return "";
  return "collective.expanded changes nothing here: NCCL chooses NVLS, whose sums the switch "
         "makes, without chunks; set collective.algorithm to ring or tree to see some";
}

}  // namespace trainscope::analysis
