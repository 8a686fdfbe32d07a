#include "analysis/runs/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "analysis/caveats/chunk_caveat.h"
#include "analysis/caveats/collective_caveat.h"
#include "analysis/caveats/gpu_caveat.h"
#include "analysis/caveats/host_caveat.h"
#include "analysis/caveats/loader_caveat.h"
#include "analysis/caveats/lost_kernels.h"
#include "analysis/caveats/process_caveat.h"
#include "analysis/caveats/rank_caveat.h"
#include "analysis/caveats/step_caveat.h"
#include "analysis/caveats/uneven_steps.h"
#include "base/error.h"
#include "base/files.h"
#include "host/interpreter.h"
#include "host/numbers_on_demand.h"
#include "host/rank_numbers.h"
#include "host/scale_numbers.h"
#include "trace/chrome_reader.h"
#include "trace/rank_folder.h"
#include "train/build.h"
#include "train/parallel/data_parallel.h"
#include "train/parallel/parallel.h"
#include "train/replay/replay_program.h"
#include "train/settings/train_settings.h"

namespace trainscope::analysis {
namespace {

trace::Origin origin_of(const machine::Machine& machine, const program::Config& config,
                        const program::Program& program) {
  trace::Origin origin;
  origin.kind = trace::OriginKind::kSimulated;
  origin.subject = machine.name;
  origin.detail = config.word("host.profile");
  if (config.word("workload") == "train" && program.timing_only) origin.detail += ", timing only";
  if (program.recording.trace) {
    const std::string changes = train::changes_of(config);
    origin.subject = "a replay of " + program.recording.trace->origin().subject;
    origin.detail = changes.empty() ? "as recorded" : changes;
  }
  return origin;
}

// What computes a program's numbers beside the simulator; null where it has none. That its data set
// will not do is said at once.
std::unique_ptr<program::Numbers> numbers_of(const program::Program& program, int most_threads) {
  if (program.timing_only) {
    if (program.gauges.scale == program::kNoIndex) return nullptr;
    return std::make_unique<host::ScaleNumbers>(program);
  }
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  const int threads = std::clamp(cores, 1, most_threads);
  const host::DataSets sets(program.data);
  if (sets.train) {
    [[maybe_unused]] const host::BatchSource fills_a_batch(program.data, sets, 0);
  }
  const auto make = [&program, sets, threads]() -> std::unique_ptr<program::Numbers> {
    if (program.computed_ranks > 1)
      return std::make_unique<host::RankNumbers>(program, sets, threads);
    return std::make_unique<host::Interpreter>(program, sets, 0, threads);
  };
  return std::make_unique<host::NumbersOnDemand>(make);
}

// What a step takes one GPU alone, with the same batch and without numbers; 0 where that is what
// the config says anyway.
Nanos step_alone(const program::Config& config) {
  if (!train::trains_in_parallel(config)) return 0;
  program::Config alone = train::on_one_gpu(config);
  if (config.word("parallel.strategy") == "dp") {
    const auto gpus = static_cast<int>(config.whole("parallel.world_size"));
    alone.set("batch_size", train::parts_of_batch(config.whole("batch_size"), gpus).front());
  }
  alone.set_text("straggler.rank=-1");
  alone.set_text("uneven_batches=false");
  alone.set_text("sampler.distributed=true");
  alone.set_text("sampler.set_epoch=true");
  const machine::Machine machine = train::machine_of(alone);
  const program::Program program = train::build_program(alone, machine);
  trace::Trace trace(origin_of(machine, alone, program));
  sim::Simulation simulation(program, machine, alone.word("host.profile"), trace);
  simulation.finish();
  const Measured measured = measure(trace, &program, &machine);
  if (simulation.ending() || measured.steps == 0) return 0;
  return (measured.window.end - measured.window.start) / measured.steps;
}

// "; 3 events were left out, as: ..."; where none were, what to record.
std::string dropped_words(const trace::Trace& trace) {
  std::int64_t count = 0;
  for (std::uint32_t i = 0; i < trace.dropped().size(); ++i) count += trace.dropped()[i].count;
  if (count == 0) return "; record some steps with torch.profiler, and export them again";
  return fmt::format("; {} event{} left out, as: {}", count, count == 1 ? " was" : "s were",
                     trace.dropped()[0].reason);
}

void add_sentence(std::string& sentences, const std::string& more) {
  if (!sentences.empty() && !more.empty()) sentences += ". ";
  sentences += more;
}

// What follows from the facts; `whole`: of gather_whole_facts.
void state(Run& run, Facts facts, bool whole) {
  run.facts = std::move(facts);
  run.caveat = run.ending ? "" : loader_caveat(run.facts.measured);
  if (run.caveat.empty() && !run.ending && run.program && run.machine)
    run.caveat = gpu_caveat(run.config, *run.machine);
  if (run.caveat.empty() && !run.ending && run.program && run.machine)
    run.caveat = chunk_caveat(run.config, *run.program, *run.machine);
  if (run.caveat.empty() && !run.ending && !run.program) run.caveat = rank_caveat(*run.trace);
  if (run.caveat.empty() && !run.ending && !run.program)
    run.caveat = host_caveat(run.facts.measured);
  if (!run.program)
    for (const auto caveat : {lost_kernels_caveat, process_caveat, step_caveat, resting_caveat,
                              uneven_steps_caveat, collective_caveat})
      add_sentence(run.caveat, caveat(run.facts.measured));
  run.metrics = compute_metrics(run.facts);
  // What never ends has no whole time, nor an epoch's.
  if (run.ending && std::holds_alternative<sim::Deadlock>(*run.ending))
    std::erase_if(run.metrics, [](const MetricValue& one) {
      return one.metric->name == "time.total" || one.metric->name == "time.epoch";
    });
  run.of_ranks = std::make_shared<RankMetrics>(whole);
  run.ranks = rank_times(run.facts.measured);
  run.gaps = idle_gaps(run.facts.measured);
  run.exposed = exposed_communication(run.facts.measured);
}

}  // namespace

void analyse(Run& run) {
  state(run, gather_facts(*run.trace, run.program.get(), run.machine.get()), false);
}

Run measured_as_a_whole(const Run& run) {
  Run whole = run;
  state(whole, gather_whole_facts(*run.trace, run.program.get(), run.machine.get()), true);
  return whole;
}

Session::Session(std::string label, const program::Config& config, int threads)
    : machine_(std::make_shared<machine::Machine>(train::machine_of(config))),
      program_(std::make_shared<program::Program>(train::build_program(config, *machine_))),
      numbers_(numbers_of(*program_, threads)) {
  run_.label = std::move(label);
  run_.config = config;
  for (const program::Thread& thread : program_->threads) commands_ += thread.commands.size();
  if (numbers_ && !host::numbers_decide(*program_))
    later_ = std::make_unique<host::LaterNumbers>(*program_, std::move(numbers_));
  begin();
}

void Session::begin() {
  const program::Config& config = run_.config;
  program::Numbers* const numbers = numbers_ ? numbers_.get() : later_.get();
  simulation_.reset();
  trace_ = std::make_shared<trace::Trace>(origin_of(*machine_, config, *program_));
  shared_trace_ = trace_;
  simulation_ = std::make_unique<sim::Simulation>(
      *program_, *machine_, config.word("host.profile"), *trace_, numbers,
      sim::Detail{.chunks = config.flag("collective.expanded")});
}

double Session::share() const {
  constexpr double kTimeline = 0.1;  // of a run whose numbers come after it
  if (commands_ == 0) return 1.0;
  const double carried_out =
      static_cast<double>(simulation_->commands_done()) / static_cast<double>(commands_);
  if (!later_) return carried_out;
  return kTimeline * carried_out + (1 - kTimeline) * (timed_ ? later_->share() : 0.0);
}

bool Session::advance(std::uint64_t budget) {
  if (is_training()) return train(budget);
  timed_ = simulation_->advance(std::numeric_limits<Nanos>::max(), budget);
  return timed_ && !is_training();
}

bool Session::train(std::uint64_t budget) {
  constexpr std::uint64_t kEvents = 64;  // take about as long as an operation that is computed
  for (std::uint64_t spent = 0; spent < budget; spent += kEvents) {
    if (!later_->compute_next(*trace_)) return true;
    if (!later_->ended_run()) continue;
    numbers_ = later_->known();
    timed_ = false;
    begin();
    return false;
  }
  return false;
}

Run Session::result() {
  program_->step_alone = step_alone(run_.config);
  run_.machine = machine_;
  run_.program = program_;
  run_.trace = shared_trace_;
  run_.ending = simulation_->ending();
  analyse(run_);
  return std::move(run_);
}

Run run_config(std::string label, const program::Config& config) {
  Session session(std::move(label), config);
  while (!session.advance(std::numeric_limits<std::uint64_t>::max())) {
  }
  return session.result();
}

Run import_run(std::string label, const std::filesystem::path& path) {
  Run run;
  run.label = std::move(label);
  run.trace = is_folder(path) ? trace::read_rank_folder(path) : trace::read_chrome_trace(path);
  if (run.trace->spans().size() + run.trace->samples().size() == 0)
    throw InputError(path.string() + ": holds nothing that can be shown" +
                     dropped_words(*run.trace));
  if (const std::string& why = run.trace->origin().ended_early; !why.empty())
    run.ending = sim::EndedEarly{why};
  analyse(run);
  return run;
}

}  // namespace trainscope::analysis
