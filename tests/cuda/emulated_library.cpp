// The vendor's library for collectives, of the emulated GPUs: each rank has a kernel, which waits
// for the others; the last of them to run does the work of all.

#include <algorithm>

#include "cuda/emulated_device.h"
#include "host/ring.h"

namespace trainscope::test {

std::string EmulatedDevice::join(int) {
  return options_.has_library ? "" : "the library for them is missing";
}

std::string EmulatedDevice::join(const cuda::Peers& peers) {
  if (!peers.who_cannot(options_.gather ? "" : "it is missing").empty())
    return "the library for them is missing";
  peers_ = peers;
  return "";
}

namespace {

// Carries a collective of whole buffers out, in place: by rank.
void carry_out_in_place(program::CollectiveKind kind, std::vector<std::vector<float>>& numbers) {
  std::vector<host::Pieces> gives, gets;
  for (std::vector<float>& one : numbers) {
    gives.push_back({host::Results(one)});
    const bool gets_some = kind != program::CollectiveKind::kReduce || gives.size() == 1;
    gets.push_back(gets_some ? host::Pieces{host::Results(one)} : host::Pieces());
  }
  std::vector<float> room;
  host::carry_out(kind, host::NumberFormat::kFloat32, gives, gets, room);
}

}  // namespace

// What all give comes over the wire, and each process works out the whole.
void EmulatedDevice::work_with_others(program::CollectiveKind kind, std::int64_t elements,
                                      const cuda::RankShare& mine) const {
  const auto count = static_cast<std::size_t>(elements);
  const std::string bytes(reinterpret_cast<const char*>(mine.give), count * sizeof(float));
  std::vector<std::vector<float>> numbers;
  for (const std::string& one : options_.gather(bytes)) {
    numbers.emplace_back(count);
    one.copy(reinterpret_cast<char*>(numbers.back().data()), one.size());
  }
  carry_out_in_place(kind, numbers);
  const std::vector<float>& own = numbers[static_cast<std::size_t>(peers_.rank)];
  std::copy(own.begin(), own.end(), mine.get);
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

void EmulatedDevice::together(program::CollectiveKind kind, std::int64_t elements,
                              const std::vector<cuda::RankShare>& ranks) {
  const std::lock_guard held(mutex_);
  host_call();
  current_[std::this_thread::get_id()] = ranks.front().call;
  std::vector<OpId> gates;
  for (const cuda::RankShare& rank : ranks) gates.push_back(enqueue_op(rank.stream, {}));
  Work sums;
  sums.run = [this, kind, elements, ranks] {
    if (peers_.ranks > 1) return work_with_others(kind, elements, ranks.front());
    std::vector<host::Pieces> gives, gets;
    const auto count = static_cast<std::size_t>(elements);
    for (const cuda::RankShare& rank : ranks) {
      gives.push_back({host::Results(const_cast<float*>(rank.give), count)});
      const bool gets_some = kind != program::CollectiveKind::kReduce || gives.size() == 1;
      gets.push_back(gets_some ? host::Pieces{host::Results(rank.get, count)} : host::Pieces());
    }
    std::vector<float> room;
    host::carry_out(kind, host::NumberFormat::kFloat32, gives, gets, room);
  };
  const OpId all = enqueue_op(ranks.front().stream, std::move(sums));
  ops_[all].before.insert(ops_[all].before.end(), gates.begin(), gates.end());
  for (const cuda::RankShare& rank : ranks) add_library_kernel(kind, rank, {all});
  current_.erase(std::this_thread::get_id());
}

}  // namespace trainscope::test
