#include "train/parallel/ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/memory.h"
#include "program/marks.h"
#include "trace/step_mark.h"
#include "train/parallel/parallel.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::kNoIndex;

// Where the things of one rank begin among those of all.
struct Offsets {
  Index buffers = 0, streams = 0, queues = 0, locks = 0, events = 0, operations = 0, graphs = 0;
  Index payloads = kNoIndex;         // kNoIndex: nothing is computed
  std::vector<Index> communicators;  // those of its own groups
};

// Moves the indices of one rank's commands.
class Mover {
 public:
  explicit Mover(const Offsets& by) : by_(by) {}

  void operator()(program::HostRead& one) const { buffer(one.buffer); }
  void operator()(program::HostWrite& one) const { buffer(one.buffer); }
  void operator()(program::LoadBatch& one) const { buffers(one.x, one.y); }
  void operator()(program::Branch& one) const { buffer(one.value); }
  void operator()(program::LogStep& one) const { stream(one.stream); }
  void operator()(program::LogEvaluation& one) const { stream(one.stream); }
  void operator()(program::Acquire& one) const { one.lock += by_.locks; }
  void operator()(program::Release& one) const { one.lock += by_.locks; }
  void operator()(program::Alloc& one) const {
    buffer(one.buffer);
    stream(one.stream);
  }
  void operator()(program::Free& one) const { buffer(one.buffer); }
  void operator()(program::RecordStream& one) const {
    buffer(one.buffer);
    stream(one.stream);
  }
  void operator()(program::Compute& one) const { one.operation += by_.operations; }
  void operator()(program::View& one) const { buffers(one.of, one.view); }
  void operator()(program::Launch& one) const {
    one.operation += by_.operations;
    stream(one.stream);
    buffer(one.predicate);
  }
  void operator()(program::Copy& one) const {
    buffers(one.from, one.to);
    stream(one.stream);
  }
  void operator()(program::ReadScalar& one) const { (*this)(one.copy); }
  void operator()(program::Collective& one) const {
    one.communicator = by_.communicators[one.communicator];
    stream(one.stream);
    if (one.after != kNoIndex) stream(one.after);
    for (Index* payload : {&one.send, &one.receive}) {
      if (by_.payloads == kNoIndex) *payload = kNoIndex;
      if (*payload != kNoIndex) *payload += by_.payloads;
    }
  }
  void operator()(program::RecordEvent& one) const {
    one.event += by_.events;
    stream(one.stream);
  }
  void operator()(program::StreamWait& one) const {
    one.event += by_.events;
    stream(one.stream);
  }
  void operator()(program::StreamSync& one) const { stream(one.stream); }
  void operator()(program::EventSync& one) const { one.event += by_.events; }
  void operator()(program::Push& one) const { one.queue += by_.queues; }
  void operator()(program::Pop& one) const { one.queue += by_.queues; }
  void operator()(program::Take& one) const { one.queue += by_.queues; }
  void operator()(program::BeginCapture& one) const {
    one.graph += by_.graphs;
    stream(one.stream);
  }
  void operator()(program::EndCapture& one) const { one.graph += by_.graphs; }
  void operator()(program::GraphInstantiate& one) const { one.graph += by_.graphs; }
  void operator()(program::GraphLaunch& one) const {
    one.graph += by_.graphs;
    stream(one.stream);
  }
  // Those that name nothing.
  template <class Other>
  void operator()(Other&) const {}

  void operator()(program::Operation& one) const {
    for (auto* list : {&one.reads, &one.writes})
      for (Index& index : *list) buffer(index);
    for (program::Operation& part : one.parts) (*this)(part);
  }
  void buffer(Index& one) const {
    if (one != kNoIndex) one += by_.buffers;
  }

 private:
  void buffers(Index& a, Index& b) const {
    buffer(a);
    buffer(b);
  }
  void stream(Index& one) const { one += by_.streams; }

  const Offsets& by_;
};

bool is_log(const program::Action& action) {
  return std::holds_alternative<program::LogStep>(action) ||
         std::holds_alternative<program::LogEvaluation>(action);
}

