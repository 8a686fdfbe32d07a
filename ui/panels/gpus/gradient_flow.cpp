#include "ui/panels/gpus/gradient_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/runs/measured_run.h"
#include "ui/panels/charts/chart.h"
#include "ui/panels/comparison/side_data.h"
#include "ui/panels/gpus/chunk_view.h"
#include "ui/panels/gpus/flow_side.h"
#include "ui/panels/gpus/gpu_paint.h"
#include "ui/panels/gpus/stage_strip.h"
#include "ui/panels/gpus/unit_strip.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

constexpr const char* kPanelName = "gradient-flow";

// ---- Whose gradients ---------------------------------------------------------------------------

// A trace of PyTorch's profiler is known by the names in it.
bool names_buckets(const trace::Trace& trace) {
  for (std::uint32_t i = 0; i < trace.name_count(); ++i) {
    const std::string& name = trace.name(i);
    if (name.find(analysis::kIntoBucket) != std::string::npos ||
        name.find("DistributedDataParallel.forward") != std::string::npos)
      return true;
  }
  return false;
}

// Or sends a buffer as they are sent, or them through the stages of a pipeline.
bool sends_gradients(const analysis::Run& run) {
  if (run.program && run.config.word("workload") == "collective") return true;
  const std::string& strategy = run.config.word("parallel.strategy");
  if (run.program)
    return strategy == "ddp" || strategy == "dp" || strategy == "fsdp" || run.program->stages > 1 ||
           !run.program->first_buckets.empty();
  return !run.facts.measured.collectives.empty() &&
         (names_buckets(*run.trace) || analysis::has_unit_marks(*run.trace));
}

RunPointer run_that_sends(const Workspace& workspace, std::size_t side) {
  const RunPointer run = shown_run(workspace, side, kPanelName);
  return run && sends_gradients(*run) ? run : nullptr;
}

FlowFacts* facts_of(const PanelContext& context, GradientFlowPanel& panel, std::size_t side) {
  const RunPointer run = run_that_sends(context.workspace, side);
  if (!run) return nullptr;
  GradientFlowPanel::Side& own = panel.sides[side];
  if (own.read != run) {
    own.read = run;
    own.table = {};
    own.reading.start([run](const auto&) { return std::make_shared<FlowFacts>(run); });
  }
  if (own.reading.busy()) context.ask("animate");
  FlowFacts* facts = own.reading.get().get();
  return facts && !facts->empty() ? facts : nullptr;
}

// Why there is nothing of what is shown now.
std::string fault_of(const PanelContext& context, GradientFlowPanel& panel, std::size_t side) {
  GradientFlowPanel::Side& own = panel.sides[side];
  return own.read == shown_run(context.workspace, side, kPanelName) ? own.reading.error() : "";
}

// ---- A step of it ------------------------------------------------------------------------------

// The step that its strip shows.
analysis::Interval step_on_strip(const FlowFacts& facts, Nanos time) {
  if (facts.is_in_stages()) return facts.stages.steps[facts.stages.step_at(time)].time;
  if (facts.is_in_units()) return facts.units.at(time).time;
  if (facts.is_star()) return facts.star.at(time).window;
  return shown_step(facts.flow, time);
}

// Steps that are compared are drawn to one scale.
void give_one_axis(std::vector<FlowSide>& sides) {
  Nanos axis = 0;
  for (const FlowSide& view : sides) {
    if (view.facts.is_walk()) return;
    const analysis::Interval step = step_on_strip(view.facts, view.time);
    axis = std::max(axis, step.end - step.start);
  }
  for (FlowSide& view : sides) view.axis = axis;
}

void draw_strip(const FlowSide& view, const Box& box) {
  const FlowFacts& facts = view.facts;
  StepStrip strip = facts.is_in_stages()  ? strip_of(facts.stages, view.time)
                    : facts.is_in_units() ? strip_of(facts.units, view.time)
                    : facts.is_star()     ? strip_of(facts.star, facts.work, view.time, box.width())
                                      : strip_of(facts.flow, facts.work, view.time, box.width());
  strip.axis = view.axis;
  const auto moved = draw_step_strip(view.context.theme, "##step", box, strip, view.time);
  if (!moved) return;
  Workspace& workspace = view.context.workspace;
  const Nanos offset = view.side > 0 ? workspace.playhead.offset : 0;
  workspace.playhead.time = std::clamp<Nanos>(*moved + offset, 0, playhead_end(workspace));
}

