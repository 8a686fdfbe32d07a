#include "cuda/plugin/nccl.h"

#include <nccl.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <type_traits>
#include <utility>

#include "base/units.h"
#include "cuda/plugin/cupti_tracer.h"
#include "cuda/plugin/left_behind.h"
#include "cuda/plugin/require.h"

namespace trainscope::cuda {

#define TRAINSCOPE_NCCL(group, call) \
  require({static_cast<int>(call), group}, #call, __FILE__, __LINE__)

struct Nccl::Functions {
  decltype(&ncclGetVersion) version = nullptr;
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
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;

  bool find(const Library& library) {
    const auto get = [&](auto& function, const char* name) { return library.find(function, name); };
    return get(version, "ncclGetVersion") && get(init_all, "ncclCommInitAll") &&
           get(unique_id, "ncclGetUniqueId") && get(init_rank, "ncclCommInitRank") &&
           get(destroy, "ncclCommDestroy") && get(abort, "ncclCommAbort") &&
           get(async_error, "ncclCommGetAsyncError") && get(error_words, "ncclGetErrorString") &&
           get(last_error, "ncclGetLastError") && get(group_start, "ncclGroupStart") &&
           get(group_end, "ncclGroupEnd") && get(all_reduce, "ncclAllReduce") &&
           get(all_gather, "ncclAllGather") && get(reduce_scatter, "ncclReduceScatter") &&
           get(broadcast, "ncclBroadcast") && get(reduce, "ncclReduce") && get(send, "ncclSend") &&
           get(receive, "ncclRecv");
  }

  ncclResult_t call(program::CollectiveKind kind, ncclDataType_t type, std::size_t units,
                    std::size_t ranks, const Share& share, ncclComm_t rank) const {
    using Kind = program::CollectiveKind;
    switch (kind) {
      case Kind::kAllReduce:
        return all_reduce(share.give, share.get, units, type, share.maximum ? ncclMax : ncclSum,
                          rank, share.stream);
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
        break;  // exchange()
    }
    return ncclInvalidArgument;
  }

  // Within a group, so that both ways go on at once (NCCL's user guide, "Point-to-point
  // communication").
  ncclResult_t exchange(ncclDataType_t type, std::size_t units, int with, const Share& share,
                        ncclComm_t rank) const {
    if (share.give)
      if (const ncclResult_t status = send(share.give, units, type, with, rank, share.stream);
          status != ncclSuccess)
        return status;
    return share.get ? receive(share.get, units, type, with, rank, share.stream) : ncclSuccess;
  }
};

// How a rank comes to a communicator, on a thread that may be left behind: it has all that it
// needs. What it has made is whose who takes it.
struct Nccl::Start {
  Functions functions;
  ncclUniqueId id{};
  int ranks = 0;
  int place = 0;  // among them
  int gpu = 0;
  bool exchanges = false;
  const char* call = "cudaSetDevice";  // that is under way, or failed
  ncclResult_t status = ncclSuccess;
  std::string words;  // NCCL keeps them for the thread

  void carry_out() {
    try {
      TRAINSCOPE_CUDA(cudaSetDevice(gpu));
      make();
      if (status == ncclSuccess && exchanges) connect();
      if (status != ncclSuccess) words = functions.last_error(nullptr);
    } catch (const Error& error) {
      status = ncclUnhandledCudaError;
      words = error.what();
    } catch (const std::exception& error) {  // no memory
      status = ncclSystemError;
      words = error.what();
    }
  }

  // The communicator, once, where it is there: the thread begins nothing more with it.
  ncclComm_t take() {
    const std::lock_guard held(mutex_);
    is_taken_ = true;
    return std::exchange(made_, nullptr);
  }

 private:
  void make() {
    call = "ncclCommInitRank";
    ncclComm_t one = nullptr;
    status = functions.init_rank(&one, ranks, id, place);
    const std::lock_guard held(mutex_);
    if (status == ncclSuccess) made_ = one;
  }

  // A byte each way, as torch.distributed.pipelining begins (_get_init_p2p_neighbors_ops): ranks
  // connect with the first one that goes a way, whatever NCCL_RUNTIME_CONNECT says.
  void connect() {
    call = "ncclSend, ncclRecv";
    cudaStream_t stream = nullptr;
    TRAINSCOPE_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0));
    const OwnedStream owned(stream);
    void* memory = nullptr;
    TRAINSCOPE_CUDA(cudaMalloc(&memory, 2));
    if (call_for({memory, static_cast<std::byte*>(memory) + 1, stream})) {
      // It may wait for the other's; ncclCommAbort ends that, too.
      const ncclResult_t ended = functions.group_end();
      if (status == ncclSuccess) status = ended;
    }
    TRAINSCOPE_CUDA(cudaStreamSynchronize(stream));
    TRAINSCOPE_CUDA(cudaFree(memory));
  }

