#include "train/loop/batch_feed.h"

#include <tuple>

#include "train/kernels/kernels.h"

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
  type_ = graph.reads_tokens ? ElementType::kInt64 : ElementType::kFp32;
  read_type_ = graph.reads_tokens ? ElementType::kInt64 : settings.precision.model;
  const std::int64_t x = graph.values[0], y = graph.rows;
  host_ = add_batch("", x, y, host);
  if (settings.on_cpu) {
    batches_.push_back(host_);
  } else {
    batches_.push_back(add_device_batch(" on the GPU", x, y));
    if (settings.prefetch)  // the next batch arrives while this one is used
      batches_.push_back(add_device_batch(" on the GPU, the next batch's", x, y));
  }
  named_.resize(batches_.size(), {program::kNoIndex, program::kNoIndex});
  if (settings.has_short_batch()) add_short_batch(host);
  if (settings.set_on_device) add_whole_set();
  add_tested();
  if (settings.tensor) return;
  const std::int64_t bytes = program.buffers[host_.x].bytes + program.buffers[host_.y].bytes;
  loader_.emplace(program, config, settings, bytes);
}

BatchBuffers BatchFeed::add_batch(const std::string& suffix, std::int64_t x, std::int64_t y,
                                  MemoryKind kind) {
  const bool on_device = kind == MemoryKind::kDevice;
  return {add_input("x" + suffix, x, on_device ? read_type_ : type_, kind),
          add_input("y" + suffix, y, ElementType::kInt64, kind)};
}

// Of a set that lies on the device it is a view, X.split's, which is not copied and takes nothing.
BatchBuffers BatchFeed::add_device_batch(const std::string& suffix, std::int64_t x,
                                         std::int64_t y) {
  const BatchBuffers batch = add_batch(suffix, x, y, MemoryKind::kDevice);
  const bool is_view = settings_.set_on_device;
  for (const Index one : {batch.x, batch.y}) program_.buffers[one].is_view = is_view;
  casts_.push_back(is_view ? Cast() : add_cast(batch.x));
  return batch;
}

// Batches of the test set are copied, where the others are views, too.
void BatchFeed::add_tested() {
  tested_ = batches_[0];
  if (!settings_.on_cpu) cast_of_tested_ = casts_[0];
  if (!settings_.set_on_device || !settings_.evaluates) return;
  const auto elements = [&](Index one) { return program_.buffers[one].elements(); };
  tested_ = add_batch(" on the GPU, of the test set", elements(host_.x), elements(host_.y),
                      MemoryKind::kDevice);
  cast_of_tested_ = add_cast(tested_.x);
}

// x.to(torch.bfloat16), of a tensor that has just been copied.
BatchFeed::Cast BatchFeed::add_cast(Index to) {
  const program::Buffer like = program_.buffers[to];
  if (like.type == type_) return {};
  const Index wide = add_input(like.name + ", as it was copied", like.elements(), type_, like.kind);
  program_.operations.push_back(
      make_operation(program_, program::Cast{like.elements()}, type_, {{wide}, {to}}));
  return {wide, static_cast<Index>(program_.operations.size() - 1)};
}

void BatchFeed::add_short_batch(MemoryKind host) {
  const auto part = [&](Index whole) {
    return program_.buffers[whole].elements() / settings_.batch * settings_.rest;
  };
  const std::int64_t x = part(host_.x), y = part(host_.y);
  short_host_ = add_batch(", an epoch's last", x, y, host);
  batches_.push_back(settings_.on_cpu ? short_host_
                                      : add_device_batch(" on the GPU, an epoch's last", x, y));
}

std::size_t BatchFeed::place_of(std::int64_t batch) const {
  return settings_.is_short(batch) ? named_.size()
                                   : static_cast<std::size_t>(batch) % named_.size();
}

Index BatchFeed::add_input(const std::string& name, std::int64_t elements, ElementType type,
                           MemoryKind kind) {
  return add_numbers(program_, name, elements, type, kind, Role::kBatch);
}

// All samples of the rank, in host memory and on the device; a batch there is a part of them. What
// is copied once is not worth pinning.
void BatchFeed::add_whole_set() {
  const auto whole = [&](Index batch, const char* name, MemoryKind kind) {
    const program::Buffer part = program_.buffers[batch];
    const std::int64_t sample = part.elements() / settings_.batch;
    const std::int64_t samples =
        settings_.one_batch ? settings_.batch : settings_.data.train_samples / settings_.ranks;
    return add_input(name, sample * samples, part.type, kind);
  };
  set_on_host_ = {whole(host_.x, "X", MemoryKind::kPageable),
                  whole(host_.y, "Y", MemoryKind::kPageable)};
  set_ = {whole(batches_[0].x, "X on the GPU", MemoryKind::kDevice),
          whole(host_.y, "Y on the GPU", MemoryKind::kDevice)};
  cast_of_set_ = add_cast(set_.x);
}

void BatchFeed::move_set(ThreadWriter& main) {
  if (!settings_.set_on_device) return;
  main.at(lines_.whole_set);
  const Move blocking{settings_.own_stream ? Index{1} : Index{0}, true, true};
  move(main, set_on_host_.x, set_.x, cast_of_set_, blocking);
  move(main, set_on_host_.y, set_.y, {}, blocking);
}

void BatchFeed::begin(ThreadWriter& main) {
  begin_epoch(main.at(lines_.begin), 0);
  if (settings_.prefetch) fetch(main, 0);
}

