#include "stand_in/communicator.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "stand_in/calls.h"
#include "stand_in/machine.h"
#include "stand_in/numbers.h"
#include "stand_in/options.h"

namespace trainscope::stand_in {
namespace {

std::string& words() {
  thread_local std::string one;
  return one;
}

}  // namespace

const std::string& last_words() {
  return words();
}
ncclResult_t failed(ncclResult_t status, const std::string& why) {
  words() = why;
  return status;
}
ncclResult_t wrong(const std::string& what) {
  breaks(cudaErrorInvalidValue, "a collective: " + what);
  return failed(ncclInvalidUsage, what);
}

namespace {

int ranks_of(const Share& one) {
  return one.comm->clique->ranks;
}

cudaDataType type_of(const Share& one) {
  return static_cast<cudaDataType>(one.asked.type);
}

bool lies_in_device(const Share& one) {
  const auto in_device = [&](const void* memory, std::size_t count) {
    const std::size_t bytes = bytes_of(type_of(one)) * count;
    return count == 0 || machine().memory().where(memory, bytes) == Where::kDevice;
  };
  const int rank = one.comm->rank, ranks = ranks_of(one);
  return in_device(one.give, given_by(one.asked, rank, ranks)) &&
         in_device(one.get, gotten_by(one.asked, rank, ranks));
}

std::vector<float> given_by(const Share& one) {
  std::vector<float> numbers(given_by(one.asked, one.comm->rank, ranks_of(one)));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = number_at(one.give, type_of(one), i);
  return numbers;
}

void put(const std::vector<float>& numbers, const Share& one) {
  for (std::size_t i = 0; i < numbers.size(); ++i) put_number(one.get, type_of(one), i, numbers[i]);
}

// Of all ranks, in their order. What is given is read before anything is written: buffers may be
// the same.
void carry_out(const std::vector<Share>& ranks) {
  Numbers given;
  for (const Share& one : ranks) given.push_back(given_by(one));
  const Numbers gotten = carry_out(ranks.front().asked, given);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) put(gotten[rank], ranks[rank]);
}

// NCCL has the GPU of a communicator as the thread's: the legacy default stream is that one's.
template <typename Body>
auto on_gpu_of(ncclComm_t comm, const Body& body) {
  const int before = std::exchange(thread_state().gpu, comm->gpu);
  const auto result = body();
  thread_state().gpu = before;
  return result;
}

// A collective's kernel, behind what brings it its numbers; it began with `since`.
ncclResult_t put_kernel(const Share& one, std::function<void()> run, const OpRef& since,
                        const OpRef& behind, OpRef* op = nullptr) {
  Work kernel{.kind = WorkKind::kKernel,
              .name = "ncclDevKernel_Generic",
              .run = std::move(run),
              .blocks = {1, 1, 1},
              .threads = {512, 1, 1},
              .since = since};
  const cudaError_t status = on_gpu_of(one.comm, [&] {
    return call("cuLaunchKernelExC", [&] {
      return machine().put(one.stream, std::move(kernel), {.behind = {behind}, .op = op});
    });
  });
  return status == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

// Marks on all streams, the collective behind them, and its kernels on all streams behind it.
ncclResult_t put(const std::vector<Share>& ranks) {
  std::vector<OpRef> come(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (on_gpu_of(ranks[i].comm, [&] {
          return machine().put(ranks[i].stream, {}, {.op = &come[i]});
        }) != cudaSuccess)
      return ncclUnhandledCudaError;
  Work sums;
  sums.run = [ranks] { carry_out(ranks); };
  const OpRef done = machine().queue().add(std::move(sums), 0, 0, come);
  for (const Share& one : ranks)
    if (const ncclResult_t status = put_kernel(one, {}, done, done); status != ncclSuccess)
      return status;
  return ncclSuccess;
}

ncclResult_t check(const Share& one) {
  const int gpu = on_gpu_of(one.comm, [&] { return machine().gpu_of(one.stream); });
  if (gpu != one.comm->gpu) return wrong("a stream of another GPU");
  if (machine().is_captured(one.stream)) return wrong("a captured stream");
  if (one.asked.root < 0 || one.asked.root >= ranks_of(one)) return wrong("a root that is no rank");
  return lies_in_device(one) ? ncclSuccess
                             : wrong("a buffer is not one piece of a device's memory");
}

ncclResult_t check(const std::vector<Share>& ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].comm->rank != static_cast<int>(i)) return wrong("a rank takes part twice, or not");
    if (ranks[i].asked != ranks.front().asked) return wrong("ranks call for different ones");
    if (const ncclResult_t status = check(ranks[i]); status != ncclSuccess) return status;
  }
  return static_cast<int>(ranks.size()) == ranks_of(ranks.front()) ? ncclSuccess
                                                                   : wrong("a rank is missing");
}

}  // namespace