// Of the stages of a pipeline, or the units of FSDP.
void draw_rows(const FlowSide& view, const Box& box) {
  const Theme& theme = view.context.theme;
  const float legend = box.height() < theme.px(90) ? 0 : theme.px(26);
  draw_strip(view, {box.min, {box.max.x, box.max.y - legend}});
  if (legend == 0) return;
  const Box below{{box.min.x, box.max.y - legend + theme.px(6)}, box.max};
  if (view.facts.is_in_units()) return draw_unit_legend(theme, below, view.facts.units, view.time);
  draw_stage_legend(theme, below, view.facts.stages,
                    analysis::value_of(view.facts.run->metrics, "pipeline.bubble"));
}

WalkView walk_of(const FlowSide& view) {
  const FlowFacts& facts = view.facts;
  return {view.context.theme, facts.walk, facts.topology ? &*facts.topology : nullptr, facts.ring,
          view.time};
}

// "DDP, 8 GPUs of 8 x H100 SXM, step 3"
std::vector<std::string> side_title(const FlowSide& view) {
  const FlowFacts& facts = view.facts;
  if (!facts.is_walk()) return title_of(facts, view.time);
  return walk_title(walk_of(view), facts.has_virtual_gpus ? facts.run->trace->origin().subject
                                                          : facts.run->machine->name);
}

// ---- A side ------------------------------------------------------------------------------------

void draw_side(const FlowSide& view, GradientFlowPanel& panel, Box box) {
  const Theme& theme = view.context.theme;
  const float title = theme.px(24);
  const ImVec2 middle{box.min.x, box.min.y + title / 2};
  const float left = draw_side_title(theme, view.context.workspace, view.side, middle);
  const bool alone = box.width() < theme.px(560) || view.facts.is_in_rows();
  const float kept = alone ? 0 : theme.px(204);  // for what is shown beside
  words_at(theme, {{left, box.min.y}, {box.max.x - kept, box.max.y}}, middle.y, side_title(view),
           theme.text, theme.font.text, theme.size.small);
  box.min.y += title + theme.px(4);
  if (view.facts.is_walk()) return draw_walk(walk_of(view), box, panel.part == "numbers");
  if (view.facts.is_in_rows()) return draw_rows(view, box);
  if (box.height() > theme.px(230)) {
    const float strip = std::clamp(box.height() * 0.14F, theme.px(44), theme.px(62));
    draw_strip(view, {{box.min.x, box.max.y - strip}, box.max});
    box.max.y -= strip + theme.px(14);
  }
  const float gap = theme.px(26);
  if (box.width() < theme.px(560)) {
    if (panel.part == "buckets") return draw_buckets(view, box);
    if (panel.part == "scaling") return draw_scaling(view, panel.range, box);
    return draw_gpus(view, box);
  }
  const float table = std::clamp(box.width() * 0.46F, theme.px(270), theme.px(560));
  draw_gpus(view, {box.min, {box.max.x - table - gap, box.max.y}});
  const Box beside{{box.max.x - table, box.min.y}, box.max};
  if (panel.part == "scaling") return draw_scaling(view, panel.range, beside);
  draw_buckets(view, beside);
}

// Beside the parts to choose from, once for both sides, where one shows cells.
void draw_shared_legend(const Theme& theme, std::vector<FlowSide>& shown,
                        const GradientFlowPanel& panel, const Box& box) {
  const bool gpus = panel.part != "buckets" && panel.part != "scaling" && panel.part != "numbers";
  const bool cells = std::ranges::any_of(shown, [](const FlowSide& view) {
    return !view.facts.is_star() && !view.facts.is_walk() && !view.facts.is_in_rows();
  });
  const float legend = cell_legend_width(theme);
  if (!gpus || !cells || box.width() < legend) return;
  paint_cell_legend(theme, {box.max.x - legend, box.centre().y});
  for (FlowSide& view : shown) view.legend_above = true;
}

