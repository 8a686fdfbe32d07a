#include "ui/panels/stage_strip.h"

#include <fmt/format.h>

#include <map>

#include "ui/panels/strip_legend.h"

namespace trainscope::ui {
namespace {

using trace::Category;

constexpr Category kForward = Category::kForward;
constexpr Category kBackward = Category::kBackward;

}  // namespace

StepStrip strip_of(const analysis::StageTimes& times, Nanos time) {
  const analysis::StageStep& step = times.steps[times.step_at(time)];
  StepStrip strip;
  strip.shown = step.time;
  strip.has_ground = true;
  std::map<std::int32_t, StripLane> lanes;
  for (const analysis::StageCell& cell : step.cells) {
    StripBar bar{cell.time, cell.is_backward ? kBackward : kForward,
                 std::to_string(cell.micro_batch)};
    bar.is_numbered = true;
    lanes[cell.rank].bars.push_back(std::move(bar));
  }
  for (auto& [rank, lane] : lanes) {
    lane.name = fmt::format("GPU {}", rank);
    strip.lanes.push_back(std::move(lane));
  }
  return strip;
}

void draw_stage_legend(const Theme& theme, const Box& box, std::optional<double> bubble) {
  std::vector<std::string> more{"with the number of the micro-batch"};
  if (bubble) more.push_back(fmt::format("bubble {:.1f} %", 100 * *bubble));
  draw_strip_legend(theme, box, {{kForward, "forward"}, {kBackward, "backward"}}, more);
}

}  // namespace trainscope::ui
