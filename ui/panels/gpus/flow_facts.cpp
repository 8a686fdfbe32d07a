#include "ui/panels/gpus/flow_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analysis/runs/measured_run.h"
#include "base/units.h"
#include "machine/ring.h"
#include "machine/topology_part.h"
#include "train/parallel/parallel.h"

namespace trainscope::ui {
namespace {

// Of GPUs 0, apart, 2 * apart, ...
machine::Topology topology_of_group(const machine::Machine& machine, int count, int apart) {
  const machine::Topology whole = machine::topology_of(machine);
  if (apart == 1) return whole;
  std::vector<int> gpus;
  for (int i = 0; i < count; ++i) gpus.push_back(i * apart);
  return machine::part_of(whole, gpus);
}

// "step 3"; of what is shown there while the playhead is in another step "step 3, done", "step 3,
// to come".
std::string step_words(std::string step, const analysis::Interval& shown, Nanos time,
                       const char* what = "") {
  if (time < shown.start) step += fmt::format(", {}to come", what);
  if (time > shown.end) step += fmt::format(", {}done", what);
  return step;
}

// "pipeline, 4 stages on GPUs of 8 x H100 SXM, 8 micro-batches, step 3"; "8 stages on 4 GPUs of";
// "2 pipelines, 4 stages each on".
std::vector<std::string> title_of_stages(const FlowFacts& facts, Nanos time) {
  const int pipelines = facts.stages.pipelines;
  const std::string what =
      pipelines > 1 ? fmt::format("{} pipelines", pipelines) : std::string("pipeline");
  const std::string stages = counted(static_cast<std::size_t>(facts.stages.stages), "stage") +
                             (pipelines > 1 ? " each" : "");
  const std::string gpus = facts.stages.is_interleaved()
                               ? fmt::format("{} GPUs", facts.stages.ranks)
                               : std::string("GPUs");
  const int count = facts.stages.micro_batches;
  const std::string parts = fmt::format("{} micro-batch{}", count, count == 1 ? "" : "es");
  const std::size_t number = facts.stages.step_at(time);
  const std::string step =
      step_words(fmt::format("step {}", number), facts.stages.steps[number].time, time);
  return {fmt::format("{}, {} on {} of {}, {}, {}", what, stages, gpus, facts.run->machine->name,
                      parts, step),
          fmt::format("{}, {}, {}, {}", what, stages, parts, step),
          fmt::format("{}, {}", parts, step), step};
}

// "FSDP, 8 GPUs of 8 x H100 SXM, step 3"; of a trace that was read, as a rank has it.
std::vector<std::string> title_of_units(const FlowFacts& facts, Nanos time) {
  const analysis::UnitStep& shown = facts.units.at(time);
  const std::string step = step_words(fmt::format("step {}", shown.number), shown.time, time);
  if (facts.ranks_of_units == 0) return {"FSDP as one rank has it, " + step, "FSDP, " + step, step};
  const std::string gpus = counted(static_cast<std::size_t>(facts.ranks_of_units), "GPU");
  const std::string where = facts.apart > 1  ? " with the same parts of the layers"
                            : facts.topology ? " of " + facts.run->machine->name
                                             : "";
  return {fmt::format("FSDP, {}{}, {}", gpus, where, step), fmt::format("FSDP, {}, {}", gpus, step),
          "FSDP, " + step, step};
}

// Of one that sums gradients, of which the backward is shown.
std::string step_of_sums(const FlowFacts& facts, Nanos time) {
  if (facts.is_star()) {
    const analysis::StarStep& shown = facts.star.at(time);
    return step_words(fmt::format("step {}", shown.step), shown.window, time);
  }
  const analysis::BackwardFlow& shown = facts.flow.at(time);
  const std::string whose =
      facts.flow.rank ? fmt::format(" as rank {} has it", *facts.flow.rank) : "";
  return step_words(fmt::format("step {}{}", shown.number, whose), {shown.begun(), shown.done()},
                    time, "backward ");
}

}  // namespace

FlowFacts::FlowFacts(RunPointer of)
    : run(std::move(of)),
      flow(analysis::gradient_flow(*run->trace, run->program.get())),
      work(step_work(*run->trace, run->program.get())) {
  if (run->machine && run->config.word("workload") == "collective")
    walk = analysis::collective_walk(*run->trace, *run->machine);
  if (run->program && run->program->stages > 1)
    stages = analysis::stage_times(*run->trace, run->program->gpus_of_batch);
  if (flow.empty()) units = analysis::unit_times(*run->trace);
  if (run->program && train::is_grid(run->config))
    apart = static_cast<int>(run->config.whole("tensor.degree"));
  if (run->program && is_in_units())
    ranks_of_units = static_cast<int>(run->config.whole("parallel.world_size")) / apart;
  if (flow.empty() && run->config.word("parallel.strategy") == "dp")
    star = analysis::star_flow(*run->trace);
  const int count = std::max(gpus(), 1);
  has_virtual_gpus = analysis::has_virtual_gpus(run->trace->origin());
  if (run->machine && !has_virtual_gpus && count * apart <= machine::all_gpus(*run->machine)) {
    topology = topology_of_group(*run->machine, count, apart);
    ring = machine::ring_order(*topology, count);
  } else {
    ring.resize(static_cast<std::size_t>(count));
    std::iota(ring.begin(), ring.end(), 0);
  }
}

std::vector<std::string> title_of(const FlowFacts& facts, Nanos time) {
  if (facts.is_in_stages()) return title_of_stages(facts, time);
  if (facts.is_in_units()) return title_of_units(facts, time);
  const std::string name = facts.is_star() ? "DataParallel" : "DDP";
  const std::string step = step_of_sums(facts, time);
  const std::string gpus = counted(static_cast<std::size_t>(facts.gpus()), "GPU");
  const std::string where = facts.apart > 1          ? " with the same parts of the layers"
                            : facts.topology         ? " of " + facts.run->machine->name
                            : facts.has_virtual_gpus ? ", virtual ones that share a real one"
                                                     : ", their links not told";
  return {fmt::format("{}, {}{}, {}", name, gpus, where, step),
          fmt::format("{}, {}, {}", name, gpus, step), fmt::format("{}, {}", name, step), step};
}

}  // namespace trainscope::ui
