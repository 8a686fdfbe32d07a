#include "trace/chrome_details.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace trainscope::trace::chrome {
namespace {

enum class DetailKind { kNone, kKernel, kCopy, kCollective, kSync };
constexpr std::array<std::string_view, 5> kDetailWords = {"none", "kernel", "copy", "collective",
                                                          "sync"};

// What an event of this kind has unless it says otherwise.
DetailKind usual_detail(EventKind kind, const NameFacts& facts) {
  switch (kind) {
    case EventKind::kKernel:
      return facts.collective ? DetailKind::kCollective : DetailKind::kKernel;
    case EventKind::kMemcpy:
    case EventKind::kMemset:
      return DetailKind::kCopy;
    case EventKind::kSync:
      return DetailKind::kSync;
    default:
      return DetailKind::kNone;
  }
}

DetailKind kind_of(const Detail* detail) {
  if (!detail) return DetailKind::kNone;
  return static_cast<DetailKind>(detail->index() + 1);
}
static_assert(std::is_same_v<std::variant_alternative_t<0, Detail>, KernelDetail>);
static_assert(std::is_same_v<std::variant_alternative_t<1, Detail>, CopyDetail>);
static_assert(std::is_same_v<std::variant_alternative_t<2, Detail>, CollectiveDetail>);
static_assert(std::is_same_v<std::variant_alternative_t<3, Detail>, SyncDetail>);

std::int32_t to_int32(std::int64_t value, std::int32_t otherwise) {
  return value == static_cast<std::int32_t>(value) ? static_cast<std::int32_t>(value) : otherwise;
}

std::int32_t int32_or(std::string_view token, std::int32_t otherwise) {
  return to_int32(integer_or(token, otherwise), otherwise);
}

std::string exact_text(std::string_view token, std::string_view bytes_token) {
  return bytes_token.empty() ? text_of(token) : bytes_from_text(text_of(bytes_token));
}

Memory memory_of(std::string_view token, Memory otherwise) {
  if (token.empty()) return otherwise;
  for (int i = 0; i <= static_cast<int>(Memory::kArray); ++i)
    if (inner(token) == name_of(static_cast<Memory>(i))) return static_cast<Memory>(i);
  return otherwise;
}

// More than any GPU copies: sums of such sizes stay whole numbers.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

std::int64_t size_or_none(std::int64_t size) {
  return std::clamp<std::int64_t>(size, 0, kMostBytes);
}

// Where an operation ran: our own word, else PyTorch's, else the lane's.
struct Place {
  std::int32_t device, stream;
};

Place read_place(const Event& event, Place lane) {
  const std::int32_t device = to_int32(event.args.device.value_or(lane.device), lane.device);
  const std::int32_t stream = to_int32(event.args.stream.value_or(lane.stream), lane.stream);
  return {int32_or(event.own.device, device), int32_or(event.own.stream, stream)};
}

double read_occupancy(const Event& event) {
  const double percent = double_or(event.args.occupancy, -1);
  return double_or(event.own.occupancy, percent < 0 ? -1 : percent / 100);
}

KernelDetail read_kernel(const Event& event, Place lane) {
  KernelDetail kernel;
  const Place place = read_place(event, lane);
  kernel.device = place.device;
  kernel.stream = place.stream;
  for (int i = 0; i < 3; ++i) {
    kernel.grid[i] = to_int32(event.args.grid[i], 1);
    kernel.block[i] = to_int32(event.args.block[i], 1);
  }
  kernel.registers_per_thread = int32_or(event.args.registers, 0);
  kernel.shared_bytes = integer_or(event.args.shared, 0);
  kernel.flops = double_or(event.own.flops, 0);
  kernel.bytes = double_or(event.own.bytes, 0);
  kernel.occupancy = read_occupancy(event);
  return kernel;
}

CopyDetail read_copy(const Event& event, const NameFacts& facts, Place lane) {
  CopyDetail copy;
  const Place place = read_place(event, lane);
  copy.device = place.device;
  copy.stream = place.stream;
  copy.bytes = size_or_none(integer_or(event.args.bytes, 0));
  const bool memset = event.kind == EventKind::kMemset;
  copy.from = memory_of(event.own.from, facts.from);
  copy.to = memory_of(event.own.to, memset ? Memory::kDevice : facts.to);
  return copy;
}

// "allreduce" of "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)": not every trace has the argument.
std::string operation_of(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kOperations[] = {
      {"AllReduce", "allreduce"}, {"AllGather", "allgather"}, {"ReduceScatter", "reduce_scatter"},
      {"Broadcast", "broadcast"}, {"Reduce", "reduce"},       {"SendRecv", "send_recv"},
  };
  for (const auto& [part, operation] : kOperations)
    if (name.find(part) != name.npos) return std::string(operation);
  return "";
}

// "8 (TENSOR_MODEL_PARALLEL_GROUP)": with what the job calls it, where that tells more than that it
// is the one of all ranks (torch/distributed/distributed_c10d.py).
std::string group_of(const Event& event) {
  std::string group = exact_text(event.args.group, event.own.group_bytes);
  const std::string described = text_of(event.args.group_description);
  if (group.empty() || described.empty() || described == "undefined" || described == "default_pg")
    return group;
  return group + " (" + described + ")";
}

CollectiveDetail read_collective(const Event& event, Place lane) {
  CollectiveDetail collective;
  collective.operation = exact_text(event.args.collective, event.own.operation_bytes);
  if (event.args.collective.empty()) collective.operation = operation_of(inner(event.name));
  collective.type = exact_text(event.args.type, event.own.type_bytes);
  collective.elements_in = size_or_none(integer_or(event.args.elements_in, 0));
  collective.elements_out = size_or_none(integer_or(event.args.elements_out, 0));
  collective.group_size = int32_or(event.args.group_size, 0);
  collective.sequence = integer_or(event.args.sequence, -1);
  collective.kernel = read_kernel(event, lane);
  collective.group = group_of(event);
  collective.members = exact_text(event.args.members, event.own.members_bytes);
  collective.algorithm = exact_text(event.own.algorithm, event.own.algorithm_bytes);
  collective.protocol = exact_text(event.own.protocol, event.own.protocol_bytes);
  return collective;
}

SyncDetail read_sync(const Event& event, Place lane) {
  SyncDetail sync;
  const Place place = read_place(event, lane);
  sync.device = place.device;
  sync.stream = place.stream;
  sync.kind = exact_text(event.args.sync_kind.empty() ? event.name : event.args.sync_kind,
                         event.own.kind_bytes);
  return sync;
}

void append_place(ArgList& args, const ShownSpan& shown, std::int32_t device, std::int32_t stream) {
  if (!shown.on_stream || device != shown.device)
    args.number("Trainscope device", std::int64_t{device});
  if (!shown.on_stream || stream != shown.stream)
    args.number("Trainscope stream", std::int64_t{stream});
}

double blocks_of(const KernelDetail& kernel) {
  return double(kernel.grid[0]) * kernel.grid[1] * kernel.grid[2];
}

double threads_of(const KernelDetail& kernel) {
  return double(kernel.block[0]) * kernel.block[1] * kernel.block[2];
}

void append_occupancy(ArgList& args, double occupancy) {
  double shown = -1;
  if (occupancy >= 0 && occupancy <= 1) {
    const auto percent = static_cast<std::int64_t>(std::lround(occupancy * 100));
    args.number("est. achieved occupancy %", percent);
    shown = static_cast<double>(percent) / 100;
  }
  if (shown != occupancy) args.number("Trainscope occupancy", occupancy);
}

void append_kernel(ArgList& args, const KernelDetail& kernel, const ShownSpan& shown) {
  append_place(args, shown, kernel.device, kernel.stream);
  args.number("registers per thread", std::int64_t{kernel.registers_per_thread});
  args.number("shared memory", kernel.shared_bytes);
  if (shown.multiprocessors > 0) {
    const double blocks = blocks_of(kernel) / shown.multiprocessors;
    args.number("blocks per SM", blocks);
    args.number("warps per SM", blocks * threads_of(kernel) / 32);
  }
  args.triple("grid", kernel.grid);
  args.triple("block", kernel.block);
  append_occupancy(args, kernel.occupancy);
  if (kernel.flops != 0) args.number("Trainscope flops", kernel.flops);
  if (kernel.bytes != 0) args.number("Trainscope bytes", kernel.bytes);
}

void append_copy(ArgList& args, const CopyDetail& copy, const ShownSpan& shown) {
  append_place(args, shown, copy.device, copy.stream);
  args.number("bytes", copy.bytes);
  if (shown.on_stream && shown.duration > 0)  // a byte per nanosecond is a GB/s
    args.number("memory bandwidth (GB/s)",
                static_cast<double>(copy.bytes) / static_cast<double>(shown.duration));
  const Memory to = shown.kind == EventKind::kMemset ? Memory::kDevice : shown.facts.to;
  if (copy.from != shown.facts.from) args.text("Trainscope from", name_of(copy.from));
  if (copy.to != to) args.text("Trainscope to", name_of(copy.to));
}

void append_collective(ArgList& args, const CollectiveDetail& collective, const ShownSpan& shown) {
  append_kernel(args, collective.kernel, shown);
  args.text("Collective name", "Trainscope operation bytes", collective.operation);
  args.number("In msg nelems", collective.elements_in);
  args.number("Out msg nelems", collective.elements_out);
  args.number("Group size", std::int64_t{collective.group_size});
  args.text("dtype", "Trainscope type bytes", collective.type);
  if (collective.sequence != -1) args.number("Seq", collective.sequence);
  if (!collective.group.empty())
    args.text("Process Group Name", "Trainscope group bytes", collective.group);
  if (!collective.members.empty())
    args.text("Process Group Ranks", "Trainscope members bytes", collective.members);
  if (!collective.algorithm.empty())
    args.text("Trainscope algorithm", "Trainscope algorithm bytes", collective.algorithm);
  if (!collective.protocol.empty())
    args.text("Trainscope protocol", "Trainscope protocol bytes", collective.protocol);
}

void append_sync(ArgList& args, const SyncDetail& sync, const ShownSpan& shown) {
  append_place(args, shown, sync.device, sync.stream);
  args.text("cuda_sync_kind", "Trainscope kind bytes", sync.kind);
}

}  // namespace