// Of what a thread marks, its steps and what lies between them: their ends are told from others by
// going through it.
class StepMarks {
 public:
  explicit StepMarks(const program::Program& program) : program_(program) {}

  bool is_one(const program::Command& command) {
    if (std::holds_alternative<program::BeginMark>(command.action)) {
      open_.push_back(command.name != kNoIndex && is_one(program_.names[command.name]));
      return open_.back();
    }
    if (!std::holds_alternative<program::EndMark>(command.action)) return false;
    const bool is_step = open_.back();
    open_.pop_back();
    return is_step;
  }

 private:
  static bool is_one(std::string_view name) {
    return name.starts_with(trace::kStepMark) || name == program::kValidationMark;
  }

  const program::Program& program_;
  std::vector<bool> open_;  // marks, the outermost first: whether each is one
};

// What a rank says that does what rank 0 does: its steps and validations, by which its times are
// cut. What else is marked is rank 0's, as are the numbers of steps.
class SaidByEach {
 public:
  explicit SaidByEach(const program::Program& program) : steps_(program) {}

  bool holds(const program::Command& command) {
    const bool is_mark = std::holds_alternative<program::BeginMark>(command.action) ||
                         std::holds_alternative<program::EndMark>(command.action);
    return is_mark ? steps_.is_one(command) : !is_log(command.action);
  }

 private:
  StepMarks steps_;
};

void give_to(int rank, program::Buffer& buffer) {
  buffer.device = rank;
  buffer.initial.part = buffer.initial.part_of(rank);
  buffer.initial.shard = buffer.initial.shard_of(rank);
}

// What a rank computes of its own part. `place`: among those that share its batches.
void give_to(int place, program::Operation& operation) {
  if (auto* runs = std::get_if<program::CopyRuns>(&operation.function))
    runs->first += place * runs->rank_step;
  const auto give = [place](auto* function) {
    if (function) function->rank = place % function->ranks;
  };
  give(std::get_if<program::Dropout>(&operation.function));
  give(std::get_if<program::Embedding>(&operation.function));
  give(std::get_if<program::AddPositions>(&operation.function));
  give(std::get_if<program::SharedLoss>(&operation.function));
}

// What ranks have of their own: nothing, as where one rank's operations are simulated for all;
// operations and payloads, on their buffers; or the whole model, of which each has a stage.
enum class Own : std::uint8_t { kNothing, kOperations, kStage };

class Joiner {
 public:
  Joiner(const program::Program& first, std::size_t ranks, Own own)
      : all_(first), has_own_(own != Own::kNothing), has_stage_(own == Own::kStage) {
    for (program::Communicator& one : all_.communicators) one.simulated = one.ranks;
    for (const program::Communicator& one : first.communicators) add_groups(one);
    if (has_stage_)
      for (program::Communicator& one : all_.communicators) set_apart(one);
    for (program::Thread& thread : all_.threads) thread.name += ", rank 0";
    operations_[&first] = 0;
    all_.buffers.reserve(first.buffers.size() * ranks);
    expect_to_fill(all_.buffers.data(), all_.buffers.capacity() * sizeof(program::Buffer));
  }

  void add(const program::Program& one, int rank) {
    const Offsets by = offsets(one, rank);
    for (program::Buffer buffer : one.buffers) {
      give_to(rank, buffer);
      all_.buffers.push_back(std::move(buffer));
    }
    for (program::Stream stream : one.streams) {
      stream.device = stream.rank = rank;
      all_.streams.push_back(std::move(stream));
    }
    all_.queues.insert(all_.queues.end(), one.queues.begin(), one.queues.end());
    all_.locks.insert(all_.locks.end(), one.locks.begin(), one.locks.end());
    all_.events += one.events;
    all_.graphs.insert(all_.graphs.end(), one.graphs.begin(), one.graphs.end());
    if (has_own_) add_numbers(one, rank, by);
    if (has_stage_) add_stage(one, by, rank < one.gpus_of_batch);
    for (const program::Thread& thread : one.threads) add_thread(one, thread, rank, by);
  }

  void slow_down(int rank, double slowness) {
    for (program::Stream& stream : all_.streams)
      if (stream.rank == rank) stream.slowness = slowness;
  }

