// NCCL's part: communicators of the GPUs of one process, and their collectives of FP32, added rank
// by rank. A collective begins when every rank's stream has come to it.

#include <nccl.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stand_in/calls.h"
#include "stand_in/machine.h"
#include "stand_in/options.h"
#include "stand_in/symbols.h"

using namespace trainscope;
using stand_in::machine;

namespace {

// What the communicators of one call of ncclCommInitAll have in common.
struct Clique {
  int ranks;
};

enum class Kind { kAllReduce, kAllGather, kReduceScatter, kBroadcast, kReduce };

}  // namespace

struct ncclComm {
  std::shared_ptr<Clique> clique;
  int rank;
  int gpu;
};

namespace {

struct Share {
  Kind kind;
  const float* give;
  float* get;
  std::size_t count;  // as the call has it
  int root;
  ncclComm_t comm;
  cudaStream_t stream;
};

struct Group {
  int depth = 0;
  std::vector<Share> shares;
};
Group& group() {
  thread_local Group one;
  return one;
}

ncclResult_t wrong(const std::string& what) {
  stand_in::breaks(cudaErrorInvalidValue, "a collective: " + what);
  return ncclInvalidUsage;
}

// Elements that a rank gives, and gets.
std::pair<std::size_t, std::size_t> counts(const Share& one) {
  const auto ranks = static_cast<std::size_t>(one.comm->clique->ranks);
  return {one.kind == Kind::kReduceScatter ? ranks * one.count : one.count,
          one.kind == Kind::kAllGather ? ranks * one.count : one.count};
}

bool lies_in_device(const Share& one) {
  const auto in_device = [](const float* memory, std::size_t count) {
    return machine().memory().where(memory, 4 * count) == stand_in::Where::kDevice;
  };
  const auto [gives, gets] = counts(one);
  const bool is_root = one.comm->rank == one.root;
  return (one.kind == Kind::kBroadcast && !is_root ? true : in_device(one.give, gives)) &&
         (one.kind == Kind::kReduce && !is_root ? true : in_device(one.get, gets));
}

// Of all ranks, in their order. What is given is read before anything is written: buffers may be
// the same.
void carry_out(const std::vector<Share>& ranks) {
  const Share& first = ranks.front();
  const std::size_t count = first.count, all = ranks.size();
  std::vector<std::vector<float>> given;
  for (const Share& one : ranks) {
    const bool gives = one.kind != Kind::kBroadcast || one.comm->rank == one.root;
    given.emplace_back(one.give, one.give + (gives ? counts(one).first : 0));
  }
  std::vector<float> sum(given.front().size());
  if (first.kind != Kind::kAllGather && first.kind != Kind::kBroadcast)
    for (const auto& one : given)
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
  for (std::size_t rank = 0; rank < all; ++rank) {
    float* get = ranks[rank].get;
    switch (first.kind) {
      case Kind::kAllReduce:
        std::copy(sum.begin(), sum.end(), get);
        break;
      case Kind::kAllGather:
        for (std::size_t from = 0; from < all; ++from)
          std::copy(given[from].begin(), given[from].end(), get + from * count);
        break;
      case Kind::kReduceScatter:
        std::copy_n(sum.data() + rank * count, count, get);
        break;
      case Kind::kBroadcast:
        std::copy_n(given[static_cast<std::size_t>(first.root)].data(), count, get);
        break;
      case Kind::kReduce:
        if (static_cast<int>(rank) == first.root) std::copy(sum.begin(), sum.end(), get);
        break;
    }
  }
}

// NCCL has the GPU of a communicator as the thread's: the legacy default stream is that one's.
template <typename Body>
auto on_gpu_of(ncclComm_t comm, const Body& body) {
  const int before = std::exchange(stand_in::thread_state().gpu, comm->gpu);
  const auto result = body();
  stand_in::thread_state().gpu = before;
  return result;
}

// Marks on all streams, the collective behind them, and its kernels on all streams behind it.
ncclResult_t put(const std::vector<Share>& ranks) {
  std::vector<stand_in::OpRef> come(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (on_gpu_of(ranks[i].comm, [&] {
          return machine().put(ranks[i].stream, {}, {.op = &come[i]});
        }) != cudaSuccess)
      return ncclUnhandledCudaError;
  stand_in::Work sums;
  sums.run = [ranks] { carry_out(ranks); };
  const stand_in::OpRef done = machine().queue().add(std::move(sums), 0, 0, come);
  for (const Share& one : ranks) {
    stand_in::Work kernel{.kind = stand_in::WorkKind::kKernel,
                          .name = "ncclDevKernel_Generic",
                          .run = {},
                          .blocks = {1, 1, 1},
                          .threads = {512, 1, 1},
                          .since = done};
    const cudaError_t status = on_gpu_of(one.comm, [&] {
      return stand_in::call("cuLaunchKernelExC", [&] {
        return machine().put(one.stream, std::move(kernel), {.behind = {done}});
      });
    });
    if (status != cudaSuccess) return ncclUnhandledCudaError;
  }
  return ncclSuccess;
}

ncclResult_t check(std::vector<Share>& ranks) {
  std::sort(ranks.begin(), ranks.end(),
            [](const Share& a, const Share& b) { return a.comm->rank < b.comm->rank; });
  const Share& first = ranks.front();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Share& one = ranks[i];
    if (one.comm->rank != static_cast<int>(i)) return wrong("a rank takes part twice, or not");
    if (one.kind != first.kind || one.count != first.count || one.root != first.root)
      return wrong("ranks call for different ones");
    const int gpu = on_gpu_of(one.comm, [&] { return machine().gpu_of(one.stream); });
    if (gpu != one.comm->gpu) return wrong("a stream of another GPU");
    if (machine().is_captured(one.stream)) return wrong("a captured stream");
    if (!lies_in_device(one)) return wrong("a buffer is not one piece of a device's memory");
  }
  return static_cast<int>(ranks.size()) == first.comm->clique->ranks ? ncclSuccess
                                                                     : wrong("a rank is missing");
}

// Of one clique a collective of all ranks is one after another of each rank.
ncclResult_t end_group() {
  std::map<Clique*, std::map<int, std::vector<Share>>> all;
  for (const Share& one : std::exchange(group().shares, {}))
    all[one.comm->clique.get()][one.comm->rank].push_back(one);
  for (auto& [clique, by_rank] : all) {
    const std::size_t collectives = by_rank.begin()->second.size();
    for (std::size_t i = 0; i < collectives; ++i) {
      std::vector<Share> ranks;
      for (const auto& [rank, shares] : by_rank) {
        if (shares.size() != collectives) return wrong("ranks take part in not as many");
        ranks.push_back(shares[i]);
      }
      if (const ncclResult_t status = check(ranks); status != ncclSuccess) return status;
      if (const ncclResult_t status = put(ranks); status != ncclSuccess) return status;
    }
  }
  return ncclSuccess;
}

ncclResult_t take_part(const Share& share, ncclDataType_t type, ncclRedOp_t op) {
  if (type != ncclFloat || op != ncclSum) return wrong("not a sum of FP32");
  group().shares.push_back(share);
  return group().depth > 0 ? ncclSuccess : end_group();
}

}  // namespace

