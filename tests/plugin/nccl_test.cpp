// The stand-in's NCCL between ranks that know each other by an id alone, as processes do. Here they
// are threads, with one queue for all their work: nothing of a collective may hold it.
#include <cuda_runtime.h>
#include <nccl.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "cuda/plugin_loader.h"
#include "plugin/stand_in_function.h"

using namespace trainscope;

namespace {

#define FROM_STAND_IN(name) \
  decltype(&::name) name = test::stand_in_function<decltype(::name)>(#name)

struct Library {
  FROM_STAND_IN(cudaSetDevice);
  FROM_STAND_IN(cudaGetDeviceCount);
  FROM_STAND_IN(cudaDeviceSynchronize);
  FROM_STAND_IN(cudaStreamCreateWithPriority);
  FROM_STAND_IN(cudaStreamDestroy);
  FROM_STAND_IN(cudaStreamSynchronize);
  FROM_STAND_IN(cudaStreamQuery);
  // Of two of that name.
  cudaError_t (*cudaMallocAsync)(void**, std::size_t, cudaStream_t) =
      test::stand_in_function<cudaError_t(void**, std::size_t, cudaStream_t)>("cudaMallocAsync");
  FROM_STAND_IN(cudaFreeAsync);
  FROM_STAND_IN(cudaMemcpyAsync);
  FROM_STAND_IN(ncclGetUniqueId);
  FROM_STAND_IN(ncclCommInitRank);
  FROM_STAND_IN(ncclCommDestroy);
  FROM_STAND_IN(ncclCommAbort);
  FROM_STAND_IN(ncclCommGetAsyncError);
  FROM_STAND_IN(ncclAllReduce);
};

constexpr std::size_t kCount = 8;

// One rank: its communicator, two streams, and a buffer for each, full of its number plus one.
struct Rank {
  const Library& cuda;
  int number;
  ncclComm_t comm = nullptr;
  std::array<cudaStream_t, 2> streams{};
  std::array<void*, 2> buffers{};

  Rank(const Library& library, const ncclUniqueId& id, int ranks, int rank)
      : cuda(library), number(rank) {
    cuda.cudaSetDevice(rank);
    const std::vector<float> own(kCount, static_cast<float>(rank + 1));
    for (std::size_t i = 0; i < streams.size(); ++i) {
      cuda.cudaStreamCreateWithPriority(&streams[i], cudaStreamNonBlocking, 0);
      cuda.cudaMallocAsync(&buffers[i], kCount * sizeof(float), streams[i]);
      cuda.cudaMemcpyAsync(buffers[i], own.data(), kCount * sizeof(float), cudaMemcpyHostToDevice,
                           streams[i]);
    }
    cuda.ncclCommInitRank(&comm, ranks, id, rank);
  }
  ~Rank() {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      cuda.cudaFreeAsync(buffers[i], streams[i]);
      cuda.cudaStreamSynchronize(streams[i]);
      cuda.cudaStreamDestroy(streams[i]);
    }
  }
  Rank(const Rank&) = delete;

  ncclResult_t add_up(std::size_t stream, std::size_t count = kCount) const {
    return cuda.ncclAllReduce(buffers[stream], buffers[stream], count, ncclFloat, ncclSum, comm,
                              streams[stream]);
  }
  float first_of(std::size_t stream) const {
    float number_there = 0;
    cuda.cudaMemcpyAsync(&number_there, buffers[stream], sizeof(float), cudaMemcpyDeviceToHost,
                         streams[stream]);
    cuda.cudaStreamSynchronize(streams[stream]);
    return number_there;
  }
  // What goes wrong while the stream is not done.
  ncclResult_t error_on(std::size_t stream) const {
    ncclResult_t status = ncclSuccess;
    while (status == ncclSuccess && cuda.cudaStreamQuery(streams[stream]) == cudaErrorNotReady) {
      cuda.ncclCommGetAsyncError(comm, &status);
      std::this_thread::yield();
    }
    return status;
  }
};

// Catch is for one thread: what ranks find is checked when both are done. Returns the rules that
// were broken.
int as_two_ranks(const std::function<void(Rank&)>& body) {
  const auto device = cuda::open_device(cuda::plugin_folder());
  const Library library;
  const auto broken = test::stand_in_function<int()>("trainscope_stand_in_broken");
  int gpus = 0;
  library.cudaGetDeviceCount(&gpus);
  REQUIRE(gpus >= 2);
  const int before = broken();
  ncclUniqueId id;
  REQUIRE(library.ncclGetUniqueId(&id) == ncclSuccess);
  std::latch ready(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      Rank one(library, id, 2, rank);
      ready.arrive_and_wait();
      body(one);
    });
  for (std::thread& thread : threads) thread.join();
  return broken() - before;
}

