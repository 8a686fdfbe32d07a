#include "support/random_program.h"

#include <string>

namespace trainscope::test {

program::BlockWork random_block_work(const program::Operation& operation, std::mt19937& random) {
  program::BlockWork work;
  work.flops = operation.flops / static_cast<double>(operation.blocks);
  work.bytes = operation.bytes / static_cast<double>(operation.blocks);
  work.ilp = static_cast<int>(random() % 4);
  work.registers = 16 + static_cast<int>(random() % 200);
  work.shared_bytes = static_cast<std::int64_t>(random() % 2 * (random() % 60'000));
  return work;
}

program::Program random_program(std::uint32_t seed) {
  using namespace trainscope::program;
  std::mt19937 random(seed);
  const auto upto = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most));
  };
  Program program;
  const StreamKind kinds[] = {StreamKind::kLegacyDefault, StreamKind::kBlocking,
                              StreamKind::kNonBlocking};
  const int streams = 1 + upto(3);
  for (int i = 0; i < streams; ++i)
    program.streams.push_back(
        {"stream " + std::to_string(7 + i), 7 + i, kinds[upto(3)], -upto(3), 0});
  const MemoryKind memory[] = {MemoryKind::kDevice, MemoryKind::kPinned, MemoryKind::kPageable};
  constexpr std::int64_t kBuffer = 20 << 20;
  for (const MemoryKind kind : memory)
    program.buffers.push_back({"buffer", kBuffer, kind, Role::kBatch});
  program.buffers.push_back({"other", kBuffer, MemoryKind::kDevice, Role::kBatch});
  program.locks.push_back({"the interpreter's lock"});
  for (int i = 0; i < 4; ++i) {
    Operation op;
    op.kernel = "kernel " + std::to_string(i);
    op.framework = "aten::op";
    op.flops = 1e6 * upto(100000);
    op.bytes = 1e3 * upto(100000);
    op.blocks = 1 + upto(400);
    if (i == 3) op.block_work = random_block_work(op, random);
    program.operations.push_back(op);
  }
  program.events = 4;
  const int threads = 1 + upto(3);
  const int items = upto(6);
  for (int t = 0; t < threads; ++t) {
    Thread thread{
        "host " + std::to_string(t), t == 0 ? ThreadRole::kMain : ThreadRole::kLoaderWorker, 0, {}};
    if (upto(2)) thread.interpreter = 0;
    const auto add = [&](Action action) {
      thread.commands.push_back({action, kNoIndex, 0, static_cast<Phase>(upto(4))});
    };
    // A graph of this thread's own, captured first.
    const auto graph = static_cast<Index>(program.graphs.size());
    program.graphs.push_back({"graph"});
    const auto captured_on = static_cast<Index>(upto(streams));
    add(BeginCapture{graph, captured_on});
    for (int i = upto(4); i > 0; --i) add(Launch{static_cast<Index>(upto(4)), captured_on});
    add(EndCapture{graph});
    add(GraphInstantiate{graph});
    const int commands = 1 + upto(25);
    for (int c = 0; c < commands; ++c) {
      const auto stream = static_cast<Index>(upto(streams));
      const auto event = static_cast<Index>(upto(4));
      switch (upto(15)) {
        case 0:
          add(HostWork{upto(50000), upto(2) == 0});
          break;
        case 1:
          add(FrameworkCall{});
          break;
        case 2: {
          const std::int64_t bytes = upto(1 << 22);
          if (bytes % 4 == 0) add(HostAlloc{bytes / 16});
          add(HostCopy{bytes});
        } break;
        case 3:
        case 4:
          add(Launch{static_cast<Index>(upto(4)), stream});
          break;
        case 5:
          add(Copy{static_cast<Index>(1 + upto(2)), 0, 1 + upto(kBuffer), stream});
          break;
        case 6:
          add(Copy{0, static_cast<Index>(1 + upto(3)), 1 + upto(kBuffer), stream});
          break;
        case 7:
          add(RecordEvent{event, stream});
          break;
        case 8:
          add(StreamWait{stream, event});
          break;
        case 9:
          add(GraphLaunch{graph, stream});
          break;
        case 10:
          add(ReadScalar{{static_cast<Index>(3 * upto(2)), 2, 4, stream}});
          break;
        case 11:
          add(DiskRead{upto(1 << 22), upto(3)});
          break;
        case 12:
          add(Acquire{0});
          add(HostWork{upto(20000), false});
          add(FrameworkCall{});
          add(Release{0});
          break;
        case 13:
          add(HostRead{static_cast<Index>(1 + upto(2))});
          add(HostWrite{static_cast<Index>(1 + upto(2))});
          break;
        default:
          if (upto(2)) {
            add(StreamSync{stream});
          } else if (upto(2)) {
            add(EventSync{event});
          } else {
            add(DeviceSync{});
          }
      }
    }
    program.threads.push_back(std::move(thread));
  }
  // A bounded queue from the last thread to the first; both ends move the same number of items.
  if (threads > 1) {
    program.queues.push_back({"queue", 1 + upto(3)});
    for (int i = 0; i < items; ++i) {
      program.threads.back().commands.push_back({Push{0, i}, kNoIndex, 0, Phase::kNone});
      program.threads.front().commands.push_back({Take{0, i}, kNoIndex, 0, Phase::kNone});
    }
  }
  return program;
}

}  // namespace trainscope::test
