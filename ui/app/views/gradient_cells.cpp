#include "ui/app/views/gradient_cells.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/views/collective_progress.h"
#include "base/units.h"

namespace trainscope::ui {

using analysis::BackwardFlow;
using analysis::BucketState;
using analysis::BucketTimes;
using analysis::GradientFlow;
using analysis::StepExposure;

namespace {

std::size_t gradients_of(const BackwardFlow& backward) {
  std::size_t count = 0;
  for (const BucketTimes& bucket : backward.buckets) count += bucket.gradients.size();
  return count;
}

std::vector<GradientCell> bucket_cells(const BackwardFlow& backward, Nanos time) {
  std::vector<GradientCell> cells;
  for (std::size_t i = 0; i < backward.buckets.size(); ++i) {
    const BucketTimes& bucket = backward.buckets[i];
    cells.push_back({i, 0, share_ready(bucket, time), state_at(bucket, time)});
  }
  return cells;
}

}  // namespace

std::vector<GradientCell> gradient_cells(const BackwardFlow& backward, Nanos time,
                                         std::size_t most) {
  const std::size_t all = gradients_of(backward);
  if (all == 0 || most == 0) return bucket_cells(backward, time);
  const std::size_t count = std::min(all, most);
  std::vector<GradientCell> cells(count, GradientCell{0, 0});
  std::size_t place = 0;
  for (std::size_t i = 0; i < backward.buckets.size(); ++i) {
    const BucketTimes& bucket = backward.buckets[i];
    for (const analysis::BucketGradient& gradient : bucket.gradients) {
      GradientCell& cell = cells[place++ * count / all];
      if (cell.gradients++ == 0) {
        cell.bucket = i;
        cell.state = state_at(bucket, time);
      }
      cell.ready += gradient.ready <= time ? 1 : 0;
    }
  }
  for (GradientCell& cell : cells) cell.ready /= static_cast<double>(cell.gradients);
  return cells;
}

std::size_t bucket_at(const BackwardFlow& backward, Nanos time) {
  for (std::size_t i = 0; i < backward.buckets.size(); ++i)
    if (state_at(backward.buckets[i], time) != BucketState::kDone) return i;
  return backward.buckets.size() - 1;
}

namespace {

std::string running_words(const GradientFlow& flow, const BucketTimes& bucket, std::string name,
                          Nanos time) {
  if (!bucket.algorithm.empty()) name += ": " + bucket.algorithm;
  if (!bucket.protocol.empty()) name += ", " + bucket.protocol;
  if (bucket.algorithm == "ring" && flow.ranks > 1) {
    const auto moment = analysis::ring_moment(flow.ranks, share_summed(bucket, time));
    const int steps = analysis::ring_steps(flow.ranks);
    return name + fmt::format(", step {} of {}", std::min(moment.step + 1, steps), steps);
  }
  return name + fmt::format(", {:.0f} % over", 100 * share_summed(bucket, time));
}

// What is drawn is the algorithm's, at the all-reduce's own pace: nothing measured chunk by chunk.
std::vector<std::string> running_beneath(const GradientFlow& flow, const BucketTimes& bucket,
                                         Nanos time) {
  if (bucket.algorithm == "ring" && flow.ranks > 1) {
    const int n = flow.ranks;
    const int step = analysis::ring_moment(n, share_summed(bucket, time)).step;
    const std::string sums = step < n - 1
                                 ? fmt::format("sums of {} of {} GPUs are passed on", step + 1, n)
                                 : "whole sums are passed around";
    return {sums + "; steps drawn equally long, by the closed form", sums};
  }
  if (bucket.algorithm == "tree")
    return {"sums go up the tree and come down again; drawn by the closed form",
            "sums go up the tree and come down"};
  if (bucket.algorithm == "NVLS")
    return {"the switch adds and sends the sums to all; drawn by the closed form",
            "the switch adds, and sends the sums"};
  return {};
}

FlowWords words_of_bucket(const GradientFlow& flow, const BackwardFlow& backward, std::size_t at,
                          Nanos time) {
  const BucketTimes& bucket = backward.buckets[at];
  const std::string name = fmt::format("bucket {}", at);
  switch (state_at(bucket, time)) {
    case BucketState::kRunning:
      return {
          {running_words(flow, bucket, name, time), fmt::format("{}: {}", name, bucket.algorithm)},
          running_beneath(flow, bucket, time)};
    case BucketState::kReady:
      return {{name + " is closed and waits for its all-reduce", name + " is closed"}, {}};
    case BucketState::kDone:
      return {{fmt::format("all {} buckets are summed", backward.buckets.size()), "all summed"},
              {}};
    case BucketState::kFilling:
      break;
  }
  const auto ready = static_cast<std::size_t>(
      std::count_if(bucket.gradients.begin(), bucket.gradients.end(),
                    [time](const auto& gradient) { return gradient.ready <= time; }));
  const std::string fills =
      fmt::format("{} fills: {} of {} gradients", name, ready, bucket.gradients.size());
  return {{bucket.gradients.empty() ? name + " fills" : fills, name + " fills"}, {}};
}

}  // namespace

FlowWords flow_words(const GradientFlow& flow, Nanos time) {
  const BackwardFlow& backward = flow.at(time);
  if (time < backward.begun()) return {{"no gradient is ready yet", "none ready"}, {}};
  const StepExposure* step = step_of(flow, backward);
  const bool last = &backward == &flow.backwards.back();
  if (step && !last && time > backward.done() && time >= step->window.end)
    return {{"the next step's gradients are not there yet", "none ready"}, {}};
  return words_of_bucket(flow, backward, bucket_at(backward, time), time);
}

const StepExposure* step_of(const GradientFlow& flow, const BackwardFlow& backward) {
  const auto step = static_cast<std::size_t>(backward.step);
  return step < flow.steps.size() ? &flow.steps[step] : nullptr;
}

ExposureWords exposure_words(const GradientFlow& flow, Nanos time) {
  const BackwardFlow& backward = flow.at(time);
  const StepExposure* step = step_of(flow, backward);
  if (!step) return {};
  const Nanos exposed = step->buckets + step->others;
  const auto figure = [](Nanos nanos) { return format_nanos(static_cast<double>(nanos)); };
  ExposureWords words;
  words.any = exposed > 0;
  words.figure = words.any ? figure(exposed) : "none";
  words.whole = "of " + figure(step->window.end - step->window.start) + " of the step";
  if (!words.any) {
    words.most = "kernels run beside every all-reduce";
    return words;
  }
  const auto most = std::max_element(
      backward.buckets.begin(), backward.buckets.end(),
      [](const BucketTimes& a, const BucketTimes& b) { return a.exposed < b.exposed; });
  if (most->exposed < step->others)
    words.most = figure(step->others) + " of other collectives";
  else if (backward.buckets.size() == 1)
    words.most = "one bucket: it begins when backward is over";
  else
    words.most =
        fmt::format("{} of bucket {}{}", figure(most->exposed), most - backward.buckets.begin(),
                    most + 1 == backward.buckets.end() ? ", the last" : "");
  return words;
}

ExposureWords exposure_words(const analysis::StarFlow& flow, Nanos time) {
  const analysis::StarStep& step = flow.at(time);
  Nanos exposed = 0;
  const analysis::StarStageTimes* most = nullptr;
  for (const analysis::StarStageTimes& stage : step.stages) {
    exposed += stage.exposed;
    if (!most || stage.exposed > most->exposed) most = &stage;
  }
  const auto figure = [](Nanos nanos) { return format_nanos(static_cast<double>(nanos)); };
  ExposureWords words;
  words.any = exposed > 0;
  words.figure = words.any ? figure(exposed) : "none";
  words.whole = "of " + figure(step.window.end - step.window.start) + " of the step";
  words.most = words.any ? figure(most->exposed) + " to " + std::string(name_of(most->stage))
                         : "GPU 0 calculates all the while";
  return words;
}

std::string table_time(Nanos time, bool milliseconds) {
  const auto nanos = static_cast<double>(time);
  return milliseconds ? fmt::format("{:.3f}", nanos / 1e6) : fmt::format("{:.1f}", nanos / 1e3);
}

}  // namespace trainscope::ui
