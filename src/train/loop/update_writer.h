// Writes what follows backward into the training thread's commands, a step at a time: the scaler's
// search for infinities, clipping, the optimizer, the scaler's update.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "program/program.h"
#include "train/listing/train_listing.h"
#include "train/loop/launch_writer.h"
#include "train/loop/update.h"
#include "train/settings/train_settings.h"
#include "train/writer.h"

namespace trainscope::train {

class UpdateWriter {
 public:
  using SumOverRanks = std::function<void(ThreadWriter&, const RankSum&)>;

  // All of which outlive it. `sum`: asked for where the update is of a rank's parts.
  UpdateWriter(const Update& update, const TrainSettings& settings, const TrainLines& lines,
               const LaunchWriter& launch, SumOverRanks sum = {})
      : update_(update),
        settings_(settings),
        lines_(lines),
        launch_(launch),
        sum_(std::move(sum)) {}

  // Of scaler.step(optimizer) and scaler.update(), or of optimizer.step(). `logs`: the step's
  // numbers are to be told.
  void write(ThreadWriter& main, std::int64_t step, bool logs);

 private:
  void search(ThreadWriter& main, std::int64_t step) const;
  void clip(ThreadWriter& main) const;
  void skip_where_infinite(ThreadWriter& main) const;
  void optimize(ThreadWriter& main) const;
  void sum_gradients(ThreadWriter& main) const;

  const Update& update_;
  const TrainSettings& settings_;
  const TrainLines& lines_;
  const LaunchWriter& launch_;
  SumOverRanks sum_;
  bool state_there_ = false;
};

}  // namespace trainscope::train
