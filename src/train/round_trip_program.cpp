// The workload `copy` in the direction round_trip: a tensor goes to the GPU, a kernel reads it, the
// result comes back, in chunks that are spread over streams.

#include "train/round_trip_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/whole.h"
#include "trace/step_mark.h"
#include "train/kernels/kernels.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::ElementType;
using program::Index;
using program::MemoryKind;
using program::Role;

constexpr std::int64_t kNumber = 4;  // bytes: FP32

// What the config asks for.
struct Plan {
  std::int64_t numbers = 0;  // of the tensor
  std::int64_t of_chunk = 0;
  std::int64_t chunks = 1;
  std::int64_t streams = 1;
  std::int64_t flops = 1;  // of each number
  std::int64_t steps = 1;
  std::int64_t rounds = 1;  // of a step
  bool pinned = false;
  bool waits = false;  // for each copy
  bool breadth_first = false;

  // f is x -> 2 x; else a loop of multiply-adds.
  bool doubles() const { return flops == 1; }
  std::int64_t multiply_adds() const { return ceil_div(flops, 2); }
  // Tensors of a chunk: while one is assigned to its name, the round's before still lies there.
  std::int64_t turns() const { return steps * rounds > 1 ? 2 : 1; }
};

// As torch.chunk cuts: all pieces are as long but the last, and there may be fewer.
void cut(Plan& plan, std::int64_t wanted) {
  plan.of_chunk = ceil_div(plan.numbers, std::min(wanted, plan.numbers));
  plan.chunks = ceil_div(plan.numbers, plan.of_chunk);
}

Plan plan_of(const program::Config& config) {
  const std::int64_t bytes = config.whole("copy.bytes");
  if (bytes % kNumber != 0)
    throw InputError("a round trip is of FP32 numbers; set copy.bytes to a multiple of " +
                     std::to_string(kNumber));
  Plan plan;
  plan.numbers = bytes / kNumber;
  cut(plan, config.whole("copy.chunks"));
  plan.streams = config.whole("copy.streams");
  plan.flops = config.whole("copy.flops");
  plan.steps = config.whole("steps");
  plan.rounds = config.whole("copy.count");
  plan.pinned = config.word("copy.memory") == "pinned";
  plan.waits = !config.flag("transfer.non_blocking");
  plan.breadth_first = config.word("copy.order") == "breadth_first";
  return plan;
}

struct Lines {
  std::uint16_t loop = 0;
  std::uint16_t to = 0;
  std::uint16_t compute = 0;
  std::uint16_t back = 0;
  std::uint16_t synchronise = 0;
};

// Adds loops over the chunks to the listing, each on its stream.
class ChunkLoops {
 public:
  ChunkLoops(program::Listing& listing, const Plan& plan, std::string indent)
      : listing_(listing), plan_(plan), indent_(std::move(indent)) {}

  void begin() {
    listing_.add(fmt::format("{}for i in range({}):", indent_, plan_.chunks));
    if (plan_.streams > 1)
      listing_.add(
          fmt::format("{}    with torch.cuda.stream(streams[i % {}]):", indent_, plan_.streams));
  }
  std::uint16_t line(const std::string& text) {
    return listing_.add(indent_ + (plan_.streams > 1 ? "        " : "    ") + text);
  }

 private:
  program::Listing& listing_;
  const Plan& plan_;
  std::string indent_;
};

// A kernel of as much arithmetic as is asked for: PyTorch's jiterator compiles what it is given
// into one element-wise kernel (torch/cuda/jiterator.py).
void write_function(program::Listing& listing, const Plan& plan) {
  if (plan.doubles()) {
    listing.add("f = lambda x: 2 * x");
    return;
  }
  listing.add("f = torch.cuda.jiterator._create_jit_fn(\"\"\"");
  listing.add("template <typename T> T f(T x) {");
  listing.add(
      fmt::format("  for (int i = 0; i < {}; ++i) x = x * T(0.5) + T(1);", plan.multiply_adds()));
  listing.add("  return x;");
  listing.add("}\"\"\")");
}

void write_tensors(program::Listing& listing, const Plan& plan) {
  const char* where = plan.pinned ? ", pin_memory=True" : "";
  listing.add("import torch");
  listing.add("");
  listing.add(fmt::format("h = torch.randn({}{}).chunk({})", plan.numbers, where, plan.chunks));
  listing.add(fmt::format("out = torch.empty({}{}).chunk({})", plan.numbers, where, plan.chunks));
  if (plan.streams > 1)
    listing.add(fmt::format("streams = [torch.cuda.Stream() for _ in range({})]", plan.streams));
  write_function(listing, plan);
  if (plan.breadth_first) listing.add("x, y = {}, {}");
  listing.add("");
}

