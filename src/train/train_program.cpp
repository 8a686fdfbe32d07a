// The workload `train`: the classroom MNIST loop, timing only.

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/error.h"
#include "program/marks.h"
#include "train/build.h"
#include "train/loader.h"
#include "train/mlp.h"
#include "train/train_listing.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::MemoryKind;
using program::Phase;
using program::Role;

constexpr std::int64_t kFloat = 4;  // bytes of a pixel, a weight
constexpr std::int64_t kLabel = 8;  // bytes of an int64 label

void refuse_what_contradicts(const program::Config& config) {
  if (config.word("data.source") == "tensor" && config.whole("loader.num_workers") > 0)
    throw InputError(
        "data.source = tensor has no loader, and so no workers; set loader.num_workers = 0, or "
        "data.source = loader");
}

// Buffers, streams and operations of the loop, and the commands of one step.
class TrainBuilder {
 public:
  explicit TrainBuilder(const program::Config& config)
      : config_(config),
        own_stream_(config.whole("transfer.streams") == 2),
        prefetch_(config.flag("transfer.prefetch")) {
    refuse_what_contradicts(config);
    shape_.batch = config.whole("batch_size");
    shape_.inputs = config.whole("model.inputs");
    shape_.hidden = config.whole("model.hidden");
    shape_.layers = config.whole("model.layers");
  }

  program::Program build() {
    program_.threads.push_back({"host main", program::ThreadRole::kMain, 0, {}});
    program_.streams.push_back(compute_stream(config_));
    if (own_stream_)  // as torch.cuda.Stream() makes it
      program_.streams.push_back({"stream 20", 20, program::StreamKind::kNonBlocking, 0, 0});
    lines_ = write_train_listing(program_.listing, config_, shape_);
    add_buffers();
    forward_ = add_operations(mlp_forward(shape_));
    loss_ = add_operations(mlp_loss(shape_));
    backward_ = add_operations(mlp_backward(shape_));
    update_ = add_operations(mlp_sgd(shape_));
    add_loader();
    write_loop();
    program_.samples_per_step = shape_.batch;
    return std::move(program_);
  }

 private:
  struct Range {
    Index first, last;
  };
  // A batch on the GPU.
  struct Batch {
    Index x, y;
  };

  void add_buffers() {
    const MemoryKind host =
        config_.flag("loader.pin_memory") ? MemoryKind::kPinned : MemoryKind::kPageable;
    const std::int64_t x_bytes = shape_.batch * shape_.inputs * kFloat;
    const std::int64_t y_bytes = shape_.batch * kLabel;
    const std::int64_t weights = shape_.parameters() * kFloat;
    x_host_ = add_buffer(program_, "x", x_bytes, host, Role::kBatch);
    y_host_ = add_buffer(program_, "y", y_bytes, host, Role::kBatch);
    // Prefetching, the next batch arrives while this one is used.
    for (int i = 0; i < (prefetch_ ? 2 : 1); ++i) {
      const char* which = i == 0 ? " on the GPU" : " on the GPU, the next batch's";
      batches_.push_back({add_buffer(program_, std::string("x") + which, x_bytes,
                                     MemoryKind::kDevice, Role::kBatch),
                          add_buffer(program_, std::string("y") + which, y_bytes,
                                     MemoryKind::kDevice, Role::kBatch)});
    }
    loss_value_ = add_buffer(program_, "loss", kFloat, MemoryKind::kDevice, Role::kActivation);
    loss_host_ =
        add_buffer(program_, "loss on the host", kFloat, MemoryKind::kPageable, Role::kActivation);
    add_buffer(program_, "parameters", weights, MemoryKind::kDevice, Role::kParameter);
    add_buffer(program_, "gradients", weights, MemoryKind::kDevice, Role::kGradient);
    const std::int64_t activations =
        shape_.batch * (2 * shape_.layers * shape_.hidden + 2 * shape_.classes);
    add_buffer(program_, "activations", activations * kFloat, MemoryKind::kDevice,
               Role::kActivation);
  }

  Range add_operations(const std::vector<program::Operation>& operations) {
    const auto first = static_cast<Index>(program_.operations.size());
    program_.operations.insert(program_.operations.end(), operations.begin(), operations.end());
    return {first, static_cast<Index>(program_.operations.size())};
  }

  void add_loader() {
    if (config_.word("data.source") == "tensor") return;
    const std::int64_t bytes = program_.buffers[x_host_].bytes + program_.buffers[y_host_].bytes;
    loader_.emplace(program_, config_, config_.whole("steps"), bytes);
  }

