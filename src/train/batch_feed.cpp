#include "train/batch_feed.h"

namespace trainscope::train {

using program::ElementType;
using program::Index;
using program::MemoryKind;
using program::Role;

BatchFeed::BatchFeed(program::Program& program, const program::Config& config, const Graph& graph,
                     const TrainSettings& settings, const TrainLines& lines)
    : program_(program), config_(config), settings_(settings), lines_(lines) {
  const MemoryKind host = config.flag("loader.pin_memory") || settings.pins_in_loop
                              ? MemoryKind::kPinned
                              : MemoryKind::kPageable;
  const ElementType type = graph.reads_tokens ? ElementType::kInt64 : ElementType::kFp32;
  const std::int64_t x = graph.values[0], y = graph.rows;
  host_ = {add_input("x", x, type, host), add_input("y", y, ElementType::kInt64, host)};
  if (settings.on_cpu) {
    batches_.push_back(host_);
  } else {
    // Prefetching, the next batch arrives while this one is used.
    for (int i = 0; i < (settings.prefetch ? 2 : 1); ++i) {
      const std::string which = i == 0 ? " on the GPU" : " on the GPU, the next batch's";
      batches_.push_back({add_input("x" + which, x, type, MemoryKind::kDevice),
                          add_input("y" + which, y, ElementType::kInt64, MemoryKind::kDevice)});
    }
  }
  if (settings.set_on_device) add_whole_set();
  if (settings.tensor) return;
  const std::int64_t bytes = program.buffers[host_.x].bytes + program.buffers[host_.y].bytes;
  loader_.emplace(program, config, settings.steps * settings.accumulate, bytes);
}

Index BatchFeed::add_input(const std::string& name, std::int64_t elements, ElementType type,
                           MemoryKind kind) {
  const Index buffer =
      add_buffer(program_, name, elements * program::size_of(type), kind, Role::kBatch);
  program_.buffers[buffer].type = type;
  return buffer;
}

// All samples of the rank, in host memory and on the device; a batch there is a part of them.
void BatchFeed::add_whole_set() {
  const auto whole = [&](Index batch, const char* name, MemoryKind kind) {
    const program::Buffer& part = program_.buffers[batch];
    const std::int64_t sample = part.elements() / settings_.batch;
    const std::int64_t samples =
        settings_.one_batch ? settings_.batch : settings_.data.train_samples / settings_.ranks;
    return add_input(name, sample * samples, part.type, kind);
  };
  const MemoryKind host = program_.buffers[host_.x].kind;
  set_on_host_ = {whole(host_.x, "X", host), whole(host_.y, "Y", host)};
  set_ = {whole(host_.x, "X on the GPU", MemoryKind::kDevice),
          whole(host_.y, "Y on the GPU", MemoryKind::kDevice)};
}

void BatchFeed::begin(ThreadWriter& main) {
  if (settings_.set_on_device) {
    main.at(lines_.whole_set);
    copy(main, set_on_host_.x, set_.x);
    copy(main, set_on_host_.y, set_.y);
  }
  main.at(lines_.begin);
  if (loader_) {
    loader_->begin(main);
  } else {  // X.split and Y.split: views, nothing is copied
    main.add(program::FrameworkCall{}, "aten::split");
    main.add(program::FrameworkCall{}, "aten::split");
  }
  if (settings_.prefetch) fetch(main, 0);
}

void BatchFeed::next(ThreadWriter& main, std::int64_t batch) {
  if (loader_) loader_->next(main, batch);
  if (!settings_.computes) return;
  const BatchBuffers& to = settings_.set_on_device ? of(batch) : host_;
  main.add(program::LoadBatch{to.x, to.y, settings_.one_batch ? 0 : batch});
}

void BatchFeed::deliver(ThreadWriter& main, std::int64_t batch, std::int64_t batches) {
  if (settings_.on_cpu || settings_.set_on_device) return;
  if (!settings_.prefetch) copies(main, batch);
  if (settings_.own_stream) waits(main, batch);
  if (settings_.prefetch && batch + 1 < batches) fetch(main.at(lines_.fetch), batch + 1);
}

void BatchFeed::deliver_test(ThreadWriter& main, std::int64_t batch) {
  main.add(program::FrameworkCall{}, "next(loader)");
  main.add(program::LoadBatch{host_.x, host_.y, batch, true});
  if (settings_.on_cpu) return;
  main.at(lines_.evaluate_copy);
  for (const auto& [from, to] :
       {std::pair{host_.x, batches_[0].x}, std::pair{host_.y, batches_[0].y}}) {
    main.add(program::Copy{from, to, program_.buffers[from].bytes, 0});
    main.add(program::StreamSync{0});
  }
}

void BatchFeed::fetch(ThreadWriter& main, std::int64_t batch) {
  next(main, batch);
  copies(main, batch);
}

void BatchFeed::copies(ThreadWriter& main, std::int64_t batch) {
  copy(main.at(lines_.x), host_.x, of(batch).x);
  copy(main.at(lines_.y), host_.y, of(batch).y);
}

// A new tensor takes the place of the batch before it, whose memory is free from here on.
void BatchFeed::copy(ThreadWriter& main, Index from, Index to) {
  const Index stream = settings_.own_stream ? 1 : 0;
  if (settings_.pins_in_loop && !config_.flag("loader.pin_memory")) {  // else it is pinned already
    main.add(program::FrameworkCall{}, "aten::pin_memory");
    main.add(program::HostCopy{program_.buffers[from].bytes}, "pin the batch");
  }
  if (!there_.insert(to).second) main.add(program::Free{to});
  main.add(program::Alloc{to, stream});
  main.add(program::Copy{from, to, program_.buffers[from].bytes, stream});
  if (!config_.flag("transfer.non_blocking")) main.add(program::StreamSync{stream});
}

// wait_stream: an event on the copy stream that the compute stream waits for.
void BatchFeed::waits(ThreadWriter& main, std::int64_t batch) {
  const Index event = program_.events++;
  main.at(lines_.wait_stream).add(program::RecordEvent{event, 1});
  main.add(program::StreamWait{0, event});
  if (!lines_.record_stream) return;
  main.at(lines_.record_stream).add(program::RecordStream{of(batch).x, 0});
  main.add(program::RecordStream{of(batch).y, 0});
}

}  // namespace trainscope::train
