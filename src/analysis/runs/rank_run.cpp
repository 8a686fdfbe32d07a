#include "analysis/runs/rank_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/runs/measured_run.h"
#include "base/rank_words.h"
#include "cuda/collectives.h"
#include "cuda/execution.h"
#include "trace/merge.h"
#include "trace/rank_clocks.h"
#include "trace/trace_bytes.h"
#include "train/build.h"
#include "train/parallel/parallel.h"
#include "train/parallel/ranks.h"

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
    out.whole(failure->out_of_memory ? 1 : 0);
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
    told.failure->out_of_memory = in.whole() != 0;
  }
  told.trace = trace::load_trace(in);
  return told;
}

// One rank's side of what all tell each other about one run.
class Talk {
 public:
  Talk(const cuda::ProcessPlace& place, cuda::Store& store, std::string key)
      : place_(place), store_(store), key_(std::move(key)) {}

  void join(cuda::DeviceCalls& device, std::vector<cuda::RankGroup> groups) {
    cuda::Peers peers{place_.rank, place_.ranks, std::move(groups)};
    peers.from_first = [this, all = peers.groups](std::size_t group, const std::string& mine) {
      return from_first(group, all[group], mine);
    };
    peers.who_cannot = [this](const std::string& mine) { return who_cannot(mine); };
    peers.look = [this] { return look(); };
    peers.missing = [this, all = peers.groups](std::size_t group) {
      return missing(group, all[group]);
    };
    is_joining_ = true;
    const std::string why = device.join(peers);
    is_joining_ = false;
    if (!why.empty())
      throw MissingError(fmt::format("rank {} cannot join the others: {}", place_.rank, why));
  }

  void begin() { store_.barrier(key_ + "/begin"); }

  // The first to fail is the one that counts.
  void tell(const trace::Trace& trace, const std::optional<cuda::Failure>& failure) {
    if (failure && !store_.peek(key_ + "/failed"))
      store_.set(key_ + "/failed", std::to_string(place_.rank));
    store_.set(key("trace", place_.rank), bytes_of(trace, failure));
  }

  // What a rank has told; nothing: its process has ended, and not told.
  std::optional<Told> told(int rank) {
    const auto bytes = store_.get_of(rank, key("trace", rank));
    if (!bytes) return std::nullopt;
    return told_in(*bytes, rank);
  }

  std::optional<int> first_failed() {
    const auto rank = store_.peek(key_ + "/failed");
    return rank ? std::optional(std::stoi(*rank)) : std::nullopt;
  }

  // Rank 0 says to all whether the run ended early.
  bool end(bool ended_early) {
    if (place_.rank == 0) store_.set(key_ + "/end", ended_early ? "early" : "well");
    return store_.get(key_ + "/end") == "early";
  }

 private:
  std::string key(std::string_view what, int number) const {
    return fmt::format("{}/{} {}", key_, what, number);
  }

  // Groups alike are told apart by their first ranks.
  std::string from_first(std::size_t number, const cuda::RankGroup& group,
                         const std::string& mine) {
    const int first = group.gpus.front();
    const std::string name = key(fmt::format("id {} of", number), first);
    store_.set(key(fmt::format("at group {} is", number), place_.rank), "");
    if (place_.rank == first) store_.set(name, mine);
    const auto words = store_.get_of(first, name);
    if (!words)
      throw MissingError(fmt::format("rank {} ended before the {} had met; look at what it printed",
                                     first, group.name));
    return *words;
  }

  std::string missing(std::size_t number, const cuda::RankGroup& group) {
    std::vector<int> ranks;
    for (const int rank : group.gpus)
      if (!store_.peek(key(fmt::format("at group {} is", number), rank))) ranks.push_back(rank);
    return ranks.empty() ? "" : rank_words(ranks);
  }

  // Where a rank says why it cannot join, when that is asked for the next time.
  std::string ready_key(int rank) const { return key(fmt::format("ready {} of", asked_), rank); }

  std::string who_cannot(const std::string& mine) {
    store_.set(ready_key(place_.rank), mine);
    if (place_.rank == 0) {
      std::vector<int> ranks;
      for (int rank = 0; rank < place_.ranks; ++rank) {
        const auto why_not = store_.get_of(rank, ready_key(rank));
        if (!why_not || !why_not->empty()) ranks.push_back(rank);
      }
      store_.set(key("cannot", asked_), ranks.empty() ? "" : rank_words(ranks));
    }
    return store_.get(key("cannot", asked_++));
  }

  std::string look() {
    const std::lock_guard held(looks_);
    if (const auto failed = first_failed()) return fmt::format("rank {} has failed", *failed);
    const std::string gone = store_.gone();
    if (!gone.empty()) return fmt::format("{} ended before the run did", gone);
    return is_joining_ ? look_at_who_cannot() : "";
  }

  // A rank that has said so waits for the others to be asked, and comes no more.
  std::string look_at_who_cannot() {
    std::vector<int> ranks;
    for (int rank = 0; rank < place_.ranks; ++rank)
      if (!store_.peek(ready_key(rank)).value_or("").empty()) ranks.push_back(rank);
    return ranks.empty() ? "" : rank_words(ranks) + " cannot join, where it is said why";
  }

  const cuda::ProcessPlace& place_;
  cuda::Store& store_;
  std::string key_;
  int asked_ = 0;  // who cannot
  bool is_joining_ = false;
  std::mutex looks_;
};

// The first rank says where all are; it is its trace that the others join.
std::string where_words(const cuda::ProcessPlace& place, cuda::Store& store,
                        const std::string& key) {
  const auto key_of = [&](int rank) { return fmt::format("{}/node {}", key, rank); };
  store.set(key_of(place.rank), place.node);
  if (place.rank > 0) return "";
  std::vector<std::string> nodes;
  for (int rank = 0; rank < place.ranks; ++rank) nodes.push_back(store.get(key_of(rank)));
  const std::string words = node_words(nodes);
  return words.empty() ? "" : " " + words;
}

