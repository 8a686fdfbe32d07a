#include "analysis/advice/proposals.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/advice/advice.h"
#include "analysis/advice/advice_words.h"
#include "analysis/advice/what_if.h"
#include "analysis/caveats/loader_caveat.h"
#include "analysis/metrics/number_types.h"
#include "base/error.h"
#include "base/whole.h"
#include "program/idle_knobs.h"
#include "train/model/published_models.h"
#include "train/parallel/parallel.h"

namespace trainscope::analysis {
namespace {

using Parts = std::vector<Part>;

const Parts kKernels{Part::kCompute};
const Parts kAllOfModel{Part::kCompute, Part::kIdleLaunch, Part::kIdleGap};
const Parts kLaunches{Part::kIdleLaunch, Part::kIdleGap};
const Parts kCopies{Part::kIdleCopy, Part::kExposedCopy};
const Parts kData{Part::kIdleData};
const Parts kLoading{Part::kIdleData, Part::kIdleLaunch};
const Parts kWaits{Part::kIdleSync, Part::kIdleLaunch};
const Parts kSlowRank{Part::kIdleCollective};
const Parts kRanks{Part::kExposedCommunication, Part::kIdleCollective};

class Proposer {
 public:
  explicit Proposer(const Run& run) : run_(run), config_(run.config) {}

  std::vector<Proposal> all() {
    if (is_pipeline(run_)) of_pipeline();
    of_optimizer();
    of_types();
    of_model();
    of_loop();
    of_batches();
    of_ranks();
    of_straggler();
    of_batch_size();
    return std::move(list_);
  }

 private:
  bool takes_time(Part part) const {
    constexpr double kLeast = 0.01;
    if (part == Part::kIdleData && longer_in_the_long_run(run_.facts.measured)) return true;
    double whole = 0;
    for (const Nanos time : run_.facts.partition.time) whole += static_cast<double>(time);
    return static_cast<double>(run_.facts.partition[part]) >= kLeast * whole;
  }

  void add(const char* words, const std::string& settings, const Parts& of, bool alone = false) {
    program::Config changed = config_;
    try {
      set_all(changed, settings);
    } catch (const InputError&) {
      return;  // twice as much is more than the knob goes to
    }
    const std::string first = settings.substr(0, settings.find('='));
    if (!program::idle_because(config_, first).empty()) return;
    if (program::differing_knobs(config_, changed).empty()) return;
    if (std::ranges::any_of(of, [this](Part part) { return takes_time(part); }))
      list_.push_back({words, settings, of, alone});
  }

  void of_optimizer() {
    if (config_.word("optimizer.impl") == "for_loop")
      add("The optimizer's update in kernels of many parameters", "optimizer.impl=foreach",
          kAllOfModel);
    add("The optimizer's update in fused kernels", "optimizer.impl=fused", kAllOfModel);
  }

  void of_types() {
    if (is_narrow(run_)) return;
    if (has_bf16(run_))
      add("Autocast to BF16", "precision=bf16", kKernels);
    else
      add("Autocast to FP16 with a GradScaler", "precision=fp16 scaler.enabled=true", kKernels);
    if (has_tf32(run_) && !multiplies_in_tf32(run_))
      add("Matrix products on TF32 tensor cores", "precision=tf32", kKernels);
  }

  void of_model() {
    add("The flash kernel of attention", "attention.kernel=flash", kAllOfModel);
    add("torch.compile, which fuses kernels", "compile.fuse=true", kAllOfModel);
    add("CUDA graphs", "compile.cuda_graph=true", kLaunches);
    add("channels_last for convolutions", "memory_format=channels_last", kKernels);
    add("cuDNN tries its algorithms", "cudnn.benchmark=true", kKernels);
    add("GELU in one kernel", "model.gelu=fused", kAllOfModel);
    add("RMSNorm in one kernel", "model.rms_norm=fused", kAllOfModel);
    of_vocabulary();
    add("No checkpointing, where there is room", "checkpoint.enabled=false", kAllOfModel);
    if (config_.whole("checkpoint.every") == 1)
      add("Checkpointing of every second block, where there is room", "checkpoint.every=2",
          kAllOfModel);
  }

  // Rows of the head that begin at whole lines of memory and fill its tiles, as nanoGPT has them.
  void of_vocabulary() {
    constexpr std::int64_t kWhole = 64;
    const std::int64_t now = train::vocabulary_of(config_);
    const std::int64_t padded = round_up(now, kWhole);
    if (padded != now)
      add("The vocabulary padded to a multiple of 64", fmt::format("model.vocab_size={}", padded),
          kKernels);
  }

