// NCCL's part: communicators of the GPUs of one process, or of several with one each, and their
// collectives, added rank by rank. A collective begins when every rank's stream has come to it.

#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stand_in/calls.h"
#include "stand_in/communicator.h"
#include "stand_in/machine.h"
#include "stand_in/meeting.h"
#include "stand_in/options.h"
#include "stand_in/symbols.h"

using namespace trainscope;
using stand_in::Clique;
using stand_in::machine;
using stand_in::Member;
using stand_in::Share;
using stand_in::state_of;
using stand_in::wrong;
using Kind = stand_in::CollectiveKind;

namespace {

struct Group {
  int depth = 0;
  std::vector<Share> shares;
  std::vector<ncclComm_t> aborted;
};
Group& group() {
  thread_local Group one;
  return one;
}

// What a group sends to a rank and receives of it goes on at once.
std::vector<Share> with_both_ways(const std::vector<Share>& shares) {
  std::vector<Share> all;
  for (const Share& one : shares) {
    const bool goes_on = one.asked.kind == Kind::kExchange && !all.empty() &&
                         all.back().asked.kind == Kind::kExchange && all.back().comm == one.comm &&
                         all.back().stream == one.stream &&
                         all.back().asked.type == one.asked.type &&
                         (all.back().asked.count == 0) != (one.asked.count == 0) &&
                         (all.back().asked.received == 0) != (one.asked.received == 0);
    if (!goes_on) {
      all.push_back(one);
      continue;
    }
    Share& both = all.back();
    both.asked.count += one.asked.count;
    both.asked.received += one.asked.received;
    both.give = both.give ? both.give : one.give;
    both.get = both.get ? both.get : one.get;
  }
  return all;
}

// Of one clique a collective of all ranks is one after another of each rank.
ncclResult_t end_group() {
  std::map<Clique*, std::map<int, std::vector<Share>>> all;
  for (const Share& one : with_both_ways(std::exchange(group().shares, {}))) {
    if (!one.comm->member) {
      all[one.comm->clique.get()][one.comm->rank].push_back(one);
    } else if (const ncclResult_t status = stand_in::put_alone(one); status != ncclSuccess) {
      return status;
    }
  }
  for (auto& [clique, by_rank] : all) {
    const std::size_t collectives = by_rank.begin()->second.size();
    for (std::size_t i = 0; i < collectives; ++i) {
      std::vector<Share> ranks;
      for (const auto& [rank, shares] : by_rank) {
        if (shares.size() != collectives) return wrong("ranks take part in not as many");
        ranks.push_back(shares[i]);
      }
      if (const ncclResult_t status = stand_in::put_of_all(ranks); status != ncclSuccess)
        return status;
    }
  }
  return ncclSuccess;
}

// At once: what one of them waits for another may hold (NVIDIA/nccl#1013).
void end_aborted() {
  const std::vector<ncclComm_t> all = std::exchange(group().aborted, {});
  for (const ncclComm_t comm : all)
    if (comm->member) comm->member->abort();
  for (const ncclComm_t comm : all) {
    if (comm->member)
      machine().queue().wait(comm->last);
    else
      machine().queue().wait_for_all();
    delete comm;
  }
}

ncclResult_t take_part(Share share, ncclDataType_t type, ncclRedOp_t op) {
  static const std::map<ncclDataType_t, cudaDataType> kTypes{{ncclFloat, CUDA_R_32F},
                                                             {ncclHalf, CUDA_R_16F},
                                                             {ncclBfloat16, CUDA_R_16BF},
                                                             {ncclUint8, CUDA_R_8U}};
  const bool adds = share.asked.kind == Kind::kAllReduce || share.asked.kind == Kind::kReduce ||
                    share.asked.kind == Kind::kReduceScatter;
  const auto known = kTypes.find(type);
  share.asked.maximum = op == ncclMax && share.asked.kind == Kind::kAllReduce;
  const bool is_known_op = op == ncclSum || share.asked.maximum;
  if (known == kTypes.end() || !is_known_op || (adds && type == ncclUint8))
    return wrong("not a sum or the largest of FP32, FP16 or BF16");
  share.asked.type = known->second;
  group().shares.push_back(share);
  return group().depth > 0 ? ncclSuccess : end_group();
}

// After a while in which the other rank comes to the same, and waits for it on its GPU.
void die_connecting() {
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  std::raise(SIGKILL);
}

// NCCL's own may be of as many ranks as one likes.
ncclResult_t exchange(const Share& share, ncclDataType_t type, int peer) {
  if (!share.comm->member || share.comm->clique->ranks != 2 || peer != 1 - share.comm->rank)
    return wrong("a send or a receive that is not between two processes");
  if (stand_in::options().dies_connecting) die_connecting();
  return take_part(share, type, ncclSum);
}

int own_version() {
  return stand_in::options().nccl == 0 ? NCCL_VERSION_CODE : stand_in::options().nccl;
}

// The library's own objects and the driver's are taken down when the process exits: who is in it
// then uses what is no more.
std::atomic<int> joining = 0;
void take_down() {
  if (joining > 0)
    stand_in::breaks(cudaErrorCudartUnloading, "the process exits while a rank joins");
}
struct Joining {
  Joining() {
    [[maybe_unused]] static const int registered = std::atexit(take_down);
    ++joining;
  }
  ~Joining() { --joining; }
  Joining(const Joining&) = delete;
};

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = own_version();
  return ncclSuccess;
}
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* gpus) {
  auto clique = std::make_shared<Clique>(Clique{count});
  for (int i = 0; i < count; ++i) {
    if (std::find(gpus, gpus + i, gpus[i]) != gpus + i) return wrong("a GPU is there twice");
    if (gpus[i] < 0 || gpus[i] >= stand_in::options().gpus) return ncclInvalidArgument;
  }
  for (int i = 0; i < count; ++i) comms[i] = new ncclComm{clique, i, gpus[i]};
  return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const std::string name = stand_in::open_meeting();
  if (name.empty()) return ncclSystemError;
  *id = {};
  name.copy(id->internal, sizeof(id->internal) - 1);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    wrong("rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " ranks");
    return ncclInvalidArgument;
  }
  if (stand_in::options().dies_joining) std::raise(SIGKILL);
  if (stand_in::options().refuses_joining)
    return stand_in::failed(ncclSystemError, "the stand-in was told to refuse");
  const Joining here;
  const int gpu = stand_in::thread_state().gpu;
  const std::string name(id.internal, strnlen(id.internal, sizeof(id.internal)));
  auto member = std::make_unique<Member>(
      name,
      Member::Place{rank, ranks, stand_in::options().numbers.at(static_cast<std::size_t>(gpu))});
  if (const ncclResult_t status = state_of(*member); status != ncclSuccess) return status;
  *comm = new ncclComm{std::make_shared<Clique>(Clique{ranks}), rank, gpu, std::move(member)};
  return ncclSuccess;
}
// User's guide, "Fault Tolerance": one that has failed is aborted, else it waits for ever. Here it
// does not.
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (!comm->member) {
    machine().queue().wait_for_all();
    delete comm;
    return ncclSuccess;
  }
  while (!machine().queue().is_done(comm->last)) {
    if (state_of(*comm->member) != ncclSuccess) {
      wrong("a communicator that has failed is destroyed, not aborted");
      return ncclCommAbort(comm);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  comm->member->leave();
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  // pytorch/pytorch#132291: "Group abort semantic is added in NCCL 2.22".
  if (group().depth > 0 && own_version() < NCCL_VERSION(2, 22, 0))
    return wrong("communicators are aborted together by an NCCL that cannot");
  group().aborted.push_back(comm);
  if (group().depth == 0) end_aborted();
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* status) {
  *status = state_of(comm);
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t status) {
  switch (status) {
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "an error";
  }
}
const char* ncclGetLastError(ncclComm_t) {
  return stand_in::last_words().c_str();
}

ncclResult_t ncclGroupStart() {
  ++group().depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (group().depth == 0) return wrong("a group ends that did not begin");
  if (--group().depth > 0) return ncclSuccess;
  const ncclResult_t status = end_group();
  end_aborted();
  return status;
}

ncclResult_t ncclAllReduce(const void* give, void* get, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return take_part({{Kind::kAllReduce, 0, count}, give, get, comm, stream}, type, op);
}
ncclResult_t ncclAllGather(const void* give, void* get, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return take_part({{Kind::kAllGather, 0, count}, give, get, comm, stream}, type, ncclSum);
}
ncclResult_t ncclReduceScatter(const void* give, void* get, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return take_part({{Kind::kReduceScatter, 0, count}, give, get, comm, stream}, type, op);
}
ncclResult_t ncclBroadcast(const void* give, void* get, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
  return take_part({{Kind::kBroadcast, root, count}, give, get, comm, stream}, type, ncclSum);
}
ncclResult_t ncclReduce(const void* give, void* get, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return take_part({{Kind::kReduce, root, count}, give, get, comm, stream}, type, op);
}
ncclResult_t ncclSend(const void* give, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return exchange({{Kind::kExchange, 0, count}, give, nullptr, comm, stream}, type, peer);
}
ncclResult_t ncclRecv(void* get, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return exchange({{Kind::kExchange, 0, 0, count}, nullptr, get, comm, stream}, type, peer);
}

}  // extern "C"

