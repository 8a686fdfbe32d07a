// The workload `kernel`: equal kernels of any shape, on one stream or spread over several.

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "machine/occupancy.h"
#include "trace/step_mark.h"
#include "train/build.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

machine::LaunchShape launch_shape(const program::Config& config) {
  machine::LaunchShape shape;
  shape.blocks = config.whole("kernel.grid");
  shape.threads = static_cast<int>(config.whole("kernel.block"));
  shape.registers = static_cast<int>(config.whole("kernel.registers"));
  shape.dynamic_shared = config.whole("kernel.shared_bytes");
  return shape;
}

machine::Math math_of(const std::string& type) {
  return type == "fp32"   ? machine::Math::kFp32
         : type == "fp64" ? machine::Math::kFp64
         : type == "fp16" ? machine::Math::kFp16
                          : machine::Math::kBf16;
}

const char* spelled(const std::string& type) {
  return type == "fp32"   ? "float"
         : type == "fp64" ? "double"
         : type == "fp16" ? "__half2"
                          : "__nv_bfloat162";
}

// A second stream beside the default one would wait for it; so would kernels on blocking streams
// for others on it. Kernels that are spread run on streams of their own.
program::StreamKind kind_of_several(const program::Config& config) {
  return config.word("stream.kind") == "blocking" ? program::StreamKind::kBlocking
                                                  : program::StreamKind::kNonBlocking;
}

void add_streams(program::Program& program, const program::Config& config) {
  const auto streams = static_cast<int>(config.whole("kernel.streams"));
  if (streams == 1) {
    program.streams.push_back(compute_stream(config));
    return;
  }
  constexpr int kFirst = 13;  // as PyTorch's profiler numbers streams that a program makes
  for (int number = kFirst; number < kFirst + streams; ++number)
    program.streams.push_back(
        {fmt::format("stream {}", number), number, kind_of_several(config), 0, 0});
}

void add_operation(program::Program& program, const program::Config& config,
                   const machine::LaunchShape& shape) {
  const std::string& type = config.word("kernel.type");
  const double threads = shape.threads;
  program::BlockWork work;
  work.flops = config.number("kernel.flops_per_thread") * threads;
  work.bytes = config.number("kernel.bytes_per_thread") * threads;
  const double traffic = work.bytes * static_cast<double>(shape.blocks);
  const auto footprint = static_cast<double>(config.whole("kernel.footprint"));
  work.footprint = footprint > 0 ? std::min(footprint, traffic) : traffic;
  work.math = math_of(type);
  work.ilp = static_cast<int>(config.whole("kernel.ilp"));
  work.registers = shape.registers;
  work.shared_bytes = shape.dynamic_shared;
  program::Operation kernel;
  kernel.kernel = fmt::format("kernel<{}>", spelled(type));
  kernel.framework = "kernel(x)";
  kernel.flops = work.flops * static_cast<double>(shape.blocks);
  kernel.bytes = traffic;
  kernel.blocks = shape.blocks;
  kernel.threads = shape.threads;
  kernel.block_work = work;
  program.operations.push_back(std::move(kernel));
}

struct Lines {
  std::uint16_t loop = 0;
  std::uint16_t launch = 0;
  std::uint16_t end = 0;
};

// "// a thread: 32 registers, 1000 fp32 operations, 16 bytes of memory, within 4 MiB again and
// again"
std::string work_of_a_thread(const program::Config& config, const machine::LaunchShape& shape) {
  const double flops = config.number("kernel.flops_per_thread");
  const double bytes = config.number("kernel.bytes_per_thread");
  std::string words =
      fmt::format("// a thread: {} registers, {:g} {} operation{}, {:g} bytes", shape.registers,
                  flops, config.word("kernel.type"), flops == 1 ? "" : "s", bytes);
  if (const std::int64_t footprint = config.whole("kernel.footprint"))
    words += fmt::format(" within {}", format_bytes(static_cast<double>(footprint)));
  return words;
}

Lines write_listing(program::Listing& listing, const program::Config& config,
                    const machine::LaunchShape& shape) {
  const std::int64_t streams = config.whole("kernel.streams");
  listing.add(work_of_a_thread(config, shape));
  listing.add(fmt::format("__global__ void __launch_bounds__({}) kernel({}* x);", shape.threads,
                          spelled(config.word("kernel.type"))));
  if (streams > 1) {
    listing.add(fmt::format("cudaStream_t streams[{}];", streams));
    listing.add("for (cudaStream_t& stream : streams)");
    listing.add(kind_of_several(config) == program::StreamKind::kBlocking
                    ? "  cudaStreamCreate(&stream);"
                    : "  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);");
  }
  listing.add("");
  Lines lines;
  lines.loop =
      listing.add(fmt::format("for (int step = 0; step < {}; ++step) {{", config.whole("steps")));
  listing.add(fmt::format("  for (int i = 0; i < {}; ++i)", config.whole("kernel.count")));
  std::string launch = fmt::format("    kernel<<<{}, {}", shape.blocks, shape.threads);
  if (streams > 1 || shape.dynamic_shared > 0) launch += fmt::format(", {}", shape.dynamic_shared);
  if (streams > 1) launch += fmt::format(", streams[i % {}]", streams);
  lines.launch = listing.add(launch + ">>>(x);");
  listing.add("}");
  lines.end = listing.add("cudaDeviceSynchronize();");
  return lines;
}

}  // namespace

program::Program build_kernel(const program::Config& config, const machine::Machine& machine) {
  const machine::LaunchShape shape = launch_shape(config);
  machine::check_launch(machine.gpu, shape);
  program::Program program;
  program.threads.push_back({"host main", program::ThreadRole::kMain, 0, {}});
  add_streams(program, config);
  add_operation(program, config, shape);
  const Lines lines = write_listing(program.listing, config, shape);
  const std::int64_t count = config.whole("kernel.count");
  const auto streams = static_cast<std::int64_t>(program.streams.size());
  ThreadWriter main(program, 0);
  StepRoom room(main, config.whole("steps"));
  for (std::int64_t step = 0; step < config.whole("steps"); ++step) {
    main.at(lines.loop).add(program::BeginMark{}, trace::step_mark(step));
    for (std::int64_t i = 0; i < count; ++i)
      main.at(lines.launch).add(program::Launch{0, static_cast<program::Index>(i % streams)});
    main.at(lines.loop).add(program::EndMark{});
    room.after(step);
  }
  main.at(lines.end).add(program::DeviceSync{});
  program.steps = static_cast<int>(config.whole("steps"));
  program.warmup_steps = program.steps > 1 ? 1 : 0;
  program.step_flops = program.operations[0].flops * static_cast<double>(count);
  program.model_flops = program.step_flops;
  return program;
}

}  // namespace trainscope::train