template <typename Value>
using OfRanks = std::array<Value, 2>;

}  // namespace

TEST_CASE("collectives are one after another as they are called, whatever the ranks' streams",
          "[.processes]") {
  OfRanks<OfRanks<float>> sums{};
  OfRanks<ncclResult_t> ended{};
  const int broken = as_two_ranks([&](Rank& rank) {
    const std::size_t i = rank.number == 0 ? 0 : 1;
    rank.add_up(i);
    rank.add_up(1 - i);
    for (const std::size_t stream : {0, 1}) sums[i][stream] = rank.first_of(stream);
    ended[i] = rank.cuda.ncclCommDestroy(rank.comm);
  });
  CHECK(broken == 0);
  CHECK(sums == OfRanks<OfRanks<float>>{{{3, 3}, {3, 3}}});
  CHECK(ended == OfRanks<ncclResult_t>{ncclSuccess, ncclSuccess});
}

TEST_CASE("collectives in another order break a rule on each rank, and end when they are aborted",
          "[.processes]") {
  OfRanks<ncclResult_t> errors{}, after{};
  const int broken = as_two_ranks([&](Rank& rank) {
    const std::size_t i = rank.number == 0 ? 0 : 1;
    rank.add_up(0, rank.number == 0 ? kCount : kCount / 2);  // waits for the other's
    errors[i] = rank.error_on(0);
    after[i] = rank.add_up(1);
    rank.cuda.ncclCommAbort(rank.comm);
    rank.first_of(0);
  });
  CHECK(broken == 2);
  CHECK(errors == OfRanks<ncclResult_t>{ncclInvalidUsage, ncclInvalidUsage});
  CHECK(after == errors);
}

TEST_CASE("who aborts is gone for the other rank, which waits until it aborts as well",
          "[.processes]") {
  OfRanks<ncclResult_t> errors{};
  float kept = 0;
  const int broken = as_two_ranks([&](Rank& rank) {
    if (rank.number == 1) {
      rank.cuda.ncclCommAbort(rank.comm);
      return;
    }
    errors[0] = rank.add_up(0);  // which may know already
    if (errors[0] == ncclSuccess) errors[0] = rank.error_on(0);
    rank.cuda.ncclCommAbort(rank.comm);
    kept = rank.first_of(0);
  });
  CHECK(broken == 0);
  CHECK(errors[0] == ncclRemoteError);
  CHECK(kept == 1);
}

