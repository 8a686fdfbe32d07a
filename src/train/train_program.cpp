// The workload `train`: the classroom MNIST loop, timing only.

#include <fmt/format.h>

#include <cmath>

#include "train/build.h"
#include "train/loader.h"
#include "train/mlp.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::MemoryKind;
using program::Phase;
using program::Role;

constexpr std::int64_t kFloat = 4;  // bytes of a pixel, a weight
constexpr std::int64_t kLabel = 8;  // bytes of an int64 label

struct Lines {
  std::uint16_t loop, wait_stream, x, y, zero_grad, forward, loss, backward, step, sleep, item,
      sync, end;
};

void list_set_up(program::Listing& listing, const program::Config& config, const MlpShape& shape) {
  listing.add(fmt::format("loader = DataLoader(mnist, batch_size={}, num_workers={},", shape.batch,
                          config.whole("loader.num_workers")));
  listing.add(
      fmt::format("                    pin_memory={})", python(config.flag("loader.pin_memory"))));
  listing.add("model = nn.Sequential(");
  listing.add(fmt::format("    nn.Linear({}, {}), nn.ReLU(),", shape.inputs, shape.hidden));
  listing.add(fmt::format("    nn.Linear({}, {})).to(device)", shape.hidden, shape.classes));
  listing.add(fmt::format("optimizer = torch.optim.SGD(model.parameters(), lr={})",
                          config.number("optimizer.lr")));
}

Lines write_listing(program::Listing& listing, const program::Config& config,
                    const MlpShape& shape) {
  list_set_up(listing, config, shape);
  const bool own_stream = config.whole("transfer.streams") == 2;
  const auto non_blocking = python(config.flag("transfer.non_blocking"));
  if (own_stream) listing.add("copy_stream = torch.cuda.Stream()");
  listing.add("");
  Lines lines{};
  const bool counts = config.whole("loop.item_every") > 1;
  lines.loop =
      listing.add(counts ? "for step, (x, y) in enumerate(loader):" : "for x, y in loader:");
  if (own_stream) listing.add("    with torch.cuda.stream(copy_stream):");
  const char* indent = own_stream ? "        " : "    ";
  lines.x = listing.add(fmt::format("{}x = x.to(device, non_blocking={})", indent, non_blocking));
  lines.y = listing.add(fmt::format("{}y = y.to(device, non_blocking={})", indent, non_blocking));
  if (own_stream)
    lines.wait_stream = listing.add("    torch.cuda.current_stream().wait_stream(copy_stream)");
  const bool zero_first = config.word("zero_grad.when") == "before_forward";
  if (zero_first) lines.zero_grad = listing.add("    optimizer.zero_grad(set_to_none=True)");
  lines.forward = listing.add("    out = model(x)");
  lines.loss = listing.add("    loss = F.cross_entropy(out, y)");
  if (!zero_first) lines.zero_grad = listing.add("    optimizer.zero_grad(set_to_none=True)");
  lines.backward = listing.add("    loss.backward()");
  lines.step = listing.add("    optimizer.step()");
  if (const double sleep = config.number("loop.sleep_ms"); sleep > 0)
    lines.sleep = listing.add(fmt::format("    time.sleep({})", sleep / 1000));
  if (const std::int64_t every = config.whole("loop.item_every"); every == 1) {
    lines.item = listing.add("    print(loss.item())");
  } else if (every > 1) {
    listing.add(fmt::format("    if step % {} == 0:", every));
    lines.item = listing.add("        print(loss.item())");
  }
  if (config.flag("loop.sync_timing")) lines.sync = listing.add("    torch.cuda.synchronize()");
  lines.end = listing.add("torch.cuda.synchronize()");
  return lines;
}

// Buffers, streams and operations of the loop, and the commands of one step.
class TrainBuilder {
 public:
  explicit TrainBuilder(const program::Config& config) : config_(config) {
    shape_.batch = config.whole("batch_size");
    shape_.hidden = config.whole("model.hidden");
    own_stream_ = config.whole("transfer.streams") == 2;
  }

  program::Program build() {
    program_.threads.push_back({"host main", program::ThreadRole::kMain, 0, {}});
    program_.streams.push_back(compute_stream(config_));
    if (own_stream_)  // as torch.cuda.Stream() makes it
      program_.streams.push_back({"stream 20", 20, program::StreamKind::kNonBlocking, 0, 0});
    lines_ = write_listing(program_.listing, config_, shape_);
    add_buffers();
    forward_ = add_operations(mlp_forward(shape_));
    loss_ = add_operations(mlp_loss(shape_));
    backward_ = add_operations(mlp_backward(shape_));
    update_ = add_operations(mlp_sgd(shape_));
    write_loop();
    program_.samples_per_step = shape_.batch;
    return std::move(program_);
  }

 private:
  struct Range {
    Index first, last;
  };

