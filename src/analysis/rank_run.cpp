#include "analysis/rank_run.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "analysis/measured_run.h"
#include "cuda/execution.h"
#include "cuda/rank_words.h"
#include "trace/merge.h"
#include "trace/trace_bytes.h"
#include "train/build.h"
#include "train/ranks.h"

namespace trainscope::analysis {
namespace {

// What one process has to tell.
struct Told {
  std::unique_ptr<trace::Trace> trace;
  std::optional<cuda::Failure> failure;
};

std::string bytes_of(const trace::Trace& trace, const std::optional<cuda::Failure>& failure) {
  trace::ByteWriter out;
  out.whole(failure ? 1 : 0);
  if (failure) {
    out.integer(failure->time);
    out.whole(failure->line);
    out.text(failure->sentence);
  }
  trace::save_trace(trace, out);
  return out.bytes();
}

Told told_in(const std::string& bytes, int rank) {
  trace::ByteReader in(bytes, fmt::format("the trace of rank {}", rank));
  Told told;
  if (in.whole() != 0) {
    told.failure.emplace();
    told.failure->time = in.integer();
    told.failure->line = static_cast<std::uint16_t>(in.whole());
    told.failure->sentence = in.text();
  }
  told.trace = trace::load_trace(in);
  return told;
}

void join(cuda::DeviceCalls& device, const cuda::ProcessPlace& place, cuda::Store& store,
          const std::string& key) {
  int calls = 0;
  const auto from_first = [&](const std::string& mine) {
    const std::string name = fmt::format("{}/id {}", key, calls++);
    if (place.rank == 0) store.set(name, mine);
    return store.get(name);
  };
  const std::string why = device.join({place.rank, place.ranks, from_first});
  if (!why.empty())
    throw MissingError(fmt::format("rank {} cannot join the others: {}", place.rank, why));
}

// The first rank says where all are; it is its trace that the others join.
std::string where_words(const cuda::ProcessPlace& place, cuda::Store& store,
                        const std::string& key) {
  const auto key_of = [&](int rank) { return fmt::format("{}/node {}", key, rank); };
  store.set(key_of(place.rank), place.node);
  if (place.rank > 0) return "";
  std::vector<std::string> nodes;
  for (int rank = 0; rank < place.ranks; ++rank) nodes.push_back(store.get(key_of(rank)));
  const std::string words = cuda::node_words(nodes);
  return words.empty() ? "" : " " + words;
}

trace::Origin origin_of(cuda::DeviceCalls& device, const cuda::ProcessPlace& place,
                        const machine::Machine& machine, const std::string& where) {
  trace::Origin origin = measured_origin(device.facts());
  origin.detail += fmt::format(
      ", {} processes{}, their clocks laid on one another by the ends of collectives, shares are "
      "of {}",
      place.ranks, where, machine.name);
  return origin;
}

// Of all ranks, on rank 0.
void gather(Run& run, const cuda::ProcessPlace& place, cuda::Store& store, const std::string& key) {
  std::vector<Told> all;
  std::vector<const trace::Trace*> traces;
  for (int rank = 0; rank < place.ranks; ++rank) {
    all.push_back(told_in(store.get(fmt::format("{}/trace {}", key, rank)), rank));
    traces.push_back(all.back().trace.get());
    const auto& failure = all.back().failure;
    if (failure && !run.ending)
      run.ending = sim::DeviceFailed{failure->time, failure->line,
                                     fmt::format("rank {}: {}", rank, failure->sentence)};
  }
  run.trace = trace::merge_ranks(traces);
}

}  // namespace

program::Config config_of_ranks(program::Config config, const cuda::ProcessPlace& place) {
  if (config.word("workload") != "train" || config.word("parallel.strategy") != "ddp")
    throw InputError(fmt::format(
        "{} processes were started, and only DistributedDataParallel runs a process a rank: set "
        "workload=train and parallel.strategy=ddp, or start one process",
        place.ranks));
  if (config.is_set("parallel.world_size") && config.whole("parallel.world_size") != place.ranks)
    throw InputError(fmt::format("parallel.world_size is {}, and {} processes were started",
                                 config.whole("parallel.world_size"), place.ranks));
  config.set("parallel.world_size", std::int64_t{place.ranks});
  if (train::ranks_differ(config))
    throw InputError(
        "ranks that differ (straggler.*, uneven_batches) are carried out by one process; start it "
        "without torchrun");
  return config;
}

std::optional<Run> rank_run(const std::string& label, const program::Config& config,
                            cuda::DeviceCalls& device, const cuda::ProcessPlace& place,
                            cuda::Store& store) {
  Run run;
  run.label = label;
  run.config = config;
  run.machine = std::make_shared<machine::Machine>(train::machine_of(config));
  const program::Program one = train::build_program(config, *run.machine);
  join(device, place, store, label);
  const cuda::DeviceFacts facts = device.facts();
  trace::Trace mine(origin_of(device, place, *run.machine, where_words(place, store, label)));
  const program::Program own = train::only_rank(one, place.rank);
  cuda::Execution execution(own, *run.machine, device, mine);
  store.barrier(label + "/begin");
  const std::optional<cuda::Failure> failure = execution.run();
  renew_origin(mine, facts, device);
  store.set(fmt::format("{}/trace {}", label, place.rank), bytes_of(mine, failure));
  if (place.rank == 0) {
    run.program = std::make_shared<program::Program>(train::with_every_rank(one));
    gather(run, place, store, label);
    analyse(run);
  }
  store.barrier(label + "/end");
  if (place.rank > 0) return std::nullopt;
  return run;
}

}  // namespace trainscope::analysis