  program::Program finish() { return std::move(all_); }

 private:
  // Of those that are alike the first is in its place already.
  void add_groups(const program::Communicator& one) {
    std::vector<Index>& groups = groups_.emplace_back();
    groups.push_back(static_cast<Index>(groups_.size() - 1));
    for (int number = 1; number < one.groups; ++number) {
      groups.push_back(static_cast<Index>(all_.communicators.size()));
      all_.communicators.push_back(one.group(number));
      all_.communicators.back().simulated = one.ranks;
    }
  }

  // Stages do the same one after another: each waits for what the one behind it has summed. So
  // groups of them share nothing.
  static void set_apart(program::Communicator& one) {
    if (one.groups == 1) return;
    one.name += fmt::format(" of ranks {}", fmt::join(one.gpus, ", "));
    one.groups = 1;
    one.apart = 0;
  }

  // A rank's group of each communicator.
  std::vector<Index> groups_of(int rank) const {
    std::vector<Index> own;
    for (const std::vector<Index>& groups : groups_) {
      const auto is_in = [&](Index group) {
        const std::vector<int>& gpus = all_.communicators[group].gpus;
        return std::ranges::find(gpus, rank) != gpus.end();
      };
      const auto found = std::ranges::find_if(groups, is_in);
      // None of two other ranks of a pipeline is its own.
      own.push_back(found == groups.end() ? groups.front() : *found);
    }
    return own;
  }

  Offsets offsets(const program::Program& one, int rank) {
    const auto size = [](const auto& table) { return static_cast<Index>(table.size()); };
    Offsets by{size(all_.buffers), size(all_.streams), size(all_.queues),
               size(all_.locks),   all_.events,        size(all_.operations),
               size(all_.graphs),  kNoIndex,           groups_of(rank)};
    if (has_own_) by.payloads = size(all_.payloads);
    if (has_own_) return by;
    const auto [known, added] = operations_.try_emplace(&one, size(all_.operations));
    if (added)
      all_.operations.insert(all_.operations.end(), one.operations.begin(), one.operations.end());
    by.operations = known->second;
    return by;
  }

  void add_numbers(const program::Program& one, int rank, const Offsets& by) {
    const Mover mover(by);
    for (program::Operation operation : one.operations) {
      mover(operation);
      give_to(rank % one.gpus_of_batch, operation);
      all_.operations.push_back(std::move(operation));
    }
    for (std::vector<Index> payload : one.payloads) {
      for (Index& buffer : payload) mover.buffer(buffer);
      all_.payloads.push_back(std::move(payload));
    }
  }

  // `tells`: of the first pipeline, whose numbers are shown.
  void add_stage(const program::Program& one, const Offsets& by, bool tells) {
    all_.step_flops += one.step_flops;
    if (!tells) return;
    const auto moved = [&](Index buffer) { return buffer + by.buffers; };
    program::Gauges& gauges = all_.gauges;
    for (const Index gradient : one.gauges.gradients) gauges.gradients.push_back(moved(gradient));
    for (const Index loss : one.gauges.more_losses) gauges.more_losses.push_back(moved(loss));
    if (one.gauges.loss != kNoIndex) gauges.loss = moved(one.gauges.loss);
  }

  void add_thread(const program::Program& one, const program::Thread& like, int rank,
                  const Offsets& by) {
    program::Thread thread{fmt::format("{}, rank {}", like.name, rank), like.role, rank, {}};
    thread.device = rank;
    if (like.interpreter != kNoIndex) thread.interpreter = like.interpreter + by.locks;
    thread.commands.reserve(like.commands.size());
    const std::vector<Index>& names = names_of(one);
    SaidByEach said(one);
    // Of several pipelines the first one tells the loss.
    const bool tells = rank < one.gpus_of_batch;
    for (program::Command command : like.commands) {
      if (has_stage_ ? !tells && is_log(command.action) : !said.holds(command)) continue;
      std::visit(Mover(by), command.action);
      if (command.name != kNoIndex) command.name = names[command.name];
      thread.commands.push_back(command);
    }
    all_.threads.push_back(std::move(thread));
  }

