#include "ui/panels/charts/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "ui/panels/charts/chart.h"
#include "ui/panels/charts/roofline_chart.h"
#include "ui/panels/comparison/side_data.h"

namespace trainscope::ui {
namespace {

using analysis::Roofline;
using analysis::RooflineKernel;
using machine::Bound;

constexpr const char* kPanelName = "roofline";
constexpr Bound kAll[] = {Bound::kCompute, Bound::kMemory, Bound::kLatency, Bound::kOverhead};

bool has_streams(const trace::Trace& trace) {
  for (std::uint32_t i = 0, n = trace.lanes().size(); i < n; ++i)
    if (trace.lanes()[i].kind == trace::LaneKind::kStream) return true;
  return false;
}

// A copy has none, a kernel of a given length no arithmetic. Of a file it is said that it tells
// none.
bool has_kernels(const analysis::Run& run) {
  if (!has_streams(*run.trace)) return false;
  if (!run.program) return true;
  return std::ranges::any_of(run.program->operations, [](const program::Operation& one) {
    return one.kind != program::OperationKind::kOpaque;
  });
}

// Files of Trainscope's own do. The first kernels stand for all: this is asked in every frame.
bool tells_flops(const trace::Trace& trace) {
  constexpr std::uint32_t kFirst = 1000;
  for (std::uint32_t i = 0, n = std::min(trace.details().size(), kFirst); i < n; ++i)
    if (const auto* kernel = std::get_if<trace::KernelDetail>(&trace.details()[i]))
      return kernel->flops > 0;
  return false;
}

RunPointer run_of_kernels(const Workspace& workspace, std::size_t side) {
  const RunPointer run = shown_run(workspace, side, kPanelName);
  return run && has_kernels(*run) ? run : nullptr;
}

std::vector<RooflineSide> shown_sides(const PanelContext& context, RooflinePanel& panel) {
  std::vector<RooflineSide> shown;
  for (std::size_t side = 0; side < context.workspace.sides().size(); ++side) {
    const RunPointer run = run_of_kernels(context.workspace, side);
    if (!run) continue;
    RooflinePanel::SideFacts& facts = panel.sides[side];
    if (facts.run != run) {
      facts.run = run;
      facts.roofline = analysis::roofline(
          analysis::measure(*run->trace, run->program.get(), run->machine.get()));
    }
    if (!facts.roofline.known()) continue;
    shown.push_back({side, &facts.roofline, run->machine ? &run->machine->gpu : nullptr});
  }
  return shown;
}

bool any_point(const std::vector<RooflineSide>& sides) {
  return std::ranges::any_of(sides, [](const RooflineSide& one) {
    return std::ranges::any_of(one.roofline->kernels, [](const RooflineKernel& kernel) {
      return kernel.work.intensity() > 0;
    });
  });
}

// ---- What a step is bound by -------------------------------------------------------------------

// The shares as one bar. Returns its foot.
float draw_share_bar(const Theme& theme, const Box& room, float y, const RooflineSide& side) {
  const float height = theme.px(15);
  float x = room.min.x;
  for (const Bound bound : kAll) {
    const float wide = room.width() * static_cast<float>(side.roofline->share(bound));
    const Box part{{x, y}, {x + wide, y + height}};
    const Color color = bound_color(theme, bound);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    if (side.side == 0)
      draw->AddRectFilled(part.min, part.max, faded(color, 0.7F));
    else if (wide > theme.px(3))
      draw->AddRect({part.min.x + 1, part.min.y}, {part.max.x - 1, part.max.y}, color, 0, 0,
                    theme.px(1.6F));
    x += wide;
  }
  return y + height;
}

// Of two sides the columns of their shares.
void head_columns(const Theme& theme, const Box& room, float y, float column,
                  const std::vector<RooflineSide>& sides) {
  for (std::size_t i = 0; i < sides.size(); ++i)
    draw_text_middle(ImGui::GetWindowDrawList(), theme.font.strong, theme.size.small,
                     room.max.x - column * static_cast<float>(sides.size() - 1 - i), y, theme.muted,
                     sides[i].side == 0 ? "A" : "B", 1);
}

float draw_shares(const PanelContext& context, const Box& room,
                  const std::vector<RooflineSide>& sides) {
  const Theme& theme = context.theme;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const bool several = sides.size() > 1, low = room.height() < theme.px(several ? 183 : 141);
  const float size = theme.size.small, line = theme.px(low ? 18 : 21), column = theme.px(62);
  float y = room.min.y + theme.px(11);
  draw_text_middle(draw, theme.font.strong, size, room.min.x, y, theme.text, "A step is bound by");
  if (several && low) head_columns(theme, room, y, column, sides);
  y += theme.px(14);
  for (const RooflineSide& one : sides) {
    const float left =
        draw_side_title(theme, context.workspace, one.side, {room.min.x, y + theme.px(7)});
    y = draw_share_bar(theme, {{left, room.min.y}, room.max}, y, one) + theme.px(low ? 3 : 6);
  }
  y += theme.px(7);
  if (several && !low) {
    head_columns(theme, room, y, column, sides);
    y += line;
  }
  for (const Bound bound : kAll) {
    draw->AddRectFilled({room.min.x, y - theme.px(5)}, {room.min.x + theme.px(10), y + theme.px(5)},
                        bound_color(theme, bound), theme.px(2));
    static constexpr const char* kWords[] = {"arithmetic", "memory", "latency", "overhead"};
    draw_text_middle(draw, theme.font.text, size, room.min.x + theme.px(17), y, theme.muted,
                     kWords[static_cast<std::size_t>(bound)]);
    for (std::size_t i = 0; i < sides.size(); ++i)
      draw_text_middle(draw, theme.font.mono, theme.size.mono,
                       room.max.x - column * static_cast<float>(sides.size() - 1 - i), y,
                       theme.text, fmt::format("{:.1f} %", 100 * sides[i].roofline->share(bound)),
                       1);
    y += line;
  }
  return y;
}

// ---- The kernels that take longest -------------------------------------------------------------

std::string name_within(const Theme& theme, const std::string& name, float width) {
  ImFont* font = theme.font.mono;
  if (text_size(font, theme.size.label, name).x <= width) return name;
  return shortened(font, theme.size.label, trace::short_name(name), width);
}

void draw_kernels(const PanelContext& context, const Box& room, const RooflineSide& side) {
  const Theme& theme = context.theme;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float size = theme.size.small, line = theme.px(20);
  float y = room.min.y + theme.px(11);
  if (y + line + line / 2 > room.max.y) return;  // a title needs a kernel below it
  const float left = draw_side_title(theme, context.workspace, side.side, {room.min.x, y});
  draw_text_middle(draw, theme.font.strong, size, left, y, theme.text,
                   "Kernels by time, each shape");
  Nanos all = 0;
  for (const RooflineKernel& kernel : side.roofline->kernels) all += kernel.time;
  for (const RooflineKernel& kernel : side.roofline->kernels) {
    y += line;
    if (y + line / 2 > room.max.y) return;
    const std::string share =
        format_value(static_cast<double>(kernel.time) / static_cast<double>(all), "%");
    const float wide = theme.px(58);
    draw->AddCircleFilled({room.min.x + theme.px(5), y}, theme.px(4),
                          bound_color(theme, kernel.regime.bound));
    draw_text_middle(draw, theme.font.mono, theme.size.label, room.min.x + theme.px(17), y,
                     theme.muted,
                     name_within(theme, kernel.name, room.width() - theme.px(17) - wide));
    draw_text_middle(draw, theme.font.mono, theme.size.mono, room.max.x, y, theme.text, share, 1);
  }
}

void draw_figures(const PanelContext& context, const Box& room,
                  const std::vector<RooflineSide>& sides) {
  const float top = draw_shares(context, room, sides) + context.theme.px(4);
  const float each = (room.max.y - top) / static_cast<float>(sides.size());
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const float from = top + each * static_cast<float>(i);
    draw_kernels(context, {{room.min.x, from}, {room.max.x, from + each}}, sides[i]);
  }
}

// ---- All of it ---------------------------------------------------------------------------------

void draw_nothing(const PanelContext& context, const Box& room) {
  ImGui::SetCursorScreenPos({room.min.x, room.min.y + context.theme.px(6)});
  text(context.theme.font.text, context.theme.size.small, context.theme.muted,
       "How much these kernels calculate is not known: the trace tells when they ran, not their "
       "FLOPs or bytes. A simulated run has a roofline.",
       true);
}

void draw_body(const PanelContext& context, RooflinePanel& panel) {
  const Theme& theme = context.theme;
  Box room = padded_room(theme, theme.px(8), theme.px(8));
  if (room.width() < theme.px(160) || room.height() < theme.px(80)) return;
  const std::vector<RooflineSide> sides = shown_sides(context, panel);
  if (!any_point(sides)) return draw_nothing(context, room);
  const bool machines = std::ranges::all_of(sides, [](const auto& one) { return one.gpu; });
  if (machines && room.width() > theme.px(520)) {
    const float wide = std::clamp(room.width() * 0.30F, theme.px(220), theme.px(400));
    draw_figures(context, {{room.max.x - wide, room.min.y}, room.max}, sides);
    room.max.x -= wide + theme.px(28);
  }
  paint_roofline(theme, "##roofline", room, sides);
}

std::string gpus(const Workspace& workspace) {
  std::string words;
  bool unknown = false;
  for (std::size_t side = 0; side < workspace.sides().size(); ++side) {
    const RunPointer run = run_of_kernels(workspace, side);
    unknown |= run && !run->machine;
    if (!run || !run->machine || words == run->machine->gpu.name) continue;
    words += (words.empty() ? "" : "  |  ") + run->machine->gpu.name;
  }
  return words.empty() && unknown ? "roofs not known" : words;
}

}  // namespace

bool has_roofline(const Workspace& workspace) {
  for (std::size_t side = 0; side < workspace.sides().size(); ++side)
    if (run_of_kernels(workspace, side)) return true;
  return false;
}

bool shows_roofline(const PanelContext& context, RooflinePanel& panel) {
  for (std::size_t side = 0; side < context.workspace.sides().size(); ++side) {
    const RunPointer run = run_of_kernels(context.workspace, side);
    if (!run) continue;
    if (context.attention.asked_panel == kPanelName) panel.asked_for = run;
    if (run->program || panel.asked_for == run || tells_flops(*run->trace)) return true;
  }
  return false;
}

void draw_roofline(const PanelContext& context, RooflinePanel& panel, const char* name,
                   const char* beside, bool* open) {
  const PanelOptions options = chart_panel(beside, open, gpus(context.workspace));
  if (begin_panel(context, name, options)) draw_body(context, panel);
  end_panel();
}

}  // namespace trainscope::ui
