#include "train/loop/loader.h"

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

Loader::Loader(program::Program& program, const program::Config& config,
               const TrainSettings& settings, std::int64_t batch_bytes)
    : settings_(settings),
      batch_bytes_(batch_bytes),
      workers_(config.whole("loader.num_workers")),
      prefetch_(config.whole("loader.prefetch_factor")),
      pin_(config.flag("loader.pin_memory")),
      persistent_(config.flag("loader.persistent_workers")),
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
  writer.add(program::StartWorker{});
  std::int64_t epoch = 0;
  for (std::int64_t batch = 0; batch < settings_.batches(); ++batch) {
    if (worker_of(batch) != worker) continue;
    writer.add(program::Pop{index_queues_.back()});
    const std::int64_t begin = settings_.epoch_begin(batch);
    if (!persistent_ && begin != epoch) writer.add(program::StartWorker{});  // a process of its own
    epoch = begin;
    load(writer, batch);
    writer.add(program::Push{results_, batch});
  }
}

void Loader::load(ThreadWriter& writer, std::int64_t batch) const {
  load(writer, settings_.samples_of(batch), "batch " + std::to_string(batch));
}

void Loader::load(ThreadWriter& writer, std::int64_t samples, const std::string& what) const {
  if (sample_bytes_ > 0)
    writer.add(program::DiskRead{sample_bytes_ * samples, samples}, "read " + what);
  const double share = static_cast<double>(samples) / static_cast<double>(settings_.batch);
  const Nanos work = std::llround(static_cast<double>(load_ns_) * share);
  writer.add(program::HostWork{work, true}, "load " + what);
}

void Loader::pin(ThreadWriter& writer, std::int64_t batch) const {
  const std::int64_t sample = batch_bytes_ / settings_.batch;
  writer.add(program::HostCopy{sample * settings_.samples_of(batch)}, "pin batch");
}

void Loader::add_pin_thread(program::Program& program) {
  ready_ = add_queue(program, "pinned batches", outstanding());
  // A thread of the training process: the two contend for its interpreter.
  program.locks.push_back({"the interpreter's lock"});
  program.threads.front().interpreter = 0;
  ThreadWriter writer = add_thread(program, "pin thread", program::ThreadRole::kPinThread, 0);
  for (std::int64_t batch = 0; batch < settings_.batches(); ++batch) {
    writer.add(program::Pop{results_});
    writer.add(program::FrameworkCall{}, "get batch");
    pin(writer, batch);
    writer.add(program::Push{ready_});
  }
}

void Loader::begin(ThreadWriter& main, std::int64_t batch) const {
  const std::int64_t end = std::min(batch + outstanding(), settings_.epoch_end(batch));
  for (; batch < end; ++batch) hand_out(main, batch);
}

// The list of its samples.
void Loader::hand_out(ThreadWriter& main, std::int64_t batch) const {
  main.add(program::Push{index_queues_[static_cast<std::size_t>(worker_of(batch))], batch});
}

void Loader::next(ThreadWriter& main, std::int64_t batch) const {
  main.add(program::FrameworkCall{}, "next(loader)");
  if (workers_ == 0) {
    load(main, batch);
    if (pin_) pin(main, batch);
    return;
  }
  main.add(program::Take{ready_, batch});
  const std::int64_t following = batch + outstanding();
  if (following < settings_.epoch_end(batch)) hand_out(main, following);
}

void Loader::next_of_another(ThreadWriter& main) const {
  main.add(program::FrameworkCall{}, "next(loader)");
  load(main, settings_.batch, "validation batch");
}

}  // namespace trainscope::train
