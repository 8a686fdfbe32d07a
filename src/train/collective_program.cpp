// The workload `collective`: a row of equal collectives. With host.profile = native one thread
// drives all GPUs of a node, as nccl-tests -g does; else every rank is a process of torchrun.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "machine/topology.h"
#include "trace/step_mark.h"
#include "train/build.h"
#include "train/parallel/parallel.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::Index;

struct Lines {
  std::uint16_t loop = 0;
  std::uint16_t call = 0;
  std::uint16_t sync = 0;
};

program::CollectiveKind kind_of(const std::string& word) {
  using program::CollectiveKind;
  for (const auto kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                          CollectiveKind::kBroadcast, CollectiveKind::kReduce})
    if (word == program::name_of(kind)) return kind;
  return CollectiveKind::kAllReduce;
}

const char* nccl_name(program::CollectiveKind kind) {
  switch (kind) {
    case program::CollectiveKind::kAllReduce:
      return "ncclAllReduce";
    case program::CollectiveKind::kAllGather:
      return "ncclAllGather";
    case program::CollectiveKind::kReduceScatter:
      return "ncclReduceScatter";
    case program::CollectiveKind::kBroadcast:
      return "ncclBcast";
    case program::CollectiveKind::kReduce:
      return "ncclReduce";
    case program::CollectiveKind::kSendReceive:
      break;
  }
  return "";
}

// All GPUs are no more than could be asked for.
int ranks_of(const program::Config& config, const machine::Machine& machine) {
  const program::Knob& knob = program::find_knob("collective.ranks");
  const std::int64_t asked = config.whole(knob.name);
  machine::check_ranks(machine, asked, knob.name);
  const std::int64_t ranks = asked == 0 ? machine::all_gpus(machine) : asked;
  if (static_cast<double>(ranks) > knob.most)
    throw InputError(
        fmt::format("{0} = 0 would be all {1} GPUs of {2}, and at most {3} can be simulated; set "
                    "{0} = {3} or less",
                    knob.name, ranks, machine.id, knob.most));
  return static_cast<int>(ranks);
}

class CollectiveBuilder {
 public:
  CollectiveBuilder(const program::Config& config, const machine::Machine& machine)
      : config_(config),
        native_(config.word("host.profile") == "native"),
        gpus_of_node_(machine.gpu_count) {
    ranks_ = ranks_of(config, machine);
    collective_.kind = kind_of(config.word("collective.op"));
    collective_.bytes = config.whole("collective.bytes");
    if (collective_.bytes > machine.gpu.memory_bytes)
      throw InputError(fmt::format(
          "collective.bytes = {} does not fit into a GPU of {}, which has {}; set it lower",
          format_bytes(static_cast<double>(collective_.bytes)), machine.id,
          format_bytes(static_cast<double>(machine.gpu.memory_bytes))));
  }

  program::Program build() {
    add_communicator(program_, config_, ranks_).simulated = ranks_;
    native_ ? add_nccl_ranks() : add_torch_ranks();
    const Lines lines = native_ ? write_nccl_listing() : write_torch_listing();
    const std::int64_t steps = config_.whole("steps");
    const auto threads = static_cast<Index>(program_.threads.size());
    for (Index thread = 0; thread < threads; ++thread) {
      ThreadWriter writer(program_, thread);
      StepRoom room(writer, steps, threads);
      for (std::int64_t step = 0; step < steps; ++step) {
        write_step(writer, thread, step, lines);
        room.after(step);
      }
    }
    program_.steps = static_cast<int>(steps);
    program_.warmup_steps = steps > 1 ? 1 : 0;
    return std::move(program_);
  }

 private:
  // A stream for each GPU, and on each node one thread that knows all of its.
  void add_nccl_ranks() {
    for (int first = 0; first < ranks_; first += gpus_of_node_) {
      const bool only = ranks_ <= gpus_of_node_;
      program_.threads.push_back(
          {only ? "host main" : fmt::format("host node {}", first / gpus_of_node_),
           program::ThreadRole::kMain,
           first,
           {}});
      program_.threads.back().device = first;
    }
    for (int rank = 0; rank < ranks_; ++rank)
      program_.streams.push_back({"stream 7", 7, program::StreamKind::kNonBlocking, 0, rank,
                                  rank / gpus_of_node_ * gpus_of_node_});
  }

  // The first GPU of the node of a native thread, and the one after its last.
  std::pair<Index, Index> gpus_of(Index thread) const {
    const int first = program_.threads[thread].rank;
    return {static_cast<Index>(first), static_cast<Index>(std::min(first + gpus_of_node_, ranks_))};
  }

