#include "ui/panels/gpus/stage_strip.h"

#include <fmt/format.h>

#include <map>

#include "ui/panels/gpus/strip_legend.h"

namespace trainscope::ui {
namespace {

using trace::Category;

constexpr Category kForward = Category::kForward;
constexpr Category kBackward = Category::kBackward;

// Of a GPU's stages the first has the full colour, the last this share of it.
constexpr float kPalest = 0.4F;

float tone_of(const analysis::StageTimes& times, int stage) {
  const int last = (times.stages - 1) / times.ranks;
  if (last == 0) return 1;
  return 1 - (1 - kPalest) * static_cast<float>(stage / times.ranks) / static_cast<float>(last);
}

StripBar bar_of(const analysis::StageTimes& times, const analysis::StageCell& cell) {
  StripBar bar{cell.time, cell.is_backward ? kBackward : kForward,
               std::to_string(cell.micro_batch)};
  bar.is_numbered = true;
  if (!times.is_interleaved()) return bar;
  bar.shorter = bar.label;
  bar.label = fmt::format("{}:{}", cell.stage, cell.micro_batch);
  bar.shades = {{cell.time, tone_of(times, cell.stage)}};
  return bar;
}

}  // namespace

StepStrip strip_of(const analysis::StageTimes& times, Nanos time) {
  const analysis::StageStep& step = times.steps[times.step_at(time)];
  StepStrip strip;
  strip.shown = step.time;
  strip.has_ground = true;
  std::map<std::int32_t, StripLane> lanes;
  // Behind what computes at the same time.
  for (const analysis::StageSum& sum : step.sums)
    lanes[sum.rank].bars.push_back({sum.time, Category::kCollective, "sum"});
  for (const analysis::StageCell& cell : step.cells)
    lanes[cell.rank].bars.push_back(bar_of(times, cell));
  for (auto& [rank, lane] : lanes) {
    lane.name = fmt::format("GPU {}", rank);
    strip.lanes.push_back(std::move(lane));
  }
  return strip;
}

void draw_stage_legend(const Theme& theme, const Box& box, const analysis::StageTimes& times,
                       std::optional<double> bubble) {
  const std::vector<std::string> ways =
      times.is_interleaved()
          ? std::vector<std::string>{"stage:micro-batch, or the micro-batch alone; "
                                     "paler in later stages",
                                     "number: micro-batch; paler in later stages",
                                     "paler in later stages"}
          : std::vector<std::string>{"with the number of the micro-batch"};
  std::vector<LegendItem> items{{kForward, "forward"}, {kBackward, "backward"}};
  if (times.pipelines > 1) items.push_back({Category::kCollective, "sum of gradients"});
  draw_strip_legend(theme, box, items, ways,
                    bubble ? fmt::format("bubble {:.1f} % of the work", 100 * *bubble) : "");
}

}  // namespace trainscope::ui