void BatchFeed::begin_epoch(ThreadWriter& main, std::int64_t batch) {
  if (loader_) return loader_->begin(main, batch);
  // X.split and Y.split: views, nothing is copied.
  main.add(program::FrameworkCall{}, "aten::split");
  main.add(program::FrameworkCall{}, "aten::split");
}

void BatchFeed::next(ThreadWriter& main, std::int64_t batch) {
  if (batch > 0 && settings_.begins_epoch(batch)) {
    begin_epoch(main.at(lines_.begin), batch);
    if (!settings_.prefetch) main.at(lines_.next);
  }
  if (loader_) loader_->next(main, batch);
  if (!settings_.computes || (!settings_.takes_x && !settings_.takes_y)) return;
  const BatchBuffers& to = settings_.set_on_device ? of(batch) : host_of(batch);
  main.add(program::LoadBatch{to.x, to.y, settings_.one_batch ? 0 : batch});
}

void BatchFeed::deliver(ThreadWriter& main, std::int64_t batch, std::int64_t batches) {
  if (settings_.on_cpu || settings_.set_on_device) return;
  // An epoch's first batch cannot be fetched in the epoch before.
  if (!settings_.prefetch) {
    copies(main, batch);
  } else if (batch > 0 && settings_.begins_epoch(batch)) {
    fetch(main.at(lines_.begin), batch);
  }
  if (settings_.own_stream) waits(main, batch);
  if (settings_.prefetch && batch + 1 < batches && !settings_.begins_epoch(batch + 1))
    fetch(main.at(lines_.fetch), batch + 1);
}

void BatchFeed::deliver_test(ThreadWriter& main, std::int64_t batch) {
  main.add(program::FrameworkCall{}, "next(loader)");
  main.add(program::LoadBatch{host_.x, host_.y, batch, true});
  if (settings_.on_cpu) return;
  main.at(lines_.evaluate_copy);
  const bool has_place = named_[0].x == tested_.x;
  for (const auto& [from, to, cast, named] :
       {std::tuple{host_.x, tested_.x, cast_of_tested_, &named_[0].x},
        std::tuple{host_.y, tested_.y, Cast(), &named_[0].y}}) {
    if (!has_place) leave_place(main, *named);
    move(main, from, to, cast, {0, !has_place, true});
    *named = to;
  }
}

BatchFeed::Apart BatchFeed::add_apart(const std::string& suffix) {
  const std::int64_t x = program_.buffers[host_.x].elements();
  const std::int64_t y = program_.buffers[host_.y].elements();
  if (!host_apart_) host_apart_ = add_batch(", of validation", x, y, MemoryKind::kPageable);
  const BatchBuffers batch{add_input("x" + suffix, x, read_type_, MemoryKind::kDevice),
                           add_input("y" + suffix, y, ElementType::kInt64, MemoryKind::kDevice)};
  const Cast cast = add_cast(batch.x);
  return {batch, cast.operation, cast.wide};
}

void BatchFeed::deliver_apart(ThreadWriter& main, const Apart& apart, std::int64_t batch,
                              std::uint16_t next, std::uint16_t copy) {
  main.at(next);
  if (loader_) loader_->next_of_another(main);
  if (settings_.computes) main.add(program::LoadBatch{host_apart_->x, host_apart_->y, batch, true});
  main.at(copy);
  move(main, host_apart_->x, apart.batch.x, {apart.wide, apart.cast}, {0, true, true});
  move(main, host_apart_->y, apart.batch.y, {}, {0, true, true});
}

void BatchFeed::fetch(ThreadWriter& main, std::int64_t batch) {
  next(main, batch);
  copies(main, batch);
}

void BatchFeed::copies(ThreadWriter& main, std::int64_t batch) {
  BatchBuffers& named = named_[static_cast<std::size_t>(batch) % named_.size()];
  if (settings_.takes_x)
    copy(main.at(lines_.x), host_of(batch).x, of(batch).x, casts_[place_of(batch)], named.x);
  if (settings_.takes_y) copy(main.at(lines_.y), host_of(batch).y, of(batch).y, {}, named.y);
}

void BatchFeed::leave_place(ThreadWriter& main, Index& named) {
  if (named != program::kNoIndex) main.add(program::Free{named});
  named = program::kNoIndex;
}

void BatchFeed::copy(ThreadWriter& main, Index from, Index to, const Cast& cast, Index& named) {
  const Index stream = settings_.own_stream ? 1 : 0;
  if (settings_.pins_in_loop && !config_.flag("loader.pin_memory")) {  // else it is pinned already
    main.add(program::FrameworkCall{}, "aten::pin_memory");
    main.add(program::HostCopy{program_.buffers[from].bytes}, "pin the batch");
  }
  leave_place(main, named);
  move(main, from, to, cast, {stream, true, !config_.flag("transfer.non_blocking")});
  named = to;
}

void BatchFeed::move(ThreadWriter& main, Index from, Index to, const Cast& cast, const Move& how) {
  const bool casts = cast.operation != program::kNoIndex;
  const Index copied = casts ? cast.wide : to;
  if (casts || how.allocates) main.add(program::Alloc{copied, how.stream});
  main.add(program::Copy{from, copied, program_.buffers[from].bytes, how.stream});
  if (how.waits) main.add(program::StreamSync{how.stream});
  if (!casts) return;
  if (how.allocates) main.add(program::Alloc{to, how.stream});
  main.add(program::Launch{cast.operation, how.stream});
  main.add(program::Free{cast.wide});
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