  // A process a rank, its default stream and the one of its process group.
  void add_torch_ranks() {
    for (int rank = 0; rank < ranks_; ++rank) {
      program::Thread thread{
          fmt::format("host rank {}", rank), program::ThreadRole::kMain, rank, {}};
      thread.device = rank;
      program_.threads.push_back(std::move(thread));
      program_.streams.push_back(
          {"stream 7", 7, program::StreamKind::kLegacyDefault, 0, rank, rank});
      program_.streams.push_back(nccl_stream(rank));
    }
    program_.events = static_cast<Index>(ranks_);
  }

  Lines write_torch_listing() {
    const std::string& op = config_.word("collective.op");
    program::Listing& listing = program_.listing;
    Lines lines;
    listing.add("# " + torchrun(config_, ranks_, gpus_of_node_, "bench.py"));
    listing.add("dist.init_process_group(\"nccl\")");
    listing.add("torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))");
    listing.add(fmt::format("x = torch.empty({}, device=\"cuda\")", collective_.bytes / 4));
    lines.loop = listing.add(fmt::format("for step in range({}):", config_.whole("steps")));
    const std::int64_t count = config_.whole("collective.count");
    if (count > 1) listing.add(fmt::format("    for _ in range({}):", count));
    const std::string indent(count > 1 ? 8 : 4, ' ');
    const bool rooted = op == "broadcast" || op == "reduce";
    const std::string call = op == "all_gather"       ? "dist.all_gather_into_tensor(out, x)"
                             : op == "reduce_scatter" ? "dist.reduce_scatter_tensor(out, x)"
                             : rooted                 ? fmt::format("dist.{}(x, 0)", op)
                                                      : "dist.all_reduce(x)";
    lines.call = listing.add(indent + call);
    lines.sync = listing.add("    torch.cuda.synchronize()");
    return lines;
  }

  Lines write_nccl_listing() {
    const int gpus = std::min(ranks_, gpus_of_node_);
    program::Listing& listing = program_.listing;
    Lines lines;
    const int nodes = (ranks_ + gpus_of_node_ - 1) / gpus_of_node_;
    const std::string environment = nccl_environment(config_);
    if (!environment.empty()) listing.add("// in the environment: " + environment);
    listing.add(nodes == 1 ? "// one process drives all GPUs, as nccl-tests -g does"
                           : fmt::format("// mpirun -np {} -npernode 1: a process drives all GPUs "
                                         "of its node, as nccl-tests -g does",
                                         nodes));
    lines.loop = listing.add(
        fmt::format("for (int step = 0; step < {}; ++step) {{", config_.whole("steps")));
    listing.add(
        fmt::format("  for (int i = 0; i < {}; ++i) {{", config_.whole("collective.count")));
    listing.add("    ncclGroupStart();");
    lines.call = listing.add(
        fmt::format("    for (int g = 0; g < {}; ++g) {}(x[g], ..., comm[g], stream[g]);", gpus,
                    nccl_name(collective_.kind)));
    listing.add("    ncclGroupEnd();");
    listing.add("  }");
    lines.sync = listing.add(
        fmt::format("  for (int g = 0; g < {}; ++g) cudaStreamSynchronize(stream[g]);", gpus));
    listing.add("}");
    return lines;
  }

  void write_step(ThreadWriter& writer, Index thread, std::int64_t step, const Lines& lines) {
    if (thread == 0) writer.at(lines.loop).add(program::BeginMark{}, trace::step_mark(step));
    const std::int64_t count = config_.whole("collective.count");
    for (std::int64_t i = 0; i < count; ++i) {
      collective_.sequence = step * count + i;
      native_ ? call_nccl(writer.at(lines.call), thread)
              : call_torch(writer.at(lines.call), thread);
    }
    writer.at(lines.sync);
    if (!native_) writer.add(program::DeviceSync{});
    if (native_)
      for (auto [rank, end] = gpus_of(thread); rank < end; ++rank)
        writer.add(program::StreamSync{rank});
    if (thread == 0) writer.at(lines.loop).add(program::EndMark{});
  }

  void call_nccl(ThreadWriter& writer, Index thread) {
    for (auto [rank, end] = gpus_of(thread); rank < end; ++rank) {
      collective_.stream = rank;
      writer.add(collective_);
    }
  }

  // The default stream goes on once the collective is done (Work.wait()).
  void call_torch(ThreadWriter& writer, Index rank) {
    const Index compute = 2 * rank;
    collective_.stream = compute + 1;
    collective_.after = compute;
    writer.add(collective_);
    writer.add(program::RecordEvent{rank, collective_.stream});
    writer.add(program::StreamWait{compute, rank});
  }

  const program::Config& config_;
  bool native_;
  int gpus_of_node_;
  int ranks_ = 1;
  program::Program program_;
  program::Collective collective_;
};

}  // namespace

program::Program build_collective(const program::Config& config, const machine::Machine& machine) {
  return CollectiveBuilder(config, machine).build();
}

}  // namespace trainscope::train