ncclResult_t put_of_all(std::vector<Share> ranks) {
  std::sort(ranks.begin(), ranks.end(),
            [](const Share& a, const Share& b) { return a.comm->rank < b.comm->rank; });
  const ncclResult_t status = check(ranks);
  return status == ncclSuccess ? put(ranks) : status;
}

ncclResult_t state_of(const Member& member) {
  switch (member.state()) {
    case Member::State::kGone:
      return failed(ncclRemoteError, member.why());
    case Member::State::kBroken:
      return failed(ncclInvalidUsage, member.why());
    default:
      return ncclSuccess;
  }
}

ncclResult_t state_of(ncclComm_t comm) {
  if (!comm->member) return ncclSuccess;
  const ncclResult_t status = state_of(*comm->member);
  if (status == ncclInvalidUsage && !std::exchange(comm->is_broken, true))
    wrong(comm->member->why());
  return status == ncclRemoteError && options().deaf ? ncclSuccess : status;
}

namespace {

// The last collective of each GPU.
class LastOfGpus {
 public:
  OpRef of(int gpu) {
    const std::lock_guard held(mutex_);
    return last_[gpu];
  }
  void set(int gpu, const OpRef& op) {
    const std::lock_guard held(mutex_);
    last_[gpu] = op;
  }

 private:
  std::mutex mutex_;
  std::map<int, OpRef> last_;
};
LastOfGpus& last_of_gpus() {
  static LastOfGpus one;
  return one;
}

}  // namespace

// Of this process's rank: what it gives leaves when the stream is there; until what it gets has
// come, a mark is held, and no thread with it. A GPU's collectives are one after another in the
// order of their calls, whatever their streams and communicators, as where each fills the GPU:
// ranks that call in different orders wait for ever.
ncclResult_t put_alone(const Share& one) {
  if (const ncclResult_t status = state_of(one.comm); status != ncclSuccess) return status;
  if (const ncclResult_t status = check(one); status != ncclSuccess) return status;
  const OpRef gate = machine().queue().add_held();
  const auto gotten = std::make_shared<std::vector<float>>();
  Work gives;
  gives.run = [one, gate, gotten] {
    one.comm->member->give(one.asked, given_by(one), [gate, gotten](const auto& numbers) {
      *gotten = numbers;
      machine().queue().release(gate);
    });
  };
  const OpRef before = last_of_gpus().of(one.comm->gpu);
  if (on_gpu_of(one.comm, [&] {
        return machine().put(one.stream, std::move(gives),
                             {.behind = {before}, .op = &one.comm->last});
      }) != cudaSuccess) {
    machine().queue().release(gate);
    return ncclUnhandledCudaError;
  }
  const OpRef come = one.comm->last;
  const auto take = [one, gotten] { put(*gotten, one); };
  const ncclResult_t status = put_kernel(one, take, come, gate, &one.comm->last);
  last_of_gpus().set(one.comm->gpu, one.comm->last);
  return status;
}

}  // namespace trainscope::stand_in
