#include "ui/panels/charts/operations.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/units.h"
#include "ui/app/views/names_apart.h"
#include "ui/panels/charts/duration_chart.h"
#include "ui/panels/comparison/side_data.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

using analysis::OperationOrder;
using analysis::OperationRow;

// The columns of the table that have room, from the left.
struct Column {
  const char* title;
  float width;  // at scale 1; 0: what is left
  OperationOrder order;
  std::function<std::string(const OperationRow&)> words;
  const char* help = nullptr;  // where the title does not say it
};

constexpr const char* kSelfHelp = "time of these calls, without the calls that they make";
constexpr const char* kGpuHelp =
    "time of the GPU for what these calls launch, and those within them";

std::string counted(double count) {
  return count == 0 ? "-" : fmt::format("{:.4g}", count);
}

std::string timed(const OperationRow::Figures& figures, double nanos) {
  return figures.durations.empty() ? "-" : format_nanos(nanos);
}

std::string difference_words(const OperationRow& row) {
  const double nanos = row.difference();
  if (nanos == 0) return "0";
  return (nanos < 0 ? "-" : "+") + format_nanos(std::abs(nanos));
}

constexpr float kCount = 74, kTime = 84, kDifference = 96, kShare = 74, kLeastName = 150;

Column name_column() {
  return {"operation", 0, OperationOrder::kName, [](const OperationRow& row) { return row.shown; }};
}

using Words = std::function<std::string(const OperationRow&)>;

bool take(float& room, float wide) {
  if (room < wide) return false;
  room -= wide;
  return true;
}

// Of one run: the share is of its step, or of all of it where it has no steps. Of the host's calls
// there is more room for what each takes itself than for its mean.
std::vector<Column> columns_of_one(const Theme& theme, const analysis::Measured& measured,
                                   analysis::Operation::Where where, float width) {
  const auto time = [](double OperationRow::Figures::* figure) -> Words {
    return [figure](const OperationRow& row) { return timed(row.a, row.a.*figure); };
  };
  using Figures = OperationRow::Figures;
  float room = width / theme.scale - kLeastName - kShare - kTime;
  const bool host = where == analysis::Operation::Where::kHost;
  const bool with_self = host && take(room, kTime), with_gpu = host && take(room, kTime);
  const bool with_count = take(room, kCount), with_mean = take(room, kTime);
  std::vector<Column> columns{name_column()};
  if (with_count)
    columns.push_back({"count", kCount, OperationOrder::kCount,
                       [](const OperationRow& row) { return counted(row.a.count); }});
  columns.push_back({"total", kTime, OperationOrder::kTotal, time(&Figures::total)});
  if (with_self)
    columns.push_back({"self", kTime, OperationOrder::kSelf, time(&Figures::self), kSelfHelp});
  if (with_gpu)
    columns.push_back({"on GPU", kTime, OperationOrder::kGpu, time(&Figures::gpu), kGpuHelp});
  if (with_mean) columns.push_back({"mean", kTime, OperationOrder::kMean, time(&Figures::mean)});
  columns.push_back({analysis::share_of_what(measured), kShare, OperationOrder::kTotal,
                     [&measured](const OperationRow& row) {
                       return fmt::format("{:.1f} %", 100 * analysis::share_of(row.a, measured));
                     }});
  return columns;
}