  void add_buffers() {
    const MemoryKind host =
        config_.flag("loader.pin_memory") ? MemoryKind::kPinned : MemoryKind::kPageable;
    const std::int64_t x_bytes = shape_.batch * shape_.inputs * kFloat;
    const std::int64_t y_bytes = shape_.batch * kLabel;
    const std::int64_t weights = shape_.parameters() * kFloat;
    x_host_ = add_buffer(program_, "x", x_bytes, host, Role::kBatch);
    y_host_ = add_buffer(program_, "y", y_bytes, host, Role::kBatch);
    x_ = add_buffer(program_, "x on the GPU", x_bytes, MemoryKind::kDevice, Role::kBatch);
    y_ = add_buffer(program_, "y on the GPU", y_bytes, MemoryKind::kDevice, Role::kBatch);
    loss_value_ = add_buffer(program_, "loss", kFloat, MemoryKind::kDevice, Role::kActivation);
    loss_host_ =
        add_buffer(program_, "loss on the host", kFloat, MemoryKind::kPageable, Role::kActivation);
    add_buffer(program_, "parameters", weights, MemoryKind::kDevice, Role::kParameter);
    add_buffer(program_, "gradients", weights, MemoryKind::kDevice, Role::kGradient);
    const std::int64_t activations = shape_.batch * (2 * shape_.hidden + 2 * shape_.classes);
    add_buffer(program_, "activations", activations * kFloat, MemoryKind::kDevice,
               Role::kActivation);
  }

  Range add_operations(const std::vector<program::Operation>& operations) {
    const auto first = static_cast<Index>(program_.operations.size());
    program_.operations.insert(program_.operations.end(), operations.begin(), operations.end());
    return {first, static_cast<Index>(program_.operations.size())};
  }

  void write_loop() {
    const std::int64_t steps = config_.whole("steps");
    const std::int64_t batch_bytes =
        program_.buffers[x_host_].bytes + program_.buffers[y_host_].bytes;
    const Loader loader(program_, config_, steps, batch_bytes);
    ThreadWriter main(program_, 0);
    loader.begin(main.at(lines_.loop));
    for (std::int64_t step = 0; step < steps; ++step) {
      main.at(lines_.loop).add(program::BeginMark{}, fmt::format("ProfilerStep#{}", step));
      loader.next(main, step);
      write_step(main, step);
      main.at(lines_.loop).add(program::EndMark{});
    }
    main.at(lines_.end).add(program::DeviceSync{});
    program_.steps = static_cast<int>(steps);
    // The first step has no loader ahead of it and finds an empty stream.
    program_.warmup_steps = steps > 1 ? 1 : 0;
  }

  void write_step(ThreadWriter& main, std::int64_t step) {
    main.at(lines_.x);
    write_copy(main, x_host_, x_);
    main.at(lines_.y);
    write_copy(main, y_host_, y_);
    if (own_stream_) {
      // wait_stream: an event on the copy stream that the compute stream waits for.
      const Index event = program_.events++;
      main.at(lines_.wait_stream).add(program::RecordEvent{event, 1});
      main.add(program::StreamWait{0, event});
    }
    const bool zero_first = config_.word("zero_grad.when") == "before_forward";
    if (zero_first) main.at(lines_.zero_grad).add(program::FrameworkCall{}, "zero_grad");
    launch(main, lines_.forward, Phase::kForward, forward_);
    launch(main, lines_.loss, Phase::kForward, loss_);
    if (!zero_first) main.at(lines_.zero_grad).add(program::FrameworkCall{}, "zero_grad");
    launch(main, lines_.backward, Phase::kBackward, backward_);
    launch(main, lines_.step, Phase::kOptimizer, update_);
    if (lines_.sleep) {
      const double nanos = config_.number("loop.sleep_ms") * double{kMillisecond};
      main.at(lines_.sleep).add(program::HostWork{std::llround(nanos), false, false}, "time.sleep");
    }
    const std::int64_t every = config_.whole("loop.item_every");
    if (every > 0 && step % every == 0) write_item(main);
    if (lines_.sync) main.at(lines_.sync).add(program::DeviceSync{});
  }

  void write_copy(ThreadWriter& main, Index from, Index to) {
    const Index stream = own_stream_ ? 1 : 0;
    main.add(program::Copy{from, to, program_.buffers[from].bytes, stream});
    if (!config_.flag("transfer.non_blocking")) main.add(program::StreamSync{stream});
  }

  // loss.item(): a copy of four bytes to ordinary memory, and a wait for all that is before it.
  void write_item(ThreadWriter& main) {
    main.at(lines_.item).add(program::Copy{loss_value_, loss_host_, kFloat, 0}, "aten::item");
    main.add(program::StreamSync{0});
  }

  static void launch(ThreadWriter& main, std::uint16_t line, Phase phase, Range operations) {
    main.at(line).in(phase);
    for (Index i = operations.first; i < operations.last; ++i) main.add(program::Launch{i, 0});
    main.in(Phase::kNone);
  }

  const program::Config& config_;
  program::Program program_;
  MlpShape shape_;
  bool own_stream_ = false;
  Lines lines_{};
  Index x_host_ = 0, y_host_ = 0, x_ = 0, y_ = 0, loss_value_ = 0, loss_host_ = 0;
  Range forward_{}, loss_{}, backward_{}, update_{};
};

}  // namespace

program::Program build_train(const program::Config& config) {
  return TrainBuilder(config).build();
}

}  // namespace trainscope::train
