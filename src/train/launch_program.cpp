// The workload `launch`: a row of equal kernels, launched one by one, as a graph, or in pairs on
// two streams, or in larger groups on as many.

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "trace/step_mark.h"
#include "train/build.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

struct Lines {
  std::uint16_t graph = 0;    // where the graph is made
  std::uint16_t capture = 0;  // the launch that it captures
  std::uint16_t loop = 0;
  std::uint16_t launch = 0;
  std::uint16_t launch_beside = 0;  // on the other streams
  std::uint16_t sync_each = 0;
  std::uint16_t end = 0;
};

void refuse_what_contradicts(const program::Config& config) {
  if (config.whole("launch.streams") == 1) return;
  if (config.flag("launch.graph"))
    throw InputError("a graph here is one row of kernels; set launch.streams = 1, or no graph");
  if (config.word("stream.kind") == "legacy")
    throw InputError(fmt::format(
        "launch.streams = {} needs a second stream beside the default one; set stream.kind to "
        "blocking or non_blocking",
        config.whole("launch.streams")));
}

Lines write_listing(program::Listing& listing, const program::Config& config) {
  const std::int64_t count = config.whole("launch.count");
  const bool graph = config.flag("launch.graph");
  Lines lines;
  if (graph) {
    listing.add("graph = torch.cuda.CUDAGraph()");
    lines.graph = listing.add("with torch.cuda.graph(graph):");
    listing.add(fmt::format("    for i in range({}):", count));
    lines.capture = listing.add("        kernel(x)");
    listing.add("");
  }
  lines.loop = listing.add(fmt::format("for step in range({}):", config.whole("steps")));
  if (graph) {
    lines.launch = listing.add("    graph.replay()");
  } else {
    listing.add(fmt::format("    for i in range({}):", count));
    lines.launch = listing.add("        kernel(x)");
  }
  if (config.flag("launch.sync_each"))
    lines.sync_each =
        listing.add(graph ? "    torch.cuda.synchronize()" : "        torch.cuda.synchronize()");
  lines.end = listing.add("torch.cuda.synchronize()");
  return lines;
}

// The streams beside the default one: `side`, or an array of them.
void write_streams(program::Listing& listing, const program::Config& config) {
  const std::int64_t beside = config.whole("launch.streams") - 1;
  const char* create = config.word("stream.kind") == "blocking"
                           ? "cudaStreamCreate(&side);"
                           : "cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);";
  listing.add(beside == 1 ? "cudaStream_t side;" : fmt::format("cudaStream_t sides[{}];", beside));
  listing.add(beside == 1 ? create : fmt::format("for (cudaStream_t& side : sides) {}", create));
  listing.add("");
}

// Kinds of streams are CUDA's own: PyTorch makes only non-blocking ones.
Lines write_cuda_listing(program::Listing& listing, const program::Config& config) {
  const std::int64_t blocks = config.whole("launch.kernel_sms");
  Lines lines;
  write_streams(listing, config);
  lines.loop =
      listing.add(fmt::format("for (int step = 0; step < {}; ++step) {{", config.whole("steps")));
  listing.add(fmt::format("  for (int i = 0; i < {}; ++i) {{", config.whole("launch.count")));
  const bool several = config.whole("launch.streams") > 2;
  if (several) listing.add("    for (cudaStream_t side : sides)");
  lines.launch_beside = listing.add(
      fmt::format("{}    kernel_a<<<{}, 256, 0, side>>>(x);", several ? "  " : "", blocks));
  lines.launch = listing.add(fmt::format("    kernel_b<<<{}, 256>>>(y);", blocks));
  if (config.flag("launch.sync_each"))
    lines.sync_each = listing.add("    cudaDeviceSynchronize();");
  listing.add("  }");
  listing.add("}");
  lines.end = listing.add("cudaDeviceSynchronize();");
  return lines;
}

program::Index add_kernel(program::Program& program, const program::Config& config,
                          const char* name) {
  program::Operation kernel;
  kernel.kernel = name;
  kernel.framework = std::string(name) + "(x)";
  kernel.kind = program::OperationKind::kOpaque;
  kernel.opaque_duration = std::llround(config.number("launch.kernel_ns"));
  kernel.blocks = config.whole("launch.kernel_sms");  // one block an SM
  program.operations.push_back(kernel);
  return static_cast<program::Index>(program.operations.size() - 1);
}

void write_step(ThreadWriter& main, const program::Config& config, const Lines& lines) {
  const bool graph = config.flag("launch.graph");
  const std::int64_t calls = graph ? 1 : config.whole("launch.count");
  for (std::int64_t i = 0; i < calls; ++i) {
    for (std::int64_t beside = 1; beside < config.whole("launch.streams"); ++beside)
      main.at(lines.launch_beside).add(program::Launch{1, static_cast<program::Index>(beside)});
    if (graph) {
      main.at(lines.launch).add(program::GraphLaunch{0, 0});
    } else {
      main.at(lines.launch).add(program::Launch{0, 0});
    }
    if (lines.sync_each) main.at(lines.sync_each).add(program::DeviceSync{});
  }
}

void write_capture(program::Program& program, ThreadWriter& main, const program::Config& config,
                   const Lines& lines) {
  program.graphs.push_back({"graph"});
  main.at(lines.graph).add(program::BeginCapture{0, 0});
  for (std::int64_t i = 0; i < config.whole("launch.count"); ++i)
    main.at(lines.capture).add(program::Launch{0, 0});
  main.at(lines.graph).add(program::EndCapture{0});
  main.add(program::GraphInstantiate{0});
}

void write_steps(ThreadWriter& main, const program::Config& config, const Lines& lines) {
  const std::int64_t steps = config.whole("steps");
  StepRoom room(main, steps);
  for (std::int64_t step = 0; step < steps; ++step) {
    main.at(lines.loop).add(program::BeginMark{}, trace::step_mark(step));
    write_step(main, config, lines);
    main.at(lines.loop).add(program::EndMark{});
    room.after(step);
  }
  main.at(lines.end).add(program::DeviceSync{});
}

// The default stream and those beside it, and what runs on them.
void add_group(program::Program& program, const program::Config& config) {
  const program::StreamKind kind = compute_stream(config).kind;
  program.streams.push_back({"stream 7", 7, program::StreamKind::kLegacyDefault, 0, 0});
  const int beside = static_cast<int>(config.whole("launch.streams")) - 1;
  constexpr int kFirst = 13;  // as PyTorch's profiler numbers streams that a program makes
  for (int number = kFirst; number < kFirst + beside; ++number)
    program.streams.push_back({fmt::format("stream {}", number), number, kind, 0, 0});
  add_kernel(program, config, "kernel_b");
  add_kernel(program, config, "kernel_a");
}

}  // namespace

program::Program build_launch(const program::Config& config) {
  refuse_what_contradicts(config);
  program::Program program;
  program.threads.push_back({"host main", program::ThreadRole::kMain, 0, {}});
  const bool several = config.whole("launch.streams") > 1;
  if (several) {
    add_group(program, config);
  } else {
    program.streams.push_back(compute_stream(config));
    add_kernel(program, config, "kernel");
  }
  const Lines lines = several ? write_cuda_listing(program.listing, config)
                              : write_listing(program.listing, config);
  ThreadWriter main(program, 0);
  if (config.flag("launch.graph")) write_capture(program, main, config, lines);
  write_steps(main, config, lines);
  program.steps = static_cast<int>(config.whole("steps"));
  program.warmup_steps = program.steps > 1 ? 1 : 0;
  return program;
}

}  // namespace trainscope::train