  void write_loop() {
    const std::int64_t steps = config_.whole("steps");
    ThreadWriter main(program_, 0);
    main.at(lines_.begin);
    if (loader_) {
      loader_->begin(main);
    } else {  // X.split and Y.split: views, nothing is copied
      main.add(program::FrameworkCall{}, "aten::split");
      main.add(program::FrameworkCall{}, "aten::split");
    }
    if (prefetch_) write_fetch(main, 0);
    for (std::int64_t step = 0; step < steps; ++step) {
      main.at(lines_.loop).add(program::BeginMark{}, fmt::format("ProfilerStep#{}", step));
      if (!prefetch_) write_next(main, step);
      if (lines_.timer_start)
        main.at(lines_.timer_start).add(program::BeginMark{}, program::kTimerMark);
      if (!prefetch_) write_copies(main, step);
      if (own_stream_) write_waits(main, step);
      if (prefetch_ && step + 1 < steps) write_fetch(main.at(lines_.fetch), step + 1);
      write_step(main, step);
      if (lines_.timer_stop) main.at(lines_.timer_stop).add(program::EndMark{});
      main.at(lines_.loop).add(program::EndMark{});
    }
    main.at(lines_.end).add(program::DeviceSync{});
    program_.steps = static_cast<int>(steps);
    // The first step has no loader ahead of it and finds an empty stream.
    program_.warmup_steps = steps > 1 ? 1 : 0;
  }

  // Takes a batch: the tensor's batches are there already.
  void write_next(ThreadWriter& main, std::int64_t batch) {
    if (loader_) loader_->next(main, batch);
  }

  void write_fetch(ThreadWriter& main, std::int64_t batch) {
    write_next(main, batch);
    write_copies(main, batch);
  }

  // Prefetching, batch after batch goes into the other of two buffers. In PyTorch each is a new
  // tensor of the caching allocator, so a copy waits for no kernel that reads an earlier batch.
  void write_copies(ThreadWriter& main, std::int64_t batch) {
    write_copy(main.at(lines_.x), x_host_, on_device(batch).x);
    write_copy(main.at(lines_.y), y_host_, on_device(batch).y);
  }

  const Batch& on_device(std::int64_t batch) const {
    return batches_[static_cast<std::size_t>(batch) % batches_.size()];
  }

  void write_copy(ThreadWriter& main, Index from, Index to) {
    const Index stream = own_stream_ ? 1 : 0;
    main.add(program::Copy{from, to, program_.buffers[from].bytes, stream});
    if (!config_.flag("transfer.non_blocking")) main.add(program::StreamSync{stream});
  }

  // wait_stream: an event on the copy stream that the compute stream waits for.
  void write_waits(ThreadWriter& main, std::int64_t batch) {
    const Index event = program_.events++;
    main.at(lines_.wait_stream).add(program::RecordEvent{event, 1});
    main.add(program::StreamWait{0, event});
    if (!lines_.record_stream) return;
    main.at(lines_.record_stream).add(program::RecordStream{on_device(batch).x, 0});
    main.add(program::RecordStream{on_device(batch).y, 0});
  }

  void write_step(ThreadWriter& main, std::int64_t step) {
    const bool zero_first = config_.word("zero_grad.when") == "before_forward";
    if (zero_first) main.at(lines_.zero_grad).add(program::FrameworkCall{}, "zero_grad");
    if (step == 0 && config_.flag("loop.cold_start")) write_cublas_load(main);
    launch(main, lines_.forward, Phase::kForward, forward_);
    launch(main, lines_.loss, Phase::kForward, loss_);
    if (!zero_first) main.at(lines_.zero_grad).add(program::FrameworkCall{}, "zero_grad");
    launch(main, lines_.backward, Phase::kBackward, backward_);
    launch(main, lines_.step, Phase::kOptimizer, update_);
    const std::int64_t every = config_.whole("loop.item_every");
    if (every > 0 && step % every == every - 1) write_item(main);
    if (lines_.sync) main.at(lines_.sync).add(program::DeviceSync{});
  }

  void write_cublas_load(ThreadWriter& main) {
    const double load_ms = config_.number("loop.cublas_load_ms");
    const auto load = std::llround(load_ms * static_cast<double>(kMillisecond));
    main.at(lines_.forward).add(program::HostWork{load, false}, "load cuBLAS");
  }

  void write_item(ThreadWriter& main) {
    main.at(lines_.item)
        .add(program::ReadScalar{{loss_value_, loss_host_, kFloat, 0}}, "aten::item");
  }

  static void launch(ThreadWriter& main, std::uint16_t line, Phase phase, Range operations) {
    main.at(line).in(phase);
    for (Index i = operations.first; i < operations.last; ++i) main.add(program::Launch{i, 0});
    main.in(Phase::kNone);
  }

  const program::Config& config_;
  program::Program program_;
  MlpShape shape_;
  bool own_stream_;
  bool prefetch_;
  std::optional<Loader> loader_;  // none where the data set is one tensor
  TrainLines lines_;
  std::vector<Batch> batches_;
  Index x_host_ = 0, y_host_ = 0, loss_value_ = 0, loss_host_ = 0;
  Range forward_{}, loss_{}, backward_{}, update_{};
};

}  // namespace

program::Program build_train(const program::Config& config) {
  return TrainBuilder(config).build();
}

}  // namespace trainscope::train
