// The vendor's library for collectives, of the emulated GPUs: each rank has a kernel, which waits
// for the others; the last of them to run does the work of all. With ranks in other processes
// collectives are one after another, whatever their groups: each holds the device.

#include <algorithm>
#include <utility>

#include "cuda/emulated_device.h"
#include "host/float_types.h"
#include "host/ring.h"

namespace trainscope::test {

std::string EmulatedDevice::join(const std::vector<cuda::RankGroup>& groups) {
  if (!options_.has_library) return "the library for them is missing";
  groups_ = groups;
  return "";
}

std::string EmulatedDevice::join(const cuda::Peers& peers) {
  if (!peers.who_cannot(options_.gather ? "" : "it is missing").empty())
    return "the library for them is missing";
  peers_ = peers;
  groups_ = peers.groups;
  return "";
}

namespace {

using Numbers = std::vector<float>;

// Numbers of a collective in memory, and back; bytes are numbers, too.
Numbers read(const void* memory, cuda::CollectiveUnit unit, std::size_t count) {
  Numbers numbers(count);
  for (std::size_t i = 0; i < count; ++i) switch (unit) {
      case cuda::CollectiveUnit::kFloat:
        numbers[i] = static_cast<const float*>(memory)[i];
        break;
      case cuda::CollectiveUnit::kHalf:
        numbers[i] = host::to_float(static_cast<const host::Float16*>(memory)[i]);
        break;
      case cuda::CollectiveUnit::kBfloat16:
        numbers[i] = host::to_float(static_cast<const host::Bfloat16*>(memory)[i]);
        break;
      case cuda::CollectiveUnit::kByte:
        numbers[i] = static_cast<const unsigned char*>(memory)[i];
        break;
    }
  return numbers;
}

void write(const Numbers& numbers, cuda::CollectiveUnit unit, void* memory) {
  for (std::size_t i = 0; i < numbers.size(); ++i) switch (unit) {
      case cuda::CollectiveUnit::kFloat:
        static_cast<float*>(memory)[i] = numbers[i];
        break;
      case cuda::CollectiveUnit::kHalf:
        static_cast<host::Float16*>(memory)[i] = host::to_float16(numbers[i]);
        break;
      case cuda::CollectiveUnit::kBfloat16:
        static_cast<host::Bfloat16*>(memory)[i] = host::to_bfloat16(numbers[i]);
        break;
      case cuda::CollectiveUnit::kByte:
        static_cast<unsigned char*>(memory)[i] = static_cast<unsigned char>(numbers[i]);
        break;
    }
}

host::NumberFormat format_of(cuda::CollectiveUnit unit) {
  if (unit == cuda::CollectiveUnit::kHalf) return host::NumberFormat::kFloat16;
  return unit == cuda::CollectiveUnit::kBfloat16 ? host::NumberFormat::kBfloat16
                                                 : host::NumberFormat::kFloat32;
}

// What each rank gives, and gets, of a larger buffer of so many units.
std::size_t given_of(program::CollectiveKind kind, std::size_t units, std::size_t ranks) {
  return kind == program::CollectiveKind::kAllGather ? units / ranks : units;
}
std::size_t gotten_of(program::CollectiveKind kind, std::size_t units, std::size_t ranks,
                      std::size_t rank) {
  if (kind == program::CollectiveKind::kReduce && rank > 0) return 0;
  return kind == program::CollectiveKind::kReduceScatter ? units / ranks : units;
}

// By rank.
std::vector<Numbers> carry_out(program::CollectiveKind kind, bool maximum,
                               cuda::CollectiveUnit unit, std::size_t units,
                               std::vector<Numbers> given) {
  std::vector<Numbers> gotten;
  for (std::size_t rank = 0; rank < given.size(); ++rank)
    gotten.emplace_back(gotten_of(kind, units, given.size(), rank));
  std::vector<host::Pieces> gives, gets;
  for (std::size_t rank = 0; rank < given.size(); ++rank) {
    gives.push_back({host::Results(given[rank])});
    gets.push_back({host::Results(gotten[rank])});
  }
  std::vector<float> room;
  program::Collective collective;
  collective.kind = kind;
  collective.maximum = maximum;
  host::carry_out(collective, format_of(unit), gives, gets, room);
  return gotten;
}

}  // namespace

// What each of two gives, or nothing, comes over the wire.
void EmulatedDevice::exchange_with_other(const cuda::RankGroup& group, std::size_t bytes,
                                         const cuda::RankShare& mine) const {
  const std::string given =
      mine.give ? std::string(static_cast<const char*>(mine.give), bytes) : std::string();
  const std::vector<std::string> all = options_.gather(group, given);
  const std::string& gotten = all[group.gpus.front() == peers_.rank ? 1 : 0];
  if (gotten.size() != (mine.get ? bytes : 0))
    throw Error(Fault::kInternal, "of two ranks one does not receive what the other sends");
  std::ranges::copy(gotten, static_cast<char*>(mine.get));
}

// What all give comes over the wire, and each process works out the whole.
void EmulatedDevice::work_with_others(const cuda::RankGroup& group, program::CollectiveKind kind,
                                      cuda::CollectiveUnit unit, std::int64_t units,
                                      const cuda::RankShare& mine) const {
  const auto all = static_cast<std::size_t>(units);
  const std::size_t count = given_of(kind, all, group.gpus.size());
  const std::string bytes(static_cast<const char*>(mine.give),
                          count * static_cast<std::size_t>(cuda::bytes_of(unit)));
  std::vector<Numbers> given;
  for (const std::string& one : options_.gather(group, bytes))
    given.push_back(read(one.data(), unit, count));
  const auto rank = std::ranges::find(group.gpus, peers_.rank) - group.gpus.begin();
  const std::vector<Numbers> gotten = carry_out(kind, mine.maximum, unit, all, std::move(given));
  write(gotten[static_cast<std::size_t>(rank)], unit, mine.get);
}

void EmulatedDevice::add_library_kernel(program::CollectiveKind kind, const cuda::RankShare& rank,
                                        const std::vector<OpId>& others) {
  Work work;
  work.duration = 5000;
  work.is_told = true;
  work.activity.name = "ncclDevKernel_" + std::string(program::name_of(kind));
  work.activity.gpu = streams_[rank.stream].gpu;
  const OpId op = enqueue_op(rank.stream, std::move(work));
  ops_[op].before.insert(ops_[op].before.end(), others.begin(), others.end());
}

void EmulatedDevice::together(std::size_t group, program::CollectiveKind kind,
                              cuda::CollectiveUnit unit, std::int64_t units,
                              const std::vector<cuda::RankShare>& ranks) {
  const std::lock_guard held(mutex_);
  host_call();
  if (peers_.ranks == 1 && ranks.size() != groups_.at(group).gpus.size())
    throw Error(Fault::kInternal, "a collective has not all ranks of its group");
  current_[std::this_thread::get_id()] = ranks.front().call;
  std::vector<OpId> gates;
  for (const cuda::RankShare& rank : ranks) gates.push_back(enqueue_op(rank.stream, {}));
  Work sums;
  sums.run = [this, group, kind, unit, units, ranks] {
    if (kind == program::CollectiveKind::kSendReceive)
      return exchange_with_other(
          groups_[group],
          static_cast<std::size_t>(units) * static_cast<std::size_t>(cuda::bytes_of(unit)),
          ranks.front());
    if (peers_.ranks > 1) return work_with_others(groups_[group], kind, unit, units, ranks.front());
    const auto all = static_cast<std::size_t>(units);
    std::vector<Numbers> given;
    for (const cuda::RankShare& rank : ranks)
      given.push_back(read(rank.give, unit, given_of(kind, all, ranks.size())));
    const std::vector<Numbers> gotten =
        carry_out(kind, ranks.front().maximum, unit, all, std::move(given));
    for (std::size_t i = 0; i < ranks.size(); ++i) write(gotten[i], unit, ranks[i].get);
  };
  const OpId all = enqueue_op(ranks.front().stream, std::move(sums));
  ops_[all].before.insert(ops_[all].before.end(), gates.begin(), gates.end());
  if (peers_.ranks > 1 && last_together_ != kNoOp) ops_[all].before.push_back(last_together_);
  last_together_ = all;
  for (const cuda::RankShare& rank : ranks) add_library_kernel(kind, rank, {all});
  current_.erase(std::this_thread::get_id());
}

}  // namespace trainscope::test