  // Where the names of a program stand among all.
  const std::vector<Index>& names_of(const program::Program& one) {
    const auto [known, added] = names_.try_emplace(&one);
    if (added)
      for (const std::string& name : one.names) known->second.push_back(all_.intern(name));
    return known->second;
  }

  program::Program all_;
  bool has_own_;
  bool has_stage_;
  std::vector<std::vector<Index>> groups_;  // by communicator, those that are alike
  std::map<const program::Program*, std::vector<Index>> names_;
  std::map<const program::Program*, Index> operations_;  // where each program's begin
};

}  // namespace

bool ranks_differ(const program::Config& config) {
  if (!trains_by_processes(config)) return false;
  return trains_in_stages(config) || ranks_are_uneven(config);
}

bool ranks_are_uneven(const program::Config& config) {
  const bool straggles =
      config.whole("straggler.rank") >= 0 && config.number("straggler.factor") > 1;
  return straggles || config.flag("uneven_batches");
}

namespace {

program::Program joined(const std::vector<RankProgram>& ranks, Own own) {
  Joiner joiner(*ranks.front().program, ranks.size(), own);
  for (std::size_t rank = 1; rank < ranks.size(); ++rank)
    joiner.add(*ranks[rank].program, static_cast<int>(rank));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    joiner.slow_down(static_cast<int>(rank), ranks[rank].slowness);
  return joiner.finish();
}

}  // namespace

program::Program join_ranks(const std::vector<RankProgram>& ranks) {
  return joined(ranks, Own::kNothing);
}

program::Program join_stages(const std::vector<RankProgram>& ranks) {
  return joined(ranks, Own::kStage);
}

program::Program with_every_rank(const program::Program& one) {
  const bool stands_for_all =
      std::any_of(one.communicators.begin(), one.communicators.end(),
                  [](const auto& ranks) { return ranks.simulated < ranks.ranks; });
  if (!stands_for_all) return one;
  const program::Communicator& any = one.communicators.front();
  const auto ranks = static_cast<std::size_t>(any.ranks) * static_cast<std::size_t>(any.groups);
  program::Program all = joined(std::vector<RankProgram>(ranks, {&one}), Own::kOperations);
  all.computed_ranks = 1;
  return all;
}

namespace {

// Of groups alike the one that a rank is in.
program::Communicator group_with(int rank, const program::Communicator& any) {
  for (int number = 0; number < any.groups; ++number)
    if (program::Communicator one = any.group(number);
        std::ranges::find(one.gpus, rank) != one.gpus.end())
      return one;
  return any;
}

// Where all of it is on the GPU of that rank.
void place(program::Program& mine, int rank) {
  for (program::Buffer& buffer : mine.buffers) give_to(rank, buffer);
  for (program::Operation& operation : mine.operations)
    give_to(rank % mine.gpus_of_batch, operation);
  for (program::Stream& stream : mine.streams) stream.device = stream.rank = rank;
  for (program::Thread& thread : mine.threads) {
    thread.name += fmt::format(", rank {}", rank);
    thread.rank = thread.device = rank;
  }
  mine.computed_ranks = 1;
}

}  // namespace

program::Program only_rank(const program::Program& one, int rank) {
  program::Program mine = one;
  for (program::Communicator& group : mine.communicators) group = group_with(rank, group);
  place(mine, rank);
  for (program::Thread& thread : mine.threads) {
    SaidByEach said(mine);
    if (rank > 0)
      std::erase_if(thread.commands,
                    [&](const program::Command& command) { return !said.holds(command); });
  }
  return mine;
}

program::Program only_stages(program::Program own, int rank) {
  // Groups that it is in, and of its own pipeline those that it is not in.
  for (program::Communicator& group : own.communicators)
    if (group.groups > 1)
      group = group.apart == 1 ? group_with(rank, group) : group.group(rank / own.gpus_of_batch);
  place(own, rank);
  const bool tells = rank < own.gpus_of_batch;
  for (program::Thread& thread : own.threads)
    if (!tells)
      std::erase_if(thread.commands,
                    [](const program::Command& command) { return is_log(command.action); });
  return own;
}

}  // namespace trainscope::train
