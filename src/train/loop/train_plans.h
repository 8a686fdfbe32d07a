// What the training loop launches, batch by batch: the plans of every place that a batch may lie
// in or of every size that its images may have, and of the evaluation.
#pragma once

#include <optional>
#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/compile/compiled_model.h"
#include "train/kernels/convolutions.h"
#include "train/listing/train_listing.h"
#include "train/loop/batch_feed.h"
#include "train/model/graph.h"
#include "train/parallel/data_parallel.h"
#include "train/settings/train_settings.h"

namespace trainscope::train {

class TrainPlans {
 public:
  // Of what a program has already; all of it must outlive the plans.
  struct Parts {
    program::Program& program;
    const program::Config& config;
    const TrainSettings& settings;
    const TrainLines& lines;
    const Graph& graph;
    const ModelBuffers& model;
    const BatchFeed& feed;
    Convolutions* convolutions = nullptr;  // null: the model runs on the CPU
    CompiledModel* compiled = nullptr;     // null: without torch.compile
    std::vector<int> pieces;               // of it, by layer
  };
  // `scale`: the loss scale of a GradScaler. Adds operations and buffers to the program.
  TrainPlans(const Parts& parts, program::Index scale);

  const Plan& of(std::int64_t batch) const;
  // Of a batch's launches, on all GPUs of this process.
  double flops(std::int64_t batch) const;
  // What makes the batch's images another size; null: nothing does.
  const PlannedLaunch* resize(std::int64_t batch) const {
    return resizes_.empty() ? nullptr : &resizes_[place_of(batch)];
  }
  // The loop's body, and no launch, gives the loss's memory back.
  bool leaves_loss() const { return leaves_loss_; }
  // Null: without nn.DataParallel.
  DataParallel* data_parallel() { return dp_ ? &*dp_ : nullptr; }

  // model.eval(): where the right answers are counted, and the count on the host.
  struct Evaluation {
    Plan plan;
    program::Index correct = program::kNoIndex;
    program::Index correct_on_host = program::kNoIndex;
  };
  const Evaluation& evaluation() const { return evaluation_; }

 private:
  // The launches of one micro-batch: those of the first of a step make new gradients, the others
  // add to them.
  struct OfBatch {
    Plan first;
    std::optional<Plan> later;
    double first_flops = 0;
    double later_flops = 0;
  };

  void add(const BatchBuffers& batch);
  void add(const Graph& graph, const BatchBuffers& batch);
  void add_size(std::int64_t side);
  void add_data_parallel(const std::vector<std::int64_t>& samples);
  void add_evaluation();
  void keep_losses();
  void count_flops();
  double flops_of(const Plan& plan) const;
  std::size_t place_of(std::int64_t batch) const;

  Parts parts_;
  TapeOptions options_;
  PlanBuffers buffers_;
  std::optional<DataParallel> dp_;
  std::vector<OfBatch> plans_;          // by batch on the device, or by size of its images
  std::vector<PlannedLaunch> resizes_;  // by size, where there are several
  Evaluation evaluation_;
  bool leaves_loss_ = false;
};

}  // namespace trainscope::train