std::vector<Column> columns_of_two(const Theme& theme, analysis::Operation::Where where,
                                   float width) {
  const bool host = where == analysis::Operation::Where::kHost;
  float room = width / theme.scale - kLeastName - kDifference;
  const bool with_totals = take(room, 2 * kTime), with_selves = host && take(room, 2 * kTime);
  const bool with_counts = take(room, 2 * kCount), with_means = take(room, 2 * kTime);
  std::vector<Column> columns{name_column()};
  const auto add_times = [&](const char* a, const char* b, OperationOrder order,
                             double OperationRow::Figures::* figure, const char* help = nullptr) {
    const auto of = [figure](OperationRow::Figures OperationRow::* side) -> Words {
      return [=](const OperationRow& row) { return timed(row.*side, (row.*side).*figure); };
    };
    columns.push_back({a, kTime, order, of(&OperationRow::a), help});
    columns.push_back({b, kTime, order, of(&OperationRow::b), help});
  };
  using Figures = OperationRow::Figures;
  if (with_counts) {
    columns.push_back({"A count", kCount, OperationOrder::kCount,
                       [](const OperationRow& row) { return counted(row.a.count); }});
    columns.push_back({"B count", kCount, OperationOrder::kCount,
                       [](const OperationRow& row) { return counted(row.b.count); }});
  }
  if (with_totals) add_times("A total", "B total", OperationOrder::kTotal, &Figures::total);
  if (with_selves) add_times("A self", "B self", OperationOrder::kSelf, &Figures::self, kSelfHelp);
  if (with_means) add_times("A mean", "B mean", OperationOrder::kMean, &Figures::mean);
  columns.push_back({"B - A", kDifference, OperationOrder::kDifference, difference_words});
  return columns;
}

void sort_by(OperationsPanel& panel, OperationOrder order) {
  // A second click turns the order; names begin with A, figures with the largest.
  panel.ascending = panel.order == order ? !panel.ascending : order == OperationOrder::kName;
  panel.order = order;
  analysis::sort_operations(panel.rows, panel.order, panel.ascending);
}

// A column's title is what one sorts by it with.
void head_cell(const Theme& theme, OperationsPanel& panel, const Column& column, ImVec2 at,
               float width, float height, bool left) {
  ImGui::SetCursorScreenPos(at);
  if (press_area(column.title, {width, height})) sort_by(panel, column.order);
  const bool lit = ImGui::IsItemHovered();
  if (column.help && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip("%s", column.help);
  const bool on = panel.order == column.order;
  const Color color = on || lit ? theme.accent : theme.faint;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float middle = at.y + height / 2, pad = theme.px(8);
  draw_text_middle(draw, theme.font.text, theme.size.label, left ? at.x + pad : at.x + width - pad,
                   middle, color, column.title, left ? 0 : 1);
}

// The rows of the GPU, or of the host: as positions among all.
std::vector<std::size_t> shown_rows(const OperationsPanel& panel) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < panel.rows.size(); ++i)
    if (panel.rows[i].where == panel.chosen_where) shown.push_back(i);
  return shown;
}

const OperationRow* chosen_row(const OperationsPanel& panel) {
  const OperationRow* first = nullptr;
  for (const OperationRow& row : panel.rows) {
    if (row.where != panel.chosen_where) continue;
    if (row.name == panel.chosen) return &row;
    if (!first) first = &row;
  }
  return first;
}

// Which of the two is shown, in the panel's head.
float choice_width(const Theme& theme) {
  return theme.px(150);
}

void choose_where(const Theme& theme, OperationsPanel& panel) {
  static const std::vector<std::string> kWords = {"GPU", "host"};
  const ImVec2 at = ImGui::GetWindowPos();
  const float width = choice_width(theme) - theme.px(16);
  ImGui::SetCursorScreenPos({at.x + ImGui::GetWindowWidth() - theme.px(38) - width,
                             at.y + (theme.size.head - theme.px(22)) / 2});
  std::string chosen(name_of(panel.chosen_where));
  if (!segments(theme, "##where", width, kWords, kWords, chosen)) return;
  panel.chosen_where =
      chosen == kWords[0] ? analysis::Operation::Where::kGpu : analysis::Operation::Where::kHost;
}

// Of an operation's name and the mark of its category.
constexpr float kNameLeft = 26, kNameRight = 8;