  // Begins a group; false: another one has the communicator.
  bool call_for(const Share& both) {
    const std::lock_guard held(mutex_);
    if (is_taken_) return false;
    functions.group_start();
    status = functions.exchange(ncclUint8, 1, 1 - place, both, made_);
    return true;
  }

  std::mutex mutex_;
  ncclComm_t made_ = nullptr;
  bool is_taken_ = false;
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

Nccl::Nccl(const std::vector<RankGroup>& groups)
    : groups_(groups), library_({"libnccl.so.2"}), communicators_(groups.size()) {
  if (!load()) return;
  for (std::size_t i = 0; i < groups.size() && why_not_.empty(); ++i)
    if (!groups[i].gpus.empty()) init_here(i);
  if (!why_not_.empty()) abort();
}

void Nccl::init_here(std::size_t group) {
  const std::vector<int>& gpus = groups_[group].gpus;
  Communicator& communicator = communicators_[group];
  communicator.gpu = gpus.front();
  TRAINSCOPE_CUDA(cudaSetDevice(communicator.gpu));
  communicator.done = make_event(cudaEventDisableTiming);
  std::vector<ncclComm_t> made(gpus.size());
  const ncclResult_t status =
      functions_->init_all(made.data(), static_cast<int>(gpus.size()), gpus.data());
  if (status != ncclSuccess)
    return refuse(status, "ncclCommInitAll", group, functions_->last_error(nullptr));
  communicator.ranks.assign(made.begin(), made.end());
}

namespace {

// Others are looked at every so often: each look is a message.
constexpr Nanos kBetweenLooks = 1'000'000'000;

}  // namespace

Nccl::Nccl(int gpu, const Peers& peers)
    : groups_(peers.groups),
      library_({"libnccl.so.2"}),
      communicators_(peers.groups.size()),
      look_(peers.look),
      time_out_(peers.time_out) {
  try {
    join(gpu, peers);
  } catch (...) {
    abort();
    throw;
  }
}

// The id of a group's first rank names its communicator. All ranks go through the groups in one
// order, whether they are in them or not, and none goes on alone: it would wait for ever.
void Nccl::join(int gpu, const Peers& peers) {
  std::vector<std::string> ids(groups_.size());
  if (load())
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (!groups_[i].gpus.empty() && groups_[i].gpus.front() == peers.rank) ids[i] = make_id(i);
  if (!all_go_on(peers)) return;
  TRAINSCOPE_CUDA(cudaSetDevice(gpu));
  // Ranks connect here, where all are, and not in the first collective, which one that hangs would
  // hold for ever (NCCL's user guide, "Environment Variables").
  setenv("NCCL_RUNTIME_CONNECT", "0", 0);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].gpus.empty()) continue;
    if (std::ranges::find(groups_[i].gpus, peers.rank) != groups_[i].gpus.end())
      init_rank(i, peers, gpu, peers.from_first(i, ids[i]));
    if (!all_go_on(peers)) return abort();
  }
  elsewhere_ = peers.ranks - 1;
}

std::string Nccl::make_id(std::size_t group) {
  ncclUniqueId id{};
  const ncclResult_t status = functions_->unique_id(&id);
  if (status != ncclSuccess)
    refuse(status, "ncclGetUniqueId", group, functions_->last_error(nullptr));
  return {id.internal, sizeof(id.internal)};
}

bool Nccl::all_go_on(const Peers& peers) {
  const std::string cannot = peers.who_cannot(why_not_);
  if (why_not_.empty() && !cannot.empty())
    why_not_ = "NCCL does not start at " + cannot + ", where it is said why";
  return why_not_.empty();
}