stand_in::Symbols stand_in::nccl_symbols() {
  return {TRAINSCOPE_SYMBOL(ncclGetVersion),
          TRAINSCOPE_SYMBOL(ncclCommInitAll),
          TRAINSCOPE_SYMBOL(ncclGetUniqueId),
          TRAINSCOPE_SYMBOL(ncclCommInitRank),
          TRAINSCOPE_SYMBOL(ncclCommDestroy),
          TRAINSCOPE_SYMBOL(ncclCommAbort),
          TRAINSCOPE_SYMBOL(ncclCommGetAsyncError),
          TRAINSCOPE_SYMBOL(ncclGetErrorString),
          TRAINSCOPE_SYMBOL(ncclGetLastError),
          TRAINSCOPE_SYMBOL(ncclGroupStart),
          TRAINSCOPE_SYMBOL(ncclGroupEnd),
          TRAINSCOPE_SYMBOL(ncclAllReduce),
          TRAINSCOPE_SYMBOL(ncclAllGather),
          TRAINSCOPE_SYMBOL(ncclReduceScatter),
          TRAINSCOPE_SYMBOL(ncclBroadcast),
          TRAINSCOPE_SYMBOL(ncclReduce),
          TRAINSCOPE_SYMBOL(ncclSend),
          TRAINSCOPE_SYMBOL(ncclRecv)};
}