void fit_names(const Theme& theme, OperationsPanel& panel, float column) {
  const float width = column - theme.px(kNameLeft + kNameRight), size = theme.size.small;
  FittedNames& names = panel.names;
  if (names.width == width && names.size == size && names.rows == panel.rows.size()) return;
  std::vector<std::string> all;
  for (const OperationRow& row : panel.rows) all.push_back(row.shown);
  const auto cut = [&](auto shorten) -> Cut {
    return
        [=, &theme](std::string_view name) { return shorten(theme.font.text, size, name, width); };
  };
  const std::vector<std::string> fitted = cut_apart(all, cut(shortened_middle), cut(shortened));
  names = {width, size, panel.rows.size(), {}};
  for (std::size_t i = 0; i < all.size(); ++i) names.by_name[all[i]] = fitted[i];
}

void name_cell(const Theme& theme, const OperationRow& row, const std::string& words, float x,
               float middle) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float left = x + theme.px(8), half = theme.px(5);
  draw_solid(draw, theme, {{left, middle - half}, {left + 2 * half, middle + half}},
             theme.of(row.category));
  draw_text_middle(draw, theme.font.text, theme.size.small, x + theme.px(kNameLeft), middle,
                   theme.text, words);
}

void row_cells(const Theme& theme, const std::vector<Column>& columns, const FittedNames& names,
               const OperationRow& row, ImVec2 at, float name_width, float height) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float middle = at.y + height / 2, pad = theme.px(8);
  float x = at.x;
  for (const Column& column : columns) {
    const bool name = column.width == 0;
    const float width = name ? name_width : theme.px(column.width);
    const std::string words = column.words(row);
    if (name) {
      name_cell(theme, row, names.by_name.at(words), x, middle);
    } else {
      const bool difference = column.order == OperationOrder::kDifference;
      draw_text_middle(draw, theme.font.mono, theme.size.label, x + width - pad, middle,
                       difference ? theme.text : theme.muted, words, 1);
    }
    x += width;
  }
}

// What rows are sorted by is among their columns: the GPU's have no calls, and two runs less room.
void keep_shown_order(OperationsPanel& panel) {
  const bool host = panel.chosen_where == analysis::Operation::Where::kHost;
  const bool shown = panel.order == OperationOrder::kGpu    ? host && !panel.b
                     : panel.order == OperationOrder::kSelf ? host
                                                            : true;
  if (shown) return;
  panel.order = panel.b ? OperationOrder::kDifference : OperationOrder::kTotal;
  panel.ascending = false;
  analysis::sort_operations(panel.rows, panel.order, panel.ascending);
}

void draw_row(const Theme& theme, OperationsPanel& panel, const std::vector<Column>& columns,
              std::size_t number, bool toned, float width, float name_width, float height) {
  const OperationRow& row = panel.rows[number];
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool chosen = &row == chosen_row(panel);
  ImGui::PushID(static_cast<int>(row.where));
  if (press_area(row.name.empty() ? "##nameless" : row.name.c_str(), {width, height}))
    panel.chosen = row.name;
  const bool lit = ImGui::IsItemHovered();
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) {
    ImGui::PushTextWrapPos(theme.px(420));
    ImGui::SetTooltip("%s\n%s, %s", row.name.c_str(), std::string(name_of(row.where)).c_str(),
                      std::string(trace::name_of(row.category)).c_str());
    ImGui::PopTextWrapPos();
  }
  ImGui::PopID();
  ImDrawList* draw = ImGui::GetWindowDrawList();
  if (chosen || lit || toned)
    draw->AddRectFilled(at, {at.x + width, at.y + height},
                        chosen ? theme.accent_soft
                        : lit  ? mixed(theme.panel, theme.text, 0.06F)
                               : theme.lane_tone,
                        theme.px(3));
  row_cells(theme, columns, panel.names, row, at, name_width, height);
}