void Nccl::init_rank(std::size_t group, const Peers& peers, int gpu, const std::string& words) {
  const std::vector<int>& all = groups_[group].gpus;
  Communicator& communicator = communicators_[group];
  communicator.gpu = gpu;
  communicator.place = static_cast<int>(std::ranges::find(all, peers.rank) - all.begin());
  communicator.done = make_event(cudaEventDisableTiming);
  const auto start = std::make_shared<Start>();
  start->functions = *functions_;
  words.copy(start->id.internal, sizeof(start->id.internal));
  start->ranks = static_cast<int>(all.size());
  start->place = communicator.place;
  start->gpu = gpu;
  start->exchanges = groups_[group].exchanges;
  // To be aborted with the others: else what it has put on the GPU would wait there for ever.
  const auto take = [&] {
    if (const ncclComm_t made = start->take()) communicator.ranks = {made};
  };
  const Nanos begun = host_clock();
  const std::string in_vain = leave_behind_when([&] { return why_in_vain(group, peers, begun); },
                                                [start] { start->carry_out(); }, take);
  if (!in_vain.empty()) {
    why_not_ = "NCCL does not start for the " + groups_[group].name + ": " + in_vain;
    return;
  }
  take();
  if (start->status != ncclSuccess) refuse(start->status, start->call, group, start->words);
}

// Asked while it is under way.
std::string Nccl::why_in_vain(std::size_t group, const Peers& peers, Nanos begun) {
  const std::string why = look_at_others(begun);
  if (!why.empty() || host_clock() - begun <= time_out_) return why;
  const std::string who = peers.missing ? peers.missing(group) : "";
  throw MissingError(
      "NCCL did not start for the " + groups_[group].name + " within " + time_out_words() + ": " +
      (who.empty() ? "all its ranks are there, so a link between the GPUs is broken, or one hangs; "
                     "NCCL_DEBUG=INFO says more"
                   : who + " did not come; look at what it does instead"));
}

std::string Nccl::time_out_words() const {
  return format_nanos(static_cast<double>(time_out_));
}