std::optional<Detail> read_detail(const Event& event, const NameFacts& facts, std::int32_t device,
                                  std::int32_t stream) {
  DetailKind kind = usual_detail(event.kind, facts);
  for (std::size_t i = 0; i < kDetailWords.size(); ++i)
    if (inner(event.own.detail) == kDetailWords[i]) kind = static_cast<DetailKind>(i);
  const Place lane{device, stream};
  switch (kind) {
    case DetailKind::kNone:
      return std::nullopt;
    case DetailKind::kKernel:
      return read_kernel(event, lane);
    case DetailKind::kCopy:
      return read_copy(event, facts, lane);
    case DetailKind::kCollective:
      return read_collective(event, lane);
    case DetailKind::kSync:
      return read_sync(event, lane);
  }
  return std::nullopt;
}

void ArgList::key(std::string_view key) {
  out_ += first_ ? "\"" : ", \"";
  first_ = false;
  out_ += key;
  out_ += "\": ";
}

void ArgList::text(std::string_view name, std::string_view value) {
  key(name);
  append_quoted(out_, value);
}

void ArgList::text(std::string_view name, std::string_view bytes_key, std::string_view value) {
  text(name, value);
  if (!is_utf8(value)) text(bytes_key, bytes_as_text(value));
}

void ArgList::number(std::string_view name, std::int64_t value) {
  key(name);
  out_ += fmt::format_int(value).c_str();
}

void ArgList::number(std::string_view name, double value) {
  if (!std::isfinite(value)) return;
  key(name);
  append_double(out_, value);
}

void ArgList::triple(std::string_view name, const std::int32_t (&value)[3]) {
  key(name);
  fmt::format_to(std::back_inserter(out_), "[{}, {}, {}]", value[0], value[1], value[2]);
}

void append_detail(ArgList& args, const Detail* detail, const ShownSpan& shown) {
  const DetailKind kind = kind_of(detail);
  if (kind != usual_detail(shown.kind, shown.facts))
    args.text("Trainscope detail", kDetailWords[static_cast<std::size_t>(kind)]);
  if (!detail) return;
  std::visit(
      [&](const auto& one) {
        using One = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<One, KernelDetail>) append_kernel(args, one, shown);
        if constexpr (std::is_same_v<One, CopyDetail>) append_copy(args, one, shown);
        if constexpr (std::is_same_v<One, CollectiveDetail>) append_collective(args, one, shown);
        if constexpr (std::is_same_v<One, SyncDetail>) append_sync(args, one, shown);
      },
      *detail);
}

}  // namespace trainscope::trace::chrome