  void of_loop() {
    add("The loss is never read", "loop.item_every=0", kWaits);
    add("No synchronize() at a step's end", "loop.sync_timing=false", kWaits);
    add("The allocator keeps what it has cached", "loop.empty_cache=false", kWaits);
    add("Gradients are dropped, not filled with zeros", "zero_grad.set_to_none=true", kAllOfModel);
  }

  // As many as bring batches as fast as the GPU uses them up; where that is no more than there are,
  // twice as many, but no more than there are cores for.
  void of_workers() {
    const std::int64_t workers = config_.whole("loader.num_workers");
    constexpr std::int64_t kMostWorkers = 256;
    if (const auto full = cores_full_of_workers(run_.facts.measured)) {
      const std::int64_t enough = std::max(1, full->cores / full->processes);
      if (enough < workers)
        add("No more workers than cores", fmt::format("loader.num_workers={}", enough), kLoading);
      return;
    }
    const auto needed = workers_needed(run_.facts.measured, run_.facts.partition[Part::kIdleData]);
    const std::int64_t enough = needed ? needed->workers : 0;
    add("More workers load batches",
        fmt::format("loader.num_workers={}",
                    std::min(enough > workers ? enough : 2 * workers, kMostWorkers)),
        kData);
  }

  void of_batches() {
    of_workers();
    add("Workers stay from epoch to epoch", "loader.persistent_workers=true", kData);
    const std::string pinned = "transfer.non_blocking=true loader.pin_memory=true";
    add("Pinned batches, copied with non_blocking=True", pinned, kCopies);
    add("Batches are copied ahead, on a stream of their own",
        pinned + " transfer.streams=2 transfer.prefetch=true", kCopies);
  }

  void of_ranks() {
    const bool wide = config_.word("model.dtype") == "fp32";
    add("The compiled backward is cut at DDP's buckets", "compile.optimize_ddp=true", kRanks);
    add("Larger buckets",
        fmt::format("ddp.bucket_cap_mb={:g}", 4 * config_.number("ddp.bucket_cap_mb")), kRanks);
    if (wide && config_.word("ddp.comm_hook") == "none")
      add("Gradients in BF16 on their way", "ddp.comm_hook=bf16_compress", kRanks);
    add("no_sync() between updates", "ddp.no_sync=true", kRanks);
    if (wide) add("Parameters are gathered in BF16", "fsdp.param_dtype=bf16", kRanks);
    add("Parameters stay after the forward", "fsdp.reshard_after_forward=false", kRanks);
    add("Gradients are scattered once an update", "fsdp.gradient_sync=last", kRanks);
    add("The parts between are cut along the sequence", "tensor.sequence_parallel=true", kRanks);
    add("Embedding, head and loss are shared out, too", "tensor.loss_parallel=true",
        {Part::kCompute, Part::kExposedCommunication, Part::kIdleCollective});
    if (sums_layers_over_network(run_)) of_tensor_groups();
    if (gathers_over_network(run_)) {
      of_hybrid_sharding();
      of_parts_of_layers();
    }
    if (train::cuts_layers(config_)) of_data_parallelism();
  }

  // Its own GPU, whose times are looked at, waits for nobody.
  void of_straggler() {
    if (run_.ranks.size() > 1 && config_.whole("straggler.rank") >= 0)
      list_.push_back({"The slow rank is as fast as the others", kKeepsUp, kSlowRank, true});
  }

  // A batch belongs to a group: smaller ones make as many samples a step.
  void of_tensor_groups() {
    const std::int64_t node = run_.machine->gpu_count, batch = config_.whole("batch_size");
    const std::int64_t degree = config_.whole("tensor.degree");
    const std::int64_t sharing = degree == 0 ? config_.whole("parallel.world_size") : degree;
    const std::int64_t groups = sharing / node;
    const bool same = batch % groups == 0;
    add("Layers are shared within a node, batches between nodes",
        fmt::format("tensor.degree={}{}", node,
                    same ? fmt::format(" batch_size={}", batch / groups) : ""),
        kRanks, !same);
  }

  void of_hybrid_sharding() {
    add("Parameters stay in parts within a node, gradients are summed between nodes",
        fmt::format("fsdp.shard_degree={}", run_.machine->gpu_count), kRanks);
  }

