#include "cuda/plugin/nccl.h"

#include <nccl.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "cuda/meetings.h"
#include "cuda/plugin/cupti_tracer.h"
#include "cuda/plugin/require.h"

namespace trainscope::cuda {

#define TRAINSCOPE_NCCL(call) require(static_cast<int>(call), #call, __FILE__, __LINE__)

struct Nccl::Functions {
  decltype(&ncclCommInitAll) init_all = nullptr;
  decltype(&ncclGetUniqueId) unique_id = nullptr;
  decltype(&ncclCommInitRank) init_rank = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclCommGetAsyncError) async_error = nullptr;
  decltype(&ncclGetErrorString) error_words = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclReduce) reduce = nullptr;

  bool find(const Library& library) {
    const auto get = [&](auto& function, const char* name) { return library.find(function, name); };
    return get(init_all, "ncclCommInitAll") && get(unique_id, "ncclGetUniqueId") &&
           get(init_rank, "ncclCommInitRank") && get(destroy, "ncclCommDestroy") &&
           get(abort, "ncclCommAbort") && get(async_error, "ncclCommGetAsyncError") &&
           get(error_words, "ncclGetErrorString") && get(last_error, "ncclGetLastError") &&
           get(group_start, "ncclGroupStart") && get(group_end, "ncclGroupEnd") &&
           get(all_reduce, "ncclAllReduce") && get(all_gather, "ncclAllGather") &&
           get(reduce_scatter, "ncclReduceScatter") && get(broadcast, "ncclBroadcast") &&
           get(reduce, "ncclReduce");
  }

  ncclResult_t call(program::CollectiveKind kind, ncclDataType_t type, std::size_t units,
                    std::size_t ranks, const Share& share, ncclComm_t rank) const {
    using Kind = program::CollectiveKind;
    switch (kind) {
      case Kind::kAllReduce:
        return all_reduce(share.give, share.get, units, type, ncclSum, rank, share.stream);
      case Kind::kAllGather:
        return all_gather(share.give, share.get, units / ranks, type, rank, share.stream);
      case Kind::kReduceScatter:
        return reduce_scatter(share.give, share.get, units / ranks, type, ncclSum, rank,
                              share.stream);
      case Kind::kBroadcast:
        return broadcast(share.give, share.get, units, type, 0, rank, share.stream);
      case Kind::kReduce:
        return reduce(share.give, share.get, units, type, ncclSum, 0, rank, share.stream);
      case Kind::kSendReceive:
        break;  // copied (cuda/collectives.h)
    }
    return ncclInvalidArgument;
  }
};

namespace {

ncclDataType_t type_of(CollectiveUnit unit) {
  switch (unit) {
    case CollectiveUnit::kHalf:
      return ncclHalf;
    case CollectiveUnit::kBfloat16:
      return ncclBfloat16;
    case CollectiveUnit::kByte:
      return ncclUint8;
    case CollectiveUnit::kFloat:
      break;
  }
  return ncclFloat;
}

}  // namespace

Nccl::Nccl(const std::vector<int>& gpus) : ranks_(gpus.size()), library_({"libnccl.so.2"}) {
  if (!load()) return;
  std::vector<ncclComm_t> made(gpus.size());
  const ncclResult_t status =
      functions_->init_all(made.data(), static_cast<int>(gpus.size()), gpus.data());
  if (status != ncclSuccess)
    refuse(status, "ncclCommInitAll");
  else
    communicators_.assign(made.begin(), made.end());
}

namespace {

// Others are looked at every so often: each look is a message.
constexpr Nanos kBetweenLooks = 1'000'000'000;

}  // namespace

// The first rank's id names the communicator. None goes on alone: it would wait for ever.
Nccl::Nccl(int gpu, const Peers& peers)
    : ranks_(static_cast<std::size_t>(peers.ranks)), library_({"libnccl.so.2"}), look_(peers.look) {
  ncclUniqueId id{};
  if (load() && peers.rank == 0) {
    const ncclResult_t status = functions_->unique_id(&id);
    if (status != ncclSuccess) refuse(status, "ncclGetUniqueId");
  }
  const std::string cannot = peers.who_cannot(why_not_);
  if (!why_not_.empty()) return;
  if (!cannot.empty()) {
    why_not_ = "NCCL does not start at " + cannot + ", where it is said why";
    return;
  }
  const std::string words = peers.from_first(std::string(id.internal, sizeof(id.internal)));
  words.copy(id.internal, sizeof(id.internal));
  TRAINSCOPE_CUDA(cudaSetDevice(gpu));
  // Ranks connect here, where all are, and not in the first collective, which one that hangs would
  // hold for ever (NCCL's user guide, "Environment Variables").
  setenv("NCCL_RUNTIME_CONNECT", "0", 0);
  ncclComm_t made = nullptr;
  const ncclResult_t status = functions_->init_rank(&made, peers.ranks, id, peers.rank);
  if (status != ncclSuccess) {
    refuse(status, "ncclCommInitRank");
    return;
  }
  communicators_ = {made};
  elsewhere_ = peers.ranks - 1;
}