TEST_CASE("who waits in vain for a rank of a group is told which group it is", "[.processes]") {
  const auto device = cuda::open_device(cuda::plugin_folder());
  const Library library;
  std::promise<std::string> id;
  std::promise<void> over;
  std::thread other([&] {
    ncclUniqueId known{};
    id.get_future().get().copy(known.internal, sizeof(known.internal));
    const Rank rank(library, known, 2, 1);  // which comes to no collective
    over.get_future().wait();
    library.ncclCommAbort(rank.comm);
  });
  cuda::Peers peers{0, 2, {{"first group", {0, 1}}, {"none", {}}}, {}, {}, {}};
  peers.from_first = [&](std::size_t, const std::string& mine) {
    id.set_value(mine);
    return mine;
  };
  peers.who_cannot = [](const std::string& mine) { return mine.empty() ? "" : "rank 0"; };
  peers.look = [] { return std::string("rank 1 has failed"); };
  const std::string joined = device->join(peers);
  const cuda::StreamHandle stream = device->make_stream(program::StreamKind::kNonBlocking, 0, 0);
  constexpr std::int64_t kBytes = kCount * sizeof(float);
  void* memory = device->allocate(kBytes, stream);
  device->fill_zero(memory, kBytes, stream);
  std::string why;
  try {
    device->together(0, program::CollectiveKind::kAllReduce, cuda::CollectiveUnit::kFloat, kCount,
                     {{memory, memory, stream, 1}});
    device->synchronise_stream(stream);
  } catch (const Error& error) {
    why = error.what();
  }
  over.set_value();
  other.join();
  device->release(memory, stream);
  device->release_after({});
  CHECK(joined.empty());
  CHECK(why == "collectives of the first group cannot go on: rank 1 has failed");
}

TEST_CASE("a rank that comes to no communicator is named, and who waits for it goes on",
          "[.processes]") {
  const auto device = cuda::open_device(cuda::plugin_folder());
  cuda::Peers peers{0, 2, {{"ranks 0 and 1", {0, 1}, true}}};
  peers.from_first = [](std::size_t, const std::string& mine) { return mine; };
  peers.who_cannot = [](const std::string& mine) { return mine.empty() ? "" : "rank 0"; };
  peers.look = [] { return std::string(); };
  peers.missing = [](std::size_t) { return std::string("rank 1"); };
  peers.time_out = 300'000'000;
  const auto why = [&] {
    try {
      return device->join(peers);
    } catch (const Error& error) {
      return std::string("thrown: ") + error.what();
    }
  };
  CHECK(why() ==
        "thrown: NCCL did not start for the ranks 0 and 1 within 300 ms: rank 1 did not come; look "
        "at what it does instead");
  peers.look = [] { return std::string("rank 1 ended before the run did"); };
  peers.time_out = cuda::Peers::kTimeOut;
  CHECK(why() == "NCCL does not start for the ranks 0 and 1: rank 1 ended before the run did");
}

TEST_CASE("who waits in vain for the first byte of a rank gives up the communicator",
          "[.processes]") {
  const auto device = cuda::open_device(cuda::plugin_folder());
  const Library library;
  std::promise<std::string> id;
  std::promise<void> over;
  std::thread other([&] {
    ncclUniqueId known{};
    id.get_future().get().copy(known.internal, sizeof(known.internal));
    const Rank rank(library, known, 2, 1);  // which sends nothing
    over.get_future().wait();
    library.ncclCommAbort(rank.comm);
  });
  cuda::Peers peers{0, 2, {{"ranks 0 and 1", {0, 1}, true}}};
  peers.from_first = [&](std::size_t, const std::string& mine) {
    id.set_value(mine);
    return mine;
  };
  peers.who_cannot = [](const std::string& mine) { return mine.empty() ? "" : "rank 0"; };
  peers.time_out = 500'000'000;
  std::string why;
  Fault fault = Fault::kInternal;
  try {
    why = "returned: " + device->join(peers);
  } catch (const Error& error) {
    why = error.what();
    fault = error.fault();
  }
  // Which stays where the GPU never becomes idle.
  auto idle = std::make_shared<std::promise<void>>();
  const auto is_idle = idle->get_future();
  std::thread([idle, wait = library.cudaDeviceSynchronize] {
    wait();
    idle->set_value();
  }).detach();
  const auto waited = is_idle.wait_for(std::chrono::seconds(20));
  over.set_value();
  other.join();
  CHECK(fault == Fault::kMissing);
  CHECK(why ==
        "NCCL did not start for the ranks 0 and 1 within 500 ms: all its ranks are there, so a "
        "link between the GPUs is broken, or one hangs; NCCL_DEBUG=INFO says more");
  CHECK(waited == std::future_status::ready);
}
