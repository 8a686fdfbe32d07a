// A GPU for tests: kernels run in the emulator, streams are queues from which a seeded generator
// takes whatever may run, as late or as early as the rules allow; its clock is virtual. Given a
// machine, nothing is left to chance: calls, copies and kernels cost what its figures say.
//
// Memory that was not written, or was given back, is full of NaNs. Failures can be ordered.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "cuda/device/operation_kernels.h"
#include "cuda/device_calls.h"
#include "machine/machine.h"

namespace trainscope::test {

struct EmulatedOptions {
  std::uint32_t seed = 1;
  std::string name = "Emulated GPU";
  std::int64_t memory_bytes = std::int64_t{4} << 30;
  int gpus = 1;                 // real ones
  bool clock_runs_off = false;  // after host work of an hour each look at it takes another
  bool has_library = false;     // for collectives between them
  // Among processes: gives the bytes of all ranks of a group, in their order, for this one's; none:
  // it is alone.
  std::function<std::vector<std::string>(const cuda::RankGroup&, const std::string&)> gather;
  std::int64_t lost_at = -1;  // the device is lost at this call; negative: never
  cuda::TimeSource source = cuda::TimeSource::kTracer;
  std::int64_t dropped = 0;  // records that the tracer loses, of the first
  Nanos tracer_ahead = 0;    // its clock, of the host's
  Nanos traced_gap = 0;      // that it adds between kernels, with `costs`
  Nanos traced_launch = 0;   // that it adds to the call of one, with `costs`
  const machine::Machine* costs = nullptr;
  // What keeps kernels from being compiled, found out when the first call is prepared; empty:
  // nothing.
  std::string compiles_not;
  bool computes = true;  // else memory holds nothing, and kernels and copies only take their time
};

class EmulatedDevice : public cuda::DeviceCalls {
 public:
  explicit EmulatedDevice(const EmulatedOptions& options = {});
  ~EmulatedDevice() override;

  cuda::DeviceFacts facts() const override;
  bool is_usable() const override { return !lost_; }
  Nanos now() override;
  void pass_time(Nanos duration, bool on_core) override;
  void enter_thread() override {}
  void leave_thread() override {}
  void begin_call(cuda::CallId call, cuda::StreamHandle stream) override;
  void end_call() override;
  int gpus() const override { return options_.gpus; }
  cuda::StreamHandle make_stream(program::StreamKind kind, int priority, int gpu) override;
  cuda::EventHandle make_event(int gpu) override;
  cuda::HandleCounts handles() const override;
  void release_after(const cuda::HandleCounts& kept) override;
  void* allocate(std::int64_t bytes, cuda::StreamHandle stream) override;
  void release(void* memory, cuda::StreamHandle stream) override;
  void empty_cache(int gpu) override;
  void* allocate_host(std::int64_t bytes, program::MemoryKind kind) override;
  void release_host(void* memory, program::MemoryKind kind) override;
  void fill_zero(void* memory, std::int64_t bytes, cuda::StreamHandle stream) override;
  void copy(const cuda::CopyCall& copy, cuda::StreamHandle stream) override;
  void launch(const cuda::KernelCall& kernel, cuda::StreamHandle stream) override;
  std::string refusal(const program::Operation& operation) const override;
  std::int64_t room_for(const cuda::KernelCall& kernel) const override;
  void prepare(const cuda::KernelCall&) override { prepared_ = true; }
  std::int64_t blocks_recorded(const cuda::KernelCall& kernel) const override;
  void record(cuda::EventHandle event, cuda::StreamHandle stream) override;
  void wait(cuda::StreamHandle stream, cuda::EventHandle event) override;
  void synchronise_stream(cuda::StreamHandle stream) override;
  void synchronise_event(cuda::EventHandle event) override;
  bool is_done(cuda::EventHandle event) override;
  void synchronise() override;
  std::string join(const std::vector<cuda::RankGroup>& groups) override;
  std::string join(const cuda::Peers& peers) override;
  int ranks_elsewhere() const override { return peers_.ranks - 1; }
  void together(std::size_t group, program::CollectiveKind kind, cuda::CollectiveUnit unit,
                std::int64_t units, const std::vector<cuda::RankShare>& ranks) override;
  void begin_capture(cuda::StreamHandle stream) override;
  cuda::GraphHandle end_capture(cuda::StreamHandle stream) override;
  void instantiate(cuda::GraphHandle graph) override;
  void launch_graph(cuda::GraphHandle graph, cuda::StreamHandle stream) override;
  void watch(cuda::WatchLevel level) override;
  cuda::Activities collect() override;

