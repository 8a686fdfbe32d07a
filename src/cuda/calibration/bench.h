// A device as measurements use it: streams, memory that goes back by itself, operations of a known
// size, and the times of calls on the host and of work on the device. Nanoseconds.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "cuda/calibration/samples.h"
#include "cuda/device_calls.h"

namespace trainscope::cuda {

// How much is measured; the default takes well under a minute on a GPU.
struct CalibrationPlan {
  int repeats = 50;  // of what takes microseconds
  int few = 7;       // of what takes milliseconds
  int warm_up = 5;   // that come before and do not count
  std::int64_t most_copied = std::int64_t{256} << 20;
  std::int64_t largest_product = 8192;
};

// The operations that are measured.
program::Operation empty_kernel();                    // scales one number
program::Operation long_kernel(Nanos duration);       // one block that computes
program::Operation scale_kernel(std::int64_t count);  // STREAM's scale: 8 bytes a number
program::Operation add_kernel(std::int64_t count);    // STREAM's add: 12 bytes a number
program::Operation product(std::int64_t m, std::int64_t n, std::int64_t k,
                           program::ElementType type);

// Keeps the device at work for a while: an idle GPU has lower clocks, and takes some tenths of a
// second of work to raise them.
void wake_up(DeviceCalls& device);

class Bench {
 public:
  // `level`: what is kept where nothing says otherwise.
  explicit Bench(DeviceCalls& device, WatchLevel level = WatchLevel::kNothing);
  ~Bench();
  Bench(const Bench&) = delete;

  DeviceCalls& device() { return device_; }
  StreamHandle stream() const { return first_; }
  StreamHandle other_stream() const { return second_; }

  // Memory of the bench, until free_all(): of zeros, or of numbers in [-1, 1), which take more
  // power.
  void* on_device(std::int64_t bytes);
  void fill(void* memory, std::int64_t bytes, program::ElementType type);
  void* on_host(std::int64_t bytes, program::MemoryKind kind);  // every page touched
  void free_all();
  // The same after a failure; false: the device is lost.
  bool is_cleared();

  // The operation with memory for its operands; it stays as long as the bench.
  const KernelCall& prepare(program::Operation operation);

  // The times of a kernel on the device, that has run before, so that what fits L2 is there. A call
  // may be several kernels: from the start of the first to the end of the last.
  Summary times(const KernelCall& kernel, int repeats);

  // On the first stream; while activities are watched each is a call of its own.
  void launch(const KernelCall& kernel);
  void copy(const CopyCall& copy) { this->copy(copy, first_); }
  void copy(const CopyCall& copy, StreamHandle stream);
  // What `body` takes on the host.
  template <typename Body>
  Nanos timed(const Body& body) {
    const Nanos begin = device_.now();
    body();
    return device_.now() - begin;
  }
  // What is not between is not watched. The activities of `body` on the device, in order of their
  // starts, once it is done.
  template <typename Body>
  std::vector<Activity> watched(const Body& body) {
    begin_watch();
    body();
    return end_watch();
  }

 private:
  void begin_watch();
  std::vector<Activity> end_watch();

  DeviceCalls& device_;
  const HandleCounts handles_;  // that were there before
  StreamHandle first_;
  StreamHandle second_;
  bool watching_ = false;
  CallId calls_ = 0;
  std::vector<void*> device_memory_;
  std::vector<std::pair<void*, program::MemoryKind>> host_memory_;
  std::map<program::ElementType, std::vector<char>> numbers_;
  std::deque<program::Operation> operations_;
  std::deque<KernelCall> kernels_;
};

}  // namespace trainscope::cuda