// What shares a place: all three where a side is narrow, else what stands beside the GPUs. Only a
// click is kept: a side that is read later than the other makes both narrow.
void choose_part(const Theme& theme, GradientFlowPanel& panel, bool narrow, bool walk, ImVec2 at,
                 float width) {
  std::vector<std::string> parts = {"GPUs", "buckets", "scaling"};
  if (!narrow) parts.erase(parts.begin());
  if (walk) parts = {"GPUs", "numbers"};
  const bool has_chosen = std::ranges::find(parts, panel.part) != parts.end();
  std::string chosen = has_chosen ? panel.part : parts.front();
  ImGui::SetCursorScreenPos(at);
  if (segments(theme, "##part", width, parts, parts, chosen)) panel.part = chosen;
}

// Why there is nothing to draw.
const char* words_of_nothing(const PanelContext& context, GradientFlowPanel& panel) {
  if (panel.sides[0].reading.busy() || panel.sides[1].reading.busy()) return "reading the run";
  for (const auto& side : context.workspace.sides()) {
    const std::string strategy = side.run ? side.run->config.word("parallel.strategy") : "";
    if (strategy == "tensor")
      return "tensor parallelism sums activations and their gradients: its collectives are in the "
             "timeline, on the stream of NCCL";
  }
  return "this run sends no gradients between GPUs";
}

void draw_nothing(const PanelContext& context, GradientFlowPanel& panel, const Box& room) {
  const Theme& theme = context.theme;
  const char* words = words_of_nothing(context, panel);
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, room.centre().x,
                   room.centre().y, theme.muted,
                   shortened(theme.font.text, theme.size.small, words, room.width()), 0.5F);
}

void draw_body(const PanelContext& context, GradientFlowPanel& panel) {
  const Theme& theme = context.theme;
  std::vector<FlowSide> shown;
  std::array<std::string, 2> faults;
  for (std::size_t i = 0; i < context.workspace.sides().size(); ++i) {
    if (FlowFacts* facts = facts_of(context, panel, i))
      shown.push_back({context, panel.sides[i], *facts, i, playhead_of(context.workspace, i)});
    else
      faults.at(i) = fault_of(context, panel, i);
  }
  const bool failed = !faults[0].empty() || !faults[1].empty();
  Box room = padded_room(theme, theme.px(8), theme.px(12));
  room = draw_faults(context, room, faults, shown.empty());
  if (room.width() < theme.px(160) || room.height() < theme.px(80)) return;
  if (shown.empty()) return failed ? void() : draw_nothing(context, panel, room);
  give_one_axis(shown);
  const float gap = theme.px(30), count = static_cast<float>(shown.size());
  const float wide = (room.width() + gap) / count - gap;
  const bool narrow = wide < theme.px(560);
  const float width = std::min(theme.px(narrow ? 270 : 190), room.width());
  const bool walk = shown.front().facts.is_walk();
  const bool has_parts =
      std::ranges::any_of(shown, [](const FlowSide& view) { return !view.facts.is_in_rows(); });
  if (narrow && has_parts) {
    choose_part(theme, panel, narrow, walk, room.min, width);
    draw_shared_legend(
        theme, shown, panel,
        {{room.min.x + width + theme.px(16), room.min.y}, {room.max.x, room.min.y + theme.px(24)}});
    room.min.y += theme.px(34);
  } else if (!walk && has_parts) {
    choose_part(theme, panel, narrow, walk, {room.max.x - width, room.min.y - theme.px(3)}, width);
  }
  panel.range = {};
  for (const FlowSide& view : shown)
    if (const auto& curve = view.own.scaling.get()) panel.range.include(*curve);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const float left = room.min.x + static_cast<float>(i) * (wide + gap);
    ImGui::PushID(static_cast<int>(shown[i].side));
    draw_side(shown[i], panel, {{left, room.min.y}, {left + wide, room.max.y}});
    ImGui::PopID();
  }
}

}  // namespace

bool has_gradient_flow(const Workspace& workspace) {
  for (std::size_t i = 0; i < workspace.sides().size(); ++i)
    if (run_that_sends(workspace, i)) return true;
  return false;
}

void draw_gradient_flow(const PanelContext& context, GradientFlowPanel& panel, const char* name,
                        const char* beside, bool* open) {
  const PanelOptions options = chart_panel(beside, open, "at the playhead");
  if (begin_panel(context, name, options)) draw_body(context, panel);
  end_panel();
}

}  // namespace trainscope::ui