  // What was copied into pinned memory, in the order in which it came there; of numbers in FP32.
  const std::vector<std::vector<float>>& arrived() const { return arrived_; }
  std::int64_t calls() const { return calls_; }
  std::int64_t bytes_in_use() const { return in_use_; }
  const std::vector<int>& emptied() const { return emptied_; }  // real GPUs' caches, in turn

 private:
  using OpId = std::size_t;
  static constexpr OpId kNoOp = SIZE_MAX;
  static constexpr std::size_t kNoEngine = SIZE_MAX;
  struct Work {
    std::function<void()> run;
    Nanos duration = 0;
    Nanos latency = 0;  // of a copy's duration, before its first byte
    std::size_t engine = kNoEngine;
    bool is_told = false;  // in a record
    cuda::Activity activity;
  };
  struct Op {
    Work work;
    std::vector<OpId> before;
    Nanos enqueued = 0;
    Nanos end = 0;
    bool done = false;
  };
  struct Stream {
    program::StreamKind kind;
    int gpu = 0;
    OpId tail = kNoOp;
    std::vector<OpId> waits;   // that its next work is behind
    std::deque<OpId> kernels;  // launched; of those that may not be done yet
    std::int64_t captured_by = -1;
  };

  void host_call(Nanos machine::Host::* cost = nullptr);
  Nanos duration_of(const cuda::KernelCall& kernel);
  Nanos time_of_page_lock(std::int64_t bytes) const;
  void time_copy(const cuda::CopyCall& copy, Work& work);
  void stage(const cuda::CopyCall& copy, cuda::StreamHandle stream, Work& work);
  Nanos start_of(const Op& op);
  bool run_both_ways(OpId op);
  void tell(const Op& op, Nanos start);
  void wait_for_room(cuda::StreamHandle stream);
  void run_all();
  void work_with_others(const cuda::RankGroup& group, program::CollectiveKind kind,
                        cuda::CollectiveUnit unit, std::int64_t units,
                        const cuda::RankShare& mine) const;
  void exchange_with_other(const cuda::RankGroup& group, std::size_t bytes,
                           const cuda::RankShare& mine) const;
  void add_library_kernel(program::CollectiveKind kind, const cuda::RankShare& rank,
                          const std::vector<OpId>& others);
  void* memory_of(std::int64_t bytes) const;
  OpId enqueue(cuda::StreamHandle stream, Work work);
  OpId enqueue_op(cuda::StreamHandle stream, Work work);
  void join_others(const Stream& stream, std::vector<OpId>& before) const;
  bool may_run(OpId op) const;
  void run_one();
  void run(OpId op);
  void finish(OpId op);
  std::uint32_t chance(std::uint32_t most) { return options_.costs ? 0 : upto(most); }
  std::uint32_t upto(std::uint32_t most) { return static_cast<std::uint32_t>(random_() % most); }

  EmulatedOptions options_;
  cuda::Peers peers_;
  std::vector<cuda::RankGroup> groups_;  // that are joined
  OpId last_together_ = kNoOp;
  mutable std::mutex mutex_;
  std::mt19937 random_;
  Nanos clock_ = 1'000'000;
  Nanos look_ = 1;  // at the clock
  std::int64_t calls_ = 0;
  bool lost_ = false;
  bool prepared_ = false;
  cuda::WatchLevel level_ = cuda::WatchLevel::kEverything;
  std::deque<Op> ops_;
  std::vector<OpId> pending_;
  std::vector<Stream> streams_;
  std::vector<OpId> events_;
  std::vector<std::vector<Work>> graphs_;
  Nanos engine_free_[2] = {0, 0};
  std::map<std::thread::id, cuda::CallId> current_;
  std::map<void*, std::int64_t> sizes_;  // of device memory that is handed out
  std::vector<void*> memory_;            // all there ever was
  std::int64_t in_use_ = 0;
  std::vector<int> emptied_;
  cuda::Activities told_;
  std::vector<std::vector<float>> arrived_;
};

}  // namespace trainscope::test