bool Nccl::load() {
  if (!library_.is_there()) {
    why_not_ = "NCCL is missing (" + library_.why_not() + ")";
    return false;
  }
  functions_ = std::make_unique<Functions>();
  if (functions_->find(library_)) return true;
  why_not_ = "this NCCL lacks functions of NCCL 2.28";
  return false;
}

void Nccl::refuse(int status, const char* call) {
  why_not_ = std::string("NCCL does not start here (") +
             functions_->error_words(static_cast<ncclResult_t>(status)) + ", " + call + ": " +
             functions_->last_error(nullptr) + ")";
}

Nccl::~Nccl() {
  for (void* rank : communicators_) functions_->destroy(static_cast<ncclComm_t>(rank));
}

void Nccl::require(int status, const char* call, const char* file, int line) {
  const auto result = static_cast<ncclResult_t>(status);
  if (result == ncclSuccess || result == ncclInProgress) return;
  const std::string what = std::string(functions_->error_words(result)) + " (" + call + " at " +
                           place_of(file, line) + "; " + functions_->last_error(nullptr) + ")";
  abort();
  throw Error(Fault::kFailed, "NCCL failed: " + what + "; NCCL_DEBUG=INFO says more");
}

// Nothing can be done with them any more.
void Nccl::abort() {
  const std::lock_guard held(mutex_);
  for (void* rank : std::exchange(communicators_, {}))
    functions_->abort(static_cast<ncclComm_t>(rank));
}

void Nccl::carry_out(program::CollectiveKind kind, CollectiveUnit unit, std::size_t units,
                     const std::vector<Share>& ranks) {
  std::vector<void*> communicators;
  {
    const std::lock_guard held(mutex_);
    communicators = communicators_;
  }
  if (communicators.empty())
    throw Error(Fault::kFailed, "NCCL has failed in another rank's thread, which says why");
  // A group that has begun ends, whatever happened in it: nothing takes effect before.
  TRAINSCOPE_NCCL(functions_->group_start());
  ncclResult_t status = ncclSuccess;
  for (std::size_t i = 0; i < ranks.size() && status == ncclSuccess; ++i)
    status = functions_->call(kind, type_of(unit), units, ranks_, ranks[i],
                              static_cast<ncclComm_t>(communicators[i]));
  const ncclResult_t ended = functions_->group_end();
  TRAINSCOPE_NCCL(status == ncclSuccess ? ended : status);
}

// What the first communicator says that is not well. Held: no other rank's thread aborts it the
// while.
int Nccl::state() {
  const std::lock_guard held(mutex_);
  for (void* rank : communicators_) {
    ncclResult_t status = ncclSuccess;
    const ncclResult_t asked = functions_->async_error(static_cast<ncclComm_t>(rank), &status);
    if (asked != ncclSuccess) return asked;
    if (status != ncclSuccess && status != ncclInProgress) return status;
  }
  return ncclSuccess;
}

// NCCL does not see a process end that it shares memory with, nor one that has failed and lives.
std::string Nccl::look_at_others(Nanos begun) {
  const Nanos now = host_clock();
  if (!look_ || now - std::max<Nanos>(begun, looked_) < kBetweenLooks) return "";
  looked_ = now;
  try {
    return look_();
  } catch (const Error& error) {
    return error.what();
  }
}

void Nccl::require_alive(Nanos begun) {
  TRAINSCOPE_NCCL(state());
  if (const std::string why = look_at_others(begun); !why.empty()) {
    abort();
    throw Error(Fault::kFailed, "collectives cannot go on: " + why);
  }
  if (host_clock() - begun <= Meetings::kTimeOut) return;
  abort();
  throw Error(Fault::kFailed,
              "NCCL was not done with a collective after ten minutes: a rank of it never came, or "
              "a link between the GPUs is broken; NCCL_DEBUG=INFO says more");
}

}  // namespace trainscope::cuda
