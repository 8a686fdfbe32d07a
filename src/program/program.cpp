#include "program/program.h"

namespace trainscope::program {

std::string_view name_of(Role role) {
  switch (role) {
    case Role::kParameter:
      return "parameters";
    case Role::kGradient:
      return "gradients";
    case Role::kOptimizerState:
      return "optimizer state";
    case Role::kActivation:
      return "activations";
    case Role::kBatch:
      return "batch";
    case Role::kWorkspace:
      return "workspace";
  }
  return "";
}

std::string_view name_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return "all_reduce";
    case CollectiveKind::kAllGather:
      return "all_gather";
    case CollectiveKind::kReduceScatter:
      return "reduce_scatter";
    case CollectiveKind::kBroadcast:
      return "broadcast";
    case CollectiveKind::kSendReceive:
      return "send_recv";
    case CollectiveKind::kReduce:
      return "reduce";
  }
  return "";
}

Communicator Communicator::group(int number) const {
  Communicator other = *this;
  for (int rank = 0; rank < static_cast<int>(gpus.size()); ++rank)
    other.gpus[static_cast<std::size_t>(rank)] = gpu_of(rank, number);
  return other;
}

Index Program::intern(std::string_view name) {
  const auto [entry, added] =
      name_ids_.try_emplace(std::string(name), static_cast<Index>(names.size()));
  if (added) names.emplace_back(name);
  return entry->second;
}

std::int64_t size_of(ElementType type) {
  switch (type) {
    case ElementType::kInt64:
      return 8;
    case ElementType::kFp32:
    case ElementType::kTf32:
    case ElementType::kInt32:
      return 4;
    case ElementType::kFp16:
    case ElementType::kBf16:
      return 2;
    case ElementType::kBool:
      return 1;
  }
  return 4;
}

const Copy* copy_of(const Action& action) {
  if (const auto* copy = std::get_if<Copy>(&action)) return copy;
  const auto* scalar = std::get_if<ReadScalar>(&action);
  return scalar ? &scalar->copy : nullptr;
}

ElementType type_of(const Program& program, const Collective& collective) {
  // FSDP's copy into what is gathered casts, and what it sends is named as it was before.
  const bool gathers =
      collective.kind == CollectiveKind::kAllGather && collective.receive != kNoIndex;
  const Index payload =
      collective.send != kNoIndex && !gathers ? collective.send : collective.receive;
  if (payload == kNoIndex) return ElementType::kFp32;
  for (const Index buffer : program.payloads[payload])
    if (program.buffers[buffer].type != ElementType::kInt64) return program.buffers[buffer].type;
  return ElementType::kFp32;
}

Index stream_of(const Action& action) {
  if (const auto* launch = std::get_if<Launch>(&action)) return launch->stream;
  if (const auto* graph = std::get_if<GraphLaunch>(&action)) return graph->stream;
  if (const auto* collective = std::get_if<Collective>(&action)) return collective->stream;
  const Copy* copy = copy_of(action);
  return copy ? copy->stream : kNoIndex;
}

std::vector<std::int64_t> graph_nodes(const Program& program) {
  std::vector<std::int64_t> nodes(program.graphs.size(), 0);
  for (const Thread& thread : program.threads) {
    const BeginCapture* capture = nullptr;
    for (const Command& command : thread.commands) {
      if (const auto* begin = std::get_if<BeginCapture>(&command.action)) capture = begin;
      if (std::holds_alternative<EndCapture>(command.action)) capture = nullptr;
      const auto* launch = std::get_if<Launch>(&command.action);
      if (capture && launch && launch->stream == capture->stream) ++nodes[capture->graph];
    }
  }
  return nodes;
}

}  // namespace trainscope::program