  // What goes over the network is then a GPU's part of each layer. A batch belongs to a group:
  // larger ones make as many samples a step.
  void of_parts_of_layers() {
    const std::int64_t node = run_.machine->gpu_count;
    const std::string within =
        fmt::format("tensor.degree={} batch_size={}", node, node * config_.whole("batch_size"));
    add("Layers are shared within a node, parameters between nodes", within, kRanks);
    add("The same, with the parts between, embedding, head and loss shared out",
        within + " tensor.sequence_parallel=true tensor.loss_parallel=true", kRanks);
  }

  // Where the model has room: each rank has a batch of its own.
  void of_data_parallelism() {
    add("The whole model on each rank, for as many samples", "parallel.strategy=ddp", kRanks, true);
    add("Parameters in parts on each rank, for as many samples",
        config_.whole("tensor.degree") == 0 ? "parallel.strategy=fsdp"
                                            : "parallel.strategy=fsdp tensor.degree=0",
        kRanks, true);
  }

  // A batch belongs to a pipeline, as to a tensor group.
  void of_pipelines() {
    const std::int64_t node = run_.machine->gpu_count, batch = config_.whole("batch_size");
    const std::int64_t degree = config_.whole("pipeline.degree");
    const std::int64_t ranks = degree == 0 ? config_.whole("parallel.world_size") : degree;
    const std::int64_t pipelines = ranks / node;
    const bool same = batch % (pipelines * config_.whole("pipeline.microbatches")) == 0;
    add("A pipeline within each node, batches between nodes",
        fmt::format("pipeline.degree={}{}", node,
                    same ? fmt::format(" batch_size={}", batch / pipelines) : ""),
        kRanks, !same);
  }

  // Longer stages are cut more evenly, and wait less for one another. A batch belongs to a
  // pipeline.
  void of_fewer_stages() {
    const std::int64_t degree = config_.whole("pipeline.degree");
    const std::int64_t ranks = degree == 0 ? config_.whole("parallel.world_size") : degree;
    const std::int64_t batch = config_.whole("batch_size");
    if (ranks < 4 || ranks % 2 != 0) return;
    const bool same = batch % (2 * config_.whole("pipeline.microbatches")) == 0;
    add("Half as many stages, and twice as many pipelines",
        fmt::format("pipeline.degree={}{}", ranks / 2,
                    same ? fmt::format(" batch_size={}", batch / 2) : ""),
        kRanks, !same);
  }

  // A pipeline's batch, which its ranks would take apart.
  void of_sharding() {
    const std::int64_t batch = config_.whole("batch_size");
    const std::int64_t stages = run_.program->gpus_of_batch;
    const bool same = batch % stages == 0;
    add("Parameters in parts on each rank instead of stages",
        fmt::format("parallel.strategy=fsdp{}",
                    same ? fmt::format(" batch_size={}", batch / stages) : ""),
        kRanks, true);
  }

  void of_pipeline() {
    add("Twice as many micro-batches", more_microbatches(config_), kRanks,
        config_.whole("batch_size") % (2 * config_.whole("pipeline.microbatches")) != 0);
    of_sharding();
    sends_stages_over_network(run_) ? of_pipelines() : of_fewer_stages();
    if (config_.word("pipeline.schedule") != "interleaved_1f1b")
      add("Several stages a GPU, and a stream for each two ranks",
          "pipeline.schedule=interleaved_1f1b pipeline.batch_p2p_comm=false", kRanks);
    add("A stream for each two ranks", "pipeline.batch_p2p_comm=false", kRanks);
  }

  void of_batch_size() {
    constexpr std::int64_t kMost = 1 << 22;
    if (const std::int64_t size = config_.whole("batch_size"); 2 * size <= kMost)
      add("A batch twice as large, for as many samples", fmt::format("batch_size={}", 2 * size),
          {Part::kCompute, Part::kIdleLaunch, Part::kIdleGap, Part::kExposedCommunication}, true);
  }

  const Run& run_;
  const program::Config& config_;
  std::vector<Proposal> list_;
};

}  // namespace

std::vector<Proposal> proposals(const Run& run) {
  if (!run.program || run.config.word("workload") != "train") return {};
  if (!run.facts.measured.on_gpu || run.facts.measured.steps == 0) return {};
  return Proposer(run).all();
}

}  // namespace trainscope::analysis
