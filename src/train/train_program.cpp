// The workload `train`: programs of single processes, and those of all ranks that are made of them.

#include <optional>
#include <utility>
#include <vector>

#include "train/build.h"
#include "train/kernels/cublas_workspaces.h"
#include "train/loop/train_loop.h"
#include "train/parallel/parallel.h"
#include "train/parallel/pipeline_model.h"
#include "train/parallel/ranks.h"
#include "train/settings/train_settings.h"
#include "train/train_description.h"
#include "train/train_parts.h"

namespace trainscope::train {
namespace {

program::Program build_process(const program::Config& config, const machine::Machine& machine,
                               const std::optional<PipelineRank>& part = std::nullopt) {
  TrainParts parts(config, machine, part);
  describe(parts);
  TrainLoop(parts).write();
  add_cublas_workspaces(parts.program, machine.gpu);
  return std::move(parts.program);
}

program::Program build_pipeline(const program::Config& config, const machine::Machine& machine) {
  const TrainSettings settings = train_settings(config, machine);
  const PipelineModel model = cut_for_pipeline(config, settings);
  std::vector<program::Program> programs;
  for (int rank = 0; rank < settings.pipeline_ranks; ++rank)
    programs.push_back(
        build_process(config, machine, PipelineRank{model, rank, settings.pipeline_ranks}));
  const std::int64_t slow = config.whole("straggler.rank");
  std::vector<RankProgram> ranks;
  for (int rank = 0; rank < settings.processes(); ++rank)
    ranks.push_back({&programs[static_cast<std::size_t>(rank % settings.pipeline_ranks)],
                     rank == slow ? config.number("straggler.factor") : 1.0});
  return join_stages(ranks);
}

}  // namespace

program::Program build_train_stages(const program::Config& config, const machine::Machine& machine,
                                    int rank) {
  const TrainSettings settings = train_settings(config, machine);
  const PipelineModel model = cut_for_pipeline(config, settings);
  const PipelineRank part{model, rank % settings.pipeline_ranks, settings.pipeline_ranks};
  return only_stages(build_process(config, machine, part), rank);
}

program::Program build_train(const program::Config& config, const machine::Machine& machine) {
  if (trains_in_stages(config)) return build_pipeline(config, machine);
  program::Program one = build_process(config, machine);
  if (!ranks_differ(config)) return one;
  std::optional<program::Program> shorter;
  if (config.flag("uneven_batches")) {
    program::Config fewer = config;
    fewer.set("steps", config.whole("steps") - 1);
    shorter = build_process(fewer, machine);
  }
  std::vector<RankProgram> ranks(static_cast<std::size_t>(config.whole("parallel.world_size")),
                                 {&one});
  if (shorter) ranks.back().program = &*shorter;
  if (const std::int64_t slow = config.whole("straggler.rank"); slow >= 0)
    ranks[static_cast<std::size_t>(slow)].slowness = config.number("straggler.factor");
  return join_ranks(ranks);
}

}  // namespace trainscope::train