extern "C" {

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* gpus) {
  auto clique = std::make_shared<Clique>(Clique{count});
  for (int i = 0; i < count; ++i) {
    if (std::find(gpus, gpus + i, gpus[i]) != gpus + i) return wrong("a GPU is there twice");
    if (gpus[i] < 0 || gpus[i] >= stand_in::options().gpus) return ncclInvalidArgument;
  }
  for (int i = 0; i < count; ++i) comms[i] = new ncclComm{clique, i, gpus[i]};
  return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId*) {
  return ncclSystemError;
}
ncclResult_t ncclCommInitRank(ncclComm_t*, int, ncclUniqueId, int) {
  return ncclSystemError;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  machine().queue().wait_for_all();
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return ncclCommDestroy(comm);
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* status) {
  *status = ncclSuccess;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t status) {
  return status == ncclInvalidUsage ? "invalid usage" : "an error";
}
const char* ncclGetLastError(ncclComm_t) {
  return "the stand-in has said why";
}

ncclResult_t ncclGroupStart() {
  ++group().depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (group().depth == 0) return wrong("a group ends that did not begin");
  return --group().depth > 0 ? ncclSuccess : end_group();
}

ncclResult_t ncclAllReduce(const void* give, void* get, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return take_part({Kind::kAllReduce, static_cast<const float*>(give), static_cast<float*>(get),
                    count, 0, comm, stream},
                   type, op);
}
ncclResult_t ncclAllGather(const void* give, void* get, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return take_part({Kind::kAllGather, static_cast<const float*>(give), static_cast<float*>(get),
                    count, 0, comm, stream},
                   type, ncclSum);
}
ncclResult_t ncclReduceScatter(const void* give, void* get, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return take_part({Kind::kReduceScatter, static_cast<const float*>(give), static_cast<float*>(get),
                    count, 0, comm, stream},
                   type, op);
}
ncclResult_t ncclBroadcast(const void* give, void* get, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
  return take_part({Kind::kBroadcast, static_cast<const float*>(give), static_cast<float*>(get),
                    count, root, comm, stream},
                   type, ncclSum);
}
ncclResult_t ncclReduce(const void* give, void* get, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return take_part({Kind::kReduce, static_cast<const float*>(give), static_cast<float*>(get), count,
                    root, comm, stream},
                   type, op);
}

}  // extern "C"

stand_in::Symbols stand_in::nccl_symbols() {
  return {TRAINSCOPE_SYMBOL(ncclCommInitAll),    TRAINSCOPE_SYMBOL(ncclGetUniqueId),
          TRAINSCOPE_SYMBOL(ncclCommInitRank),   TRAINSCOPE_SYMBOL(ncclCommDestroy),
          TRAINSCOPE_SYMBOL(ncclCommAbort),      TRAINSCOPE_SYMBOL(ncclCommGetAsyncError),
          TRAINSCOPE_SYMBOL(ncclGetErrorString), TRAINSCOPE_SYMBOL(ncclGetLastError),
          TRAINSCOPE_SYMBOL(ncclGroupStart),     TRAINSCOPE_SYMBOL(ncclGroupEnd),
          TRAINSCOPE_SYMBOL(ncclAllReduce),      TRAINSCOPE_SYMBOL(ncclAllGather),
          TRAINSCOPE_SYMBOL(ncclReduceScatter),  TRAINSCOPE_SYMBOL(ncclBroadcast),
          TRAINSCOPE_SYMBOL(ncclReduce)};
}