Lines write_listing(program::Listing& listing, const Plan& plan) {
  write_tensors(listing, plan);
  Lines lines;
  std::string indent;
  if (plan.steps > 1) {
    lines.loop = listing.add(fmt::format("for step in range({}):", plan.steps));
    indent = "    ";
  }
  const std::string of_step = indent;
  if (plan.rounds > 1) {
    const std::uint16_t rounds =
        listing.add(fmt::format("{}for round in range({}):", indent, plan.rounds));
    if (plan.steps == 1) lines.loop = rounds;
    indent += "    ";
  }
  const auto non_blocking = python(!plan.waits);
  const char* of_chunk = plan.breadth_first ? "[i]" : "";
  ChunkLoops loops(listing, plan, indent);
  loops.begin();
  lines.to =
      loops.line(fmt::format("x{} = h[i].to(\"cuda\", non_blocking={})", of_chunk, non_blocking));
  if (plan.breadth_first) loops.begin();
  lines.compute = loops.line(fmt::format("y{0} = f(x{0})", of_chunk));
  if (plan.breadth_first) loops.begin();
  lines.back =
      loops.line(fmt::format("out[i].copy_(y{}, non_blocking={})", of_chunk, non_blocking));
  lines.synchronise = listing.add(of_step + "torch.cuda.synchronize()");
  if (lines.loop == 0) lines.loop = lines.to;
  return lines;
}

// PyTorch's element-wise kernels: 128 threads of four numbers each
// (aten/src/ATen/native/cuda/thread_constants.h).
void give_shape(program::Operation& kernel, std::int64_t numbers) {
  constexpr int kThreads = 128;
  constexpr std::int64_t kEach = 4;
  kernel.threads = kThreads;
  kernel.blocks = ceil_div(numbers, kThreads * kEach);
  program::BlockWork work;
  work.flops = kernel.flops / static_cast<double>(kernel.blocks);
  work.bytes = kernel.bytes / static_cast<double>(kernel.blocks);
  work.ilp = static_cast<int>(kEach);
  kernel.block_work = work;
}

class RoundTrip {
 public:
  RoundTrip(program::Program& program, const Plan& plan, const program::Config& config)
      : program_(program), plan_(plan), main_(program, 0) {
    const MemoryKind host = plan.pinned ? MemoryKind::kPinned : MemoryKind::kPageable;
    h_ = add_numbers(program, "h", plan.numbers, ElementType::kFp32, host, Role::kBatch);
    program.buffers[h_].initial = {program::Initial::Kind::kNormal, 1};
    out_ = add_numbers(program, "out", plan.numbers, ElementType::kFp32, host, Role::kBatch);
    add_streams(config);
    for (std::int64_t i = 0; i < plan.chunks; ++i) add_chunk(i);
  }

  void write_steps(const Lines& lines) {
    lines_ = lines;
    StepRoom room(main_, plan_.steps);
    for (std::int64_t step = 0; step < plan_.steps; ++step) {
      main_.at(lines.loop).add(program::BeginMark{}, trace::step_mark(step));
      for (std::int64_t round = 0; round < plan_.rounds; ++round) write_round();
      main_.at(lines.synchronise).add(program::DeviceSync{});
      main_.at(lines.loop).add(program::EndMark{});
      room.after(step);
    }
  }

 private:
  struct Chunk {
    std::int64_t begin = 0;  // bytes of the tensor before it
    std::int64_t bytes = 0;
    Index stream = 0;
    std::array<Index, 2> x{}, y{}, kernel{};  // in turns
  };

  // PyTorch's own streams do not wait for the default one.
  void add_streams(const program::Config& config) {
    if (plan_.streams == 1) return program_.streams.push_back(compute_stream(config));
    constexpr int kFirst = 13;  // as PyTorch's profiler numbers streams that a program makes
    for (int number = kFirst; number < kFirst + static_cast<int>(plan_.streams); ++number)
      program_.streams.push_back(
          {fmt::format("stream {}", number), number, program::StreamKind::kNonBlocking, 0, 0});
  }

