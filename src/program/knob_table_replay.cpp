#include "program/knob_rows.h"

namespace trainscope::program {

void add_replay_knobs(std::vector<Knob>& t) {
  constexpr double kSlowest = 0.1, kFastest = 1000;
  const auto speed = [&](const char* name, const char* help) {
    number(name, 1, kSlowest, kFastest).usual_most(8).help(help).into(t);
  };
  text("replay.trace", "")
      .path()
      .pytorch("torch.profiler")
      .help(
          "the trace that is carried out once more: a file of torch.profiler, or a folder with "
          "one of each rank")
      .into(t);
  whole("replay.rank", -1, -1, 1'000'000)
      .usual_most(7)
      .help("of several ranks, the one that the changes are of; -1: all of them")
      .into(t);
  speed("replay.kernel_speed", "kernels are so many times as fast as recorded");
  speed("replay.product_speed",
        "matrix products, convolutions and attention are so many times as fast, besides: tensor "
        "cores, a narrower type, channels_last");
  speed(
      "replay.host_speed",
      "the host is so many times as fast as recorded: its Python, operators and launches, but not "
      "what takes it longer than a millisecond without any: a process that starts, the driver");
  speed("replay.copy_speed", "copies between host and GPU are so many times as fast as recorded");
  speed("replay.communication_speed", "collectives are so many times as fast as recorded");
  flag("replay.batches_ready", false)
      .pytorch("num_workers")
      .help("the next batch is always there: next() of the DataLoader takes no time")
      .into(t);
  flag("replay.non_blocking", false)
      .pytorch("pin_memory, non_blocking")
      .help(
          "copies from pageable memory no longer hold the host, and take what pinned ones of the "
          "trace do, or of the machine's link")
      .into(t);
  flag("replay.synchronise", true)
      .pytorch(".item(), torch.cuda.synchronize()")
      .help("the host waits for the GPU where it did; false: it never does")
      .into(t);
}

}  // namespace trainscope::program