namespace {

// "2.21.5" of NCCL_VERSION(2, 21, 5); up to 2.8 it had a digit less.
std::string version_words(int code) {
  return std::to_string(code < 10'000 ? code / 1000 : code / 10'000) + "." +
         std::to_string(code / 100 % (code < 10'000 ? 10 : 100)) + "." + std::to_string(code % 100);
}

}  // namespace

// Communicators are aborted together, since one may wait for what another holds: "group abort
// semantic is added in NCCL 2.22" (pytorch/pytorch#132291; NVIDIA/nccl#1013).
std::string Nccl::why_not_with(const Functions& functions) {
  constexpr int kOldest = NCCL_VERSION(2, 22, 0);
  int version = 0;
  functions.version(&version);
  if (version >= kOldest) return "";
  return "this NCCL is " + version_words(version) +
         ", and of those before 2.22 communicators cannot be given up together";
}

bool Nccl::load() {
  if (!library_.is_there()) {
    why_not_ = "NCCL is missing (" + library_.why_not() + ")";
    return false;
  }
  const auto made = std::count_if(groups_.begin(), groups_.end(),
                                  [](const RankGroup& group) { return !group.gpus.empty(); });
  if (made > 1) setenv(kNcclInOrder, "1", 0);
  functions_ = std::make_unique<Functions>();
  why_not_ = functions_->find(library_) ? why_not_with(*functions_)
                                        : "this NCCL lacks functions that 2.22 has";
  return why_not_.empty();
}

void Nccl::refuse(int status, const char* call, std::size_t group, const std::string& words) {
  why_not_ = "NCCL does not start here for the " + groups_[group].name + " (" +
             functions_->error_words(static_cast<ncclResult_t>(status)) + ", " + call + ": " +
             words + ")";
}

Nccl::~Nccl() {
  for (const Communicator& one : communicators_)
    for (void* rank : one.ranks) functions_->destroy(static_cast<ncclComm_t>(rank));
}

void Nccl::require(const Failed& what, const char* call, const char* file, int line) {
  const auto result = static_cast<ncclResult_t>(what.status);
  if (result == ncclSuccess || result == ncclInProgress) return;
  const std::string words = std::string(functions_->error_words(result)) + " (" + call + " at " +
                            place_of(file, line) + "; " + functions_->last_error(nullptr) + ")";
  abort();
  throw Error(Fault::kFailed, "NCCL failed in the " + groups_[what.group].name + ": " + words +
                                  "; NCCL_DEBUG=INFO says more");
}

// Nothing can be done with them any more. At once: one may wait for the GPU, which a collective of
// another holds (NCCL's user guide, "ncclCommAbort"; NVIDIA/nccl#1013).
void Nccl::abort() {
  const std::lock_guard held(mutex_);
  is_aborted_ = true;
  if (!functions_ || std::all_of(communicators_.begin(), communicators_.end(),
                                 [](const Communicator& one) { return one.ranks.empty(); }))
    return;
  functions_->group_start();
  for (Communicator& one : communicators_)
    for (void* rank : std::exchange(one.ranks, {}))
      functions_->abort(static_cast<ncclComm_t>(rank));
  functions_->group_end();
}

void Nccl::carry_out(std::size_t group, program::CollectiveKind kind, CollectiveUnit unit,
                     std::size_t units, const std::vector<Share>& ranks) {
  std::vector<void*> communicators;
  {
    const std::lock_guard held(mutex_);
    communicators = communicators_[group].ranks;
  }
  if (communicators.empty())
    throw Error(Fault::kFailed, "NCCL has failed in another rank's thread, which says why");
  // A group that has begun ends, whatever happened in it: nothing takes effect before.
  TRAINSCOPE_NCCL(group, functions_->group_start());
  ncclResult_t status = ncclSuccess;
  for (std::size_t i = 0; i < ranks.size() && status == ncclSuccess; ++i)
    status = kind == program::CollectiveKind::kSendReceive
                 ? functions_->exchange(type_of(unit), units, 1 - communicators_[group].place,
                                        ranks[i], static_cast<ncclComm_t>(communicators[i]))
                 : functions_->call(kind, type_of(unit), units, groups_[group].gpus.size(),
                                    ranks[i], static_cast<ncclComm_t>(communicators[i]));
  const ncclResult_t ended = functions_->group_end();
  TRAINSCOPE_NCCL(group, status == ncclSuccess ? ended : status);
  TRAINSCOPE_CUDA(cudaSetDevice(communicators_[group].gpu));  // whose default stream is meant
  TRAINSCOPE_CUDA(cudaEventRecord(communicators_[group].done.get(), ranks.front().stream));
}

// What the first communicator says that is not well. Held: no other rank's thread aborts it the
// while.
Nccl::Failed Nccl::state() {
  const std::lock_guard held(mutex_);
  for (std::size_t group = 0; group < communicators_.size(); ++group)
    for (void* rank : communicators_[group].ranks) {
      ncclResult_t status = ncclSuccess;
      const ncclResult_t asked = functions_->async_error(static_cast<ncclComm_t>(rank), &status);
      if (asked != ncclSuccess) return {asked, group};
      if (status != ncclSuccess && status != ncclInProgress) return {status, group};
    }
  return {};
}

// The groups whose collectives are not done, in words that follow "collectives": " of the shard
// group of ranks 0 and 1"; empty where all are.
std::string Nccl::under_way() const {
  std::string words;
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (const cudaEvent_t done = communicators_[i].done.get();
        done && !TRAINSCOPE_CUDA_QUERY(cudaEventQuery(done)))
      words += (words.empty() ? " of the " : " and the ") + groups_[i].name;
  return words;
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
  require(state(), "ncclCommGetAsyncError", __FILE__, __LINE__);
  const std::string why = look_at_others(begun);
  if (why.empty() && host_clock() - begun <= time_out_) return;
  const std::string which = under_way();
  abort();
  if (!why.empty()) throw Error(Fault::kFailed, "collectives" + which + " cannot go on: " + why);
  throw Error(Fault::kFailed, "NCCL was not done with collectives" + which + " after " +
                                  time_out_words() +
                                  ": a rank never came to one of them, or a link "
                                  "between the GPUs is broken; NCCL_DEBUG=INFO says more");
}

}  // namespace trainscope::cuda