void draw_table(const Theme& theme, OperationsPanel& panel, const Box& box) {
  ImGui::SetCursorScreenPos(box.min);
  const float head = theme.px(24), height = theme.px(27), bar = theme.px(14);
  const std::vector<Column> columns =
      panel.b
          ? columns_of_two(theme, panel.chosen_where, box.width() - bar)
          : columns_of_one(theme, panel.a->facts.measured, panel.chosen_where, box.width() - bar);
  float name_width = box.width() - bar;
  for (const Column& column : columns) name_width -= theme.px(column.width);
  fit_names(theme, panel, name_width);
  float x = box.min.x;
  for (const Column& column : columns) {
    const float width = column.width == 0 ? name_width : theme.px(column.width);
    head_cell(theme, panel, column, {x, box.min.y}, width, head, column.width == 0);
    x += width;
  }
  ImGui::SetCursorScreenPos({box.min.x, box.min.y + head});
  ImGui::BeginChild("##rows", {box.width(), box.height() - head}, ImGuiChildFlags_NavFlattened);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  ImGuiListClipper clipper;
  const std::vector<std::size_t> shown = shown_rows(panel);
  clipper.Begin(static_cast<int>(shown.size()), height);
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
      draw_row(theme, panel, columns, shown[static_cast<std::size_t>(i)], i % 2 == 0,
               box.width() - bar, name_width, height);
  ImGui::PopStyleVar();
  ImGui::EndChild();
}

void draw_body(const PanelContext& context, OperationsPanel& panel) {
  const Theme& theme = context.theme;
  const Box room = padded_room(theme, theme.px(6), theme.px(6));
  if (panel.rows.empty() || room.height() < theme.px(60)) return;
  const bool chart = room.width() > theme.px(680);
  const float gap = theme.px(26);
  const float wide = chart ? std::clamp(room.width() * 0.34F, theme.px(230), theme.px(620)) : 0;
  draw_table(theme, panel, {room.min, {room.max.x - (chart ? wide + gap : 0), room.max.y}});
  if (const OperationRow* row = chosen_row(panel); row && chart)
    paint_durations(theme, {{room.max.x - wide, room.min.y}, room.max}, *row, panel.b != nullptr);
}

const char* of_what(const OperationsPanel& panel) {
  return panel.b || panel.a->facts.measured.steps > 0 ? ", times a step" : ", times of the run";
}

}  // namespace

bool has_operations(const Workspace& workspace) {
  const auto& sides = workspace.sides();
  return !sides.empty() && workspace.revealed() && !workspace.hides("operations") &&
         std::ranges::all_of(sides, [](const SideModel& side) { return side.run != nullptr; });
}

void refresh_operations(const Workspace& workspace, OperationsPanel& panel) {
  const auto& sides = workspace.sides();
  const RunPointer a = sides[0].run, b = sides.size() > 1 ? sides[1].run : nullptr;
  if (panel.a == a && panel.b == b) return;
  panel.a = a;
  panel.b = b;
  panel.names = {};
  panel.rows = b ? analysis::compare_operations(a->facts.measured, b->facts.measured)
                 : analysis::operation_rows(a->facts.measured);
  if (!b && panel.order == OperationOrder::kDifference) panel.order = OperationOrder::kTotal;
  analysis::sort_operations(panel.rows, panel.order, panel.ascending);
}

void draw_operations(const PanelContext& context, OperationsPanel& panel, const char* name,
                     const char* beside, bool* open) {
  refresh_operations(context.workspace, panel);
  keep_shown_order(panel);
  PanelOptions options = chart_panel(
      beside, open, trainscope::counted(shown_rows(panel).size(), "operation") + of_what(panel));
  const ImGuiWindow* window = ImGui::FindWindowByName(name);
  const bool roomy = window && window->Size.x > 3.4F * choice_width(context.theme);
  options.kept_free = roomy ? choice_width(context.theme) : 0;
  if (begin_panel(context, name, options)) draw_body(context, panel);
  ImGui::EndChild();
  if (roomy) choose_where(context.theme, panel);
  ImGui::End();
}

}  // namespace trainscope::ui
