// The workload `launch`: a row of equal kernels, launched one by one or as a graph.

#include <fmt/format.h>

#include <cmath>

#include "train/build.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

struct Lines {
  std::uint16_t graph = 0;    // where the graph is made
  std::uint16_t capture = 0;  // the launch that it captures
  std::uint16_t loop = 0;
  std::uint16_t launch = 0;
  std::uint16_t sync_each = 0;
  std::uint16_t end = 0;
};

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

void write_step(ThreadWriter& main, const program::Config& config, const Lines& lines) {
  main.at(lines.launch);
  const bool graph = config.flag("launch.graph");
  const std::int64_t calls = graph ? 1 : config.whole("launch.count");
  for (std::int64_t i = 0; i < calls; ++i) {
    if (graph) {
      main.at(lines.launch).add(program::GraphLaunch{0, 0});
    } else {
      main.at(lines.launch).add(program::Launch{0, 0});
    }
    if (lines.sync_each) main.at(lines.sync_each).add(program::DeviceSync{});
  }
}

}  // namespace

program::Program build_launch(const program::Config& config) {
  program::Program program;
  program.threads.push_back({"host main", program::ThreadRole::kMain, 0, {}});
  program.streams.push_back(compute_stream(config));
  program::Operation kernel;
  kernel.kernel = "kernel";
  kernel.framework = "kernel(x)";
  kernel.kind = program::OperationKind::kOpaque;
  kernel.opaque_duration = std::llround(config.number("launch.kernel_ns"));
  program.operations.push_back(kernel);
  const Lines lines = write_listing(program.listing, config);
  ThreadWriter main(program, 0);
  if (config.flag("launch.graph")) {
    program.graphs.push_back({"graph"});
    main.at(lines.graph).add(program::BeginCapture{0, 0});
    for (std::int64_t i = 0; i < config.whole("launch.count"); ++i)
      main.at(lines.capture).add(program::Launch{0, 0});
    main.at(lines.graph).add(program::EndCapture{0});
    main.add(program::GraphInstantiate{0});
  }
  const std::int64_t steps = config.whole("steps");
  for (std::int64_t step = 0; step < steps; ++step) {
    main.at(lines.loop).add(program::BeginMark{}, fmt::format("ProfilerStep#{}", step));
    write_step(main, config, lines);
    main.at(lines.loop).add(program::EndMark{});
  }
  main.at(lines.end).add(program::DeviceSync{});
  program.steps = static_cast<int>(steps);
  program.warmup_steps = steps > 1 ? 1 : 0;
  return program;
}

}  // namespace trainscope::train
