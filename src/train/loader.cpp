#include "train/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace trainscope::train {
namespace {

program::Index add_queue(program::Program& program, std::string name, std::int64_t capacity) {
  program.queues.push_back({std::move(name), std::max<std::int64_t>(1, capacity)});
  return static_cast<program::Index>(program.queues.size() - 1);
}

ThreadWriter add_thread(program::Program& program, std::string name, program::ThreadRole role,
                        program::Index interpreter) {
  program.threads.push_back({std::move(name), role, 0, {}, interpreter});
  return {program, static_cast<program::Index>(program.threads.size() - 1)};
}

Nanos load_time(const program::Config& config) {
  const double nanos = config.number("loader.sample_ms") * static_cast<double>(kMillisecond) *
                       static_cast<double>(config.whole("batch_size"));
  constexpr double kMost = 1e6 * kSecond;
  if (nanos > kMost)
    throw InputError(
        fmt::format("a batch of {} samples of {} ms each takes {:.2g} s to load; set "
                    "loader.sample_ms or batch_size lower",
                    config.whole("batch_size"), config.number("loader.sample_ms"), nanos / 1e9));
  return std::llround(nanos);
}

}  // namespace

Loader::Loader(program::Program& program, const program::Config& config, std::int64_t batches,
               std::int64_t batch_bytes)
    : batches_(batches),
      batch_bytes_(batch_bytes),
      workers_(config.whole("loader.num_workers")),
      prefetch_(config.whole("loader.prefetch_factor")),
      pin_(config.flag("loader.pin_memory")),
      persistent_(config.flag("loader.persistent_workers")),
      batch_size_(config.whole("batch_size")),
      sample_bytes_(config.whole("loader.sample_bytes")),
      load_ns_(load_time(config)) {
  if (workers_ == 0) return;
  // Never full: what is outstanding is bounded by the index lists.
  results_ = ready_ = add_queue(program, "worker results", outstanding());
  for (std::int64_t worker = 0; worker < workers_; ++worker) add_worker(program, worker);
  if (pin_) add_pin_thread(program);
}

void Loader::add_worker(program::Program& program, std::int64_t worker) {
  const std::string number = std::to_string(worker);
  index_queues_.push_back(add_queue(program, "index lists " + number, prefetch_));
  ThreadWriter writer =
      add_thread(program, "loader worker " + number, program::ThreadRole::kLoaderWorker,
                 program::kNoIndex);  // a process, with an interpreter of its own
  if (!persistent_) writer.add(program::StartWorker{});
  for (std::int64_t batch = worker; batch < batches_; batch += workers_) {
    writer.add(program::Pop{index_queues_.back()});
    load(writer, batch);
    writer.add(program::Push{results_, batch});
  }
}

void Loader::load(ThreadWriter& writer, std::int64_t batch) const {
  const std::string number = std::to_string(batch);
  if (sample_bytes_ > 0)
    writer.add(program::DiskRead{sample_bytes_ * batch_size_, batch_size_}, "read batch " + number);
  writer.add(program::HostWork{load_ns_, true}, "load batch " + number);
}

void Loader::add_pin_thread(program::Program& program) {
  ready_ = add_queue(program, "pinned batches", outstanding());
  // A thread of the training process: the two contend for its interpreter.
  program.locks.push_back({"the interpreter's lock"});
  program.threads.front().interpreter = 0;
  ThreadWriter writer = add_thread(program, "pin thread", program::ThreadRole::kPinThread, 0);
  for (std::int64_t batch = 0; batch < batches_; ++batch) {
    writer.add(program::Pop{results_});
    writer.add(program::FrameworkCall{}, "get batch");
    writer.add(program::HostCopy{batch_bytes_}, "pin batch");
    writer.add(program::Push{ready_});
  }
}

void Loader::begin(ThreadWriter& main) const {
  for (std::int64_t batch = 0; batch < std::min(outstanding(), batches_); ++batch)
    main.add(program::Push{index_queues_[static_cast<std::size_t>(batch % workers_)], batch});
}

void Loader::next(ThreadWriter& main, std::int64_t batch) const {
  main.add(program::FrameworkCall{}, "next(loader)");
  if (workers_ == 0) {
    load(main, batch);
    if (pin_) main.add(program::HostCopy{batch_bytes_}, "pin batch");
    return;
  }
  main.add(program::Take{ready_, batch});
  const std::int64_t following = batch + outstanding();
  if (following < batches_)
    main.add(
        program::Push{index_queues_[static_cast<std::size_t>(following % workers_)], following});
}

}  // namespace trainscope::train