// What all ranks say of the run: how its traces became one, and what metrics' shares are of.
std::string words_of_all(const Run& run, const std::vector<const trace::Trace*>& traces,
                         const std::string& where) {
  const std::string clocks = trace::clock_words(trace::clock_offsets(traces));
  return fmt::format(", {} processes{}{}{}, {}{}", traces.size(), where, clocks.empty() ? "" : ", ",
                     clocks, kSharesOf, run.machine->name);
}

// Why the run ended: a process that is gone before a rank that failed, and that before those that
// failed with it.
std::optional<sim::Ending> ending_of(const std::vector<std::optional<Told>>& all,
                                     std::optional<int> first_failed) {
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (!all[rank])
      return sim::DeviceFailed{0, 0,
                               fmt::format("rank {}: its process ended before the run did; look at "
                                           "what it printed, or at who ended it",
                                           rank),
                               false};
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto& failure = all[rank]->failure;
    if (failure && static_cast<int>(rank) == first_failed.value_or(static_cast<int>(rank)))
      return sim::DeviceFailed{failure->time, failure->line,
                               fmt::format("rank {}: {}", rank, failure->sentence),
                               failure->out_of_memory};
  }
  return std::nullopt;
}

// Of all ranks, on rank 0. Who has told nothing has an empty trace.
void gather(Run& run, const cuda::ProcessPlace& place, Talk& talk, const std::string& where) {
  std::vector<std::optional<Told>> all;
  std::vector<const trace::Trace*> traces;
  const trace::Trace none({});
  for (int rank = 0; rank < place.ranks; ++rank) {
    all.push_back(talk.told(rank));
    traces.push_back(all.back() ? all.back()->trace.get() : &none);
  }
  run.ending = ending_of(all, talk.first_failed());
  std::unique_ptr<trace::Trace> merged = trace::merge_ranks(traces);
  trace::Origin origin = merged->origin();
  origin.detail += words_of_all(run, traces, where);
  merged->set_origin(std::move(origin));
  run.trace = std::move(merged);
}

// Of a pipeline all of its ranks have all of its groups, of others each those that it is in: as
// many, in the same order.
std::vector<cuda::RankGroup> groups_of(const program::Program& all, const program::Program& own) {
  if (all.stages == 1) return cuda::library_groups(own, true);
  const std::vector<cuda::RankGroup> of_all = cuda::library_groups(all, true);
  std::vector<cuda::RankGroup> groups;
  std::size_t more = own.communicators.size();  // where those alike begin, behind the first of each
  for (const program::Communicator& one : own.communicators) {
    const auto number = static_cast<std::size_t>(one.number());
    groups.push_back(of_all[number == 0 ? groups.size() : more + number - 1]);
    more += static_cast<std::size_t>(one.groups) - 1;
  }
  return groups;
}

}  // namespace

program::Config config_of_ranks(program::Config config, const cuda::ProcessPlace& place) {
  if (!train::trains_by_processes(config))
    throw InputError(fmt::format(
        "{} processes were started, and only training with DistributedDataParallel, FSDP, "
        "tensor parallelism or a pipeline runs a process a rank: set workload=train and "
        "parallel.strategy=ddp, fsdp, tensor or pipeline, or start one process",
        place.ranks));
  if (config.is_set("parallel.world_size") && config.whole("parallel.world_size") != place.ranks)
    throw InputError(fmt::format("parallel.world_size is {}, and {} processes were started",
                                 config.whole("parallel.world_size"), place.ranks));
  config.set("parallel.world_size", std::int64_t{place.ranks});
  if (train::ranks_are_uneven(config))
    throw InputError(
        "ranks that differ (straggler.*, uneven_batches) are carried out by one process; start it "
        "without torchrun");
  // They throw where groups of so many ranks would not be alike.
  if (train::is_hybrid(config)) train::shard_degree(config, train::machine_of(config), place.ranks);
  if (train::is_grid(config)) train::tensor_degree(config, train::machine_of(config), place.ranks);
  if (train::has_pipelines(config))
    train::pipeline_degree(config, train::machine_of(config), place.ranks);
  return config;
}

RankRun rank_run(const std::string& label, const program::Config& config, cuda::DeviceCalls& device,
                 const cuda::ProcessPlace& place, cuda::Store& store) {
  Run run;
  run.label = label;
  run.config = config;
  run.machine = std::make_shared<machine::Machine>(train::machine_of(config));
  const program::Program one = train::build_program(config, *run.machine);
  const program::Program own = train::trains_in_stages(config)
                                   ? train::build_rank_of_pipeline(config, *run.machine, place.rank)
                                   : train::only_rank(one, place.rank);
  Talk talk(place, store, label);
  talk.join(device, groups_of(one, own));
  const cuda::DeviceFacts facts = device.facts();
  const std::string where = where_words(place, store, label);
  trace::Trace mine(measured_origin(facts));
  cuda::Execution execution(own, *run.machine, device, mine);
  talk.begin();
  const std::optional<cuda::Failure> failure = execution.run();
  renew_origin(mine, facts, device);
  talk.tell(mine, failure);
  if (place.rank > 0) return {std::nullopt, talk.end(false)};
  run.program = std::make_shared<program::Program>(train::with_every_rank(one));
  gather(run, place, talk, where);
  analyse(run);
  const bool ended_early = talk.end(run.ending.has_value());
  return {std::move(run), ended_early};
}

}  // namespace trainscope::analysis