  void add_chunk(std::int64_t i) {
    const std::int64_t first = i * plan_.of_chunk;
    const std::int64_t numbers = std::min(plan_.of_chunk, plan_.numbers - first);
    Chunk chunk;
    chunk.begin = first * kNumber;
    chunk.bytes = numbers * kNumber;
    chunk.stream = static_cast<Index>(i % plan_.streams);
    for (std::size_t turn = 0; turn < static_cast<std::size_t>(plan_.turns()); ++turn) {
      const auto on_gpu = [&](const char* name, Role role) {
        return add_numbers(program_, fmt::format("{} of chunk {}", name, i), numbers,
                           ElementType::kFp32, MemoryKind::kDevice, role);
      };
      chunk.x[turn] = on_gpu("x", Role::kBatch);
      chunk.y[turn] = on_gpu("y", Role::kActivation);
      chunk.kernel[turn] = add_kernel(numbers, chunk.x[turn], chunk.y[turn]);
    }
    chunks_.push_back(chunk);
  }

  Index add_kernel(std::int64_t numbers, Index x, Index y) {
    program::Operation kernel =
        make_operation(program_, program::Multiply{numbers, 2}, ElementType::kFp32, {{x}, {y}});
    if (!plan_.doubles()) {  // whose numbers nobody computes
      kernel.function = std::monostate{};
      kernel.kernel = "f";
      kernel.framework = "f(x)";
      kernel.flops = 2.0 * static_cast<double>(plan_.multiply_adds() * numbers);
    }
    give_shape(kernel, numbers);
    program_.operations.push_back(std::move(kernel));
    return static_cast<Index>(program_.operations.size() - 1);
  }

  void write_round() {
    turn_ = static_cast<std::size_t>(rounds_++ % plan_.turns());
    if (!plan_.breadth_first) {
      for (const Chunk& chunk : chunks_) {
        to_gpu(chunk, name_of_x_);
        compute(chunk, name_of_y_);
        back(chunk);
      }
      return;
    }
    names_.resize(chunks_.size(), {program::kNoIndex, program::kNoIndex});
    for (std::size_t i = 0; i < chunks_.size(); ++i) to_gpu(chunks_[i], names_[i][0]);
    for (std::size_t i = 0; i < chunks_.size(); ++i) compute(chunks_[i], names_[i][1]);
    for (const Chunk& chunk : chunks_) back(chunk);
  }

  // What a name meant until now goes once the new tensor is there.
  void name(Index& name, Index tensor) {
    if (name != program::kNoIndex) main_.add(program::Free{name});
    name = tensor;
  }

  void to_gpu(const Chunk& chunk, Index& x) {
    main_.at(lines_.to).add(program::Alloc{chunk.x[turn_], chunk.stream});
    main_.add(program::Copy{h_, chunk.x[turn_], chunk.bytes, chunk.stream, chunk.begin, 0});
    if (plan_.waits) main_.add(program::StreamSync{chunk.stream});
    name(x, chunk.x[turn_]);
  }

  void compute(const Chunk& chunk, Index& y) {
    main_.at(lines_.compute).add(program::Alloc{chunk.y[turn_], chunk.stream});
    main_.add(program::Launch{chunk.kernel[turn_], chunk.stream});
    name(y, chunk.y[turn_]);
  }

  void back(const Chunk& chunk) {
    main_.at(lines_.back)
        .add(program::Copy{chunk.y[turn_], out_, chunk.bytes, chunk.stream, 0, chunk.begin});
    if (plan_.waits) main_.add(program::StreamSync{chunk.stream});
  }

  program::Program& program_;
  const Plan& plan_;
  ThreadWriter main_;
  Lines lines_;
  Index h_ = 0, out_ = 0;
  std::vector<Chunk> chunks_;
  std::int64_t rounds_ = 0;
  std::size_t turn_ = 0;
  // The tensors that Python's names mean: one of all chunks, or one a chunk.
  Index name_of_x_ = program::kNoIndex, name_of_y_ = program::kNoIndex;
  std::vector<std::array<Index, 2>> names_;
};

}  // namespace

program::Program build_round_trip(const program::Config& config) {
  const Plan plan = plan_of(config);
  program::Program program;
  program.threads.push_back({"host main", program::ThreadRole::kMain, 0, {}});
  const Lines lines = write_listing(program.listing, plan);
  RoundTrip(program, plan, config).write_steps(lines);
  program.steps = static_cast<int>(plan.steps);
  program.warmup_steps = program.steps > 1 ? 1 : 0;
  const std::int64_t flops = plan.doubles() ? 1 : 2 * plan.multiply_adds();
  program.step_flops = static_cast<double>(flops) * static_cast<double>(plan.numbers) *
                       static_cast<double>(plan.rounds);
  return program;
}

}  // namespace trainscope::train
