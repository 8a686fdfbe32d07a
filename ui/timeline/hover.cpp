#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "trace/cause_words.h"
#include "ui/timeline/canvas.h"

namespace trainscope::ui {
namespace {

using trace::Span;
using trace::Trace;
using Rows = std::vector<std::pair<std::string, std::string>>;

std::string duration_text(Nanos duration) {
  return format_nanos(static_cast<double>(duration));
}

std::string extent_text(const std::int32_t (&extent)[3]) {
  return fmt::format("{} x {} x {}", extent[0], extent[1], extent[2]);
}

void add_kernel(Rows& rows, const trace::KernelDetail& kernel) {
  rows.emplace_back("grid", extent_text(kernel.grid));
  rows.emplace_back("block", extent_text(kernel.block));
  if (kernel.registers_per_thread > 0)
    rows.emplace_back("registers per thread", std::to_string(kernel.registers_per_thread));
  if (kernel.shared_bytes > 0)
    rows.emplace_back("shared memory", format_bytes(static_cast<double>(kernel.shared_bytes)));
  if (kernel.occupancy >= 0)
    rows.emplace_back("occupancy", fmt::format("{:.0f} %", kernel.occupancy * 100));
}

void add_copy(Rows& rows, const trace::CopyDetail& copy, const Span& span) {
  rows.emplace_back("size", format_bytes(static_cast<double>(copy.bytes)));
  if (span.duration > 0)
    rows.emplace_back("bandwidth", format_rate(static_cast<double>(copy.bytes) * 1e9 /
                                               static_cast<double>(span.duration)));
  if (copy.from != trace::Memory::kUnknown)
    rows.emplace_back("memory",
                      fmt::format("{} to {}", trace::name_of(copy.from), trace::name_of(copy.to)));
}

void add_collective(Rows& rows, const trace::CollectiveDetail& collective) {
  rows.emplace_back("operation", collective.operation);
  if (!collective.algorithm.empty()) rows.emplace_back("algorithm", collective.algorithm);
  if (!collective.protocol.empty()) rows.emplace_back("protocol", collective.protocol);
  rows.emplace_back("elements", fmt::format("{} ({})", collective.elements_in, collective.type));
  if (collective.group_size > 0) rows.emplace_back("ranks", std::to_string(collective.group_size));
  if (!collective.group.empty())
    rows.emplace_back("process group", collective.group + " " + collective.members);
  if (collective.sequence >= 0)
    rows.emplace_back("collective", fmt::format("number {} of its group", collective.sequence));
}

struct AddDetail {
  Rows& rows;
  const Span& span;
  void operator()(const trace::KernelDetail& d) const { add_kernel(rows, d); }
  void operator()(const trace::CopyDetail& d) const { add_copy(rows, d, span); }
  void operator()(const trace::CollectiveDetail& d) const { add_collective(rows, d); }
  void operator()(const trace::SyncDetail& d) const { rows.emplace_back("waits for", d.kind); }
};

void add_cause(Rows& rows, const Trace& trace, const Span& span) {
  if (span.cause == trace::Cause::kNothing) return;
  std::string words(trace::cause_of(span));
  if (const trace::SpanId named = trace::named_cause(trace, span); named != trace::kNone)
    words += fmt::format(" ({})", bar_label(trace, trace.spans()[named]));
  rows.emplace_back(std::string(trace::relation_to_cause(trace, span)), words);
}

void card_row(const Theme& theme, const std::string& key, const std::string& value) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  text(theme.font.text, theme.size.small, theme.muted, key);
  ImGui::TableNextColumn();
  text(theme.font.mono, theme.size.mono, theme.text, value);
}

void swatch_and_name(const Theme& theme, trace::Category category, const std::string& name) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float edge = theme.px(12), top = at.y + (theme.size.text - edge) / 2;
  draw_bar(ImGui::GetWindowDrawList(), theme, {{at.x, top}, {at.x + edge, top + edge}},
           theme.of(category));
  ImGui::Dummy({edge, theme.size.text});
  ImGui::SameLine();
  text(theme.font.strong, theme.size.text, theme.text, name);
}

// What a fold's busy time went into, largest first.
void add_shares(Rows& rows, const CategoryTimes& times) {
  constexpr double kLeast = 0.005;  // less is said together
  std::vector<std::pair<Nanos, std::size_t>> parts;
  double sum = 0, rest = 0;
  for (std::size_t kind = 0; kind < times.size(); ++kind) {
    parts.emplace_back(times[kind], kind);
    sum += static_cast<double>(times[kind]);
  }
  std::sort(parts.rbegin(), parts.rend());
  for (const auto& [time, kind] : parts) {
    const double share = static_cast<double>(time) / std::max(sum, 1.0);
    if (share < kLeast)
      rest += share;
    else
      rows.emplace_back(std::string(trace::name_of(static_cast<trace::Category>(kind))),
                        fmt::format("{:.0f} %", share * 100));
  }
  if (rest >= kLeast) rows.emplace_back("others", fmt::format("{:.0f} %", rest * 100));
}

Rows rows_of(const TimelineSide& side, const Bar& bar) {
  if (bar.count == 1) return describe_span(*side.trace, bar.span);
  Rows rows;
  rows.emplace_back("start", duration_text(bar.start));
  rows.emplace_back("together", duration_text(bar.end - bar.start));
  add_shares(rows, times_of(side.draw->rows[bar.lane][bar.row], bar.at, bar.count));
  return rows;
}

}  // namespace

Rows describe_span(const Trace& trace, trace::SpanId id) {
  const Span& span = trace.spans()[id];
  Rows rows;
  if (trace.name(span) != trace::name_of(span.category))
    rows.emplace_back("kind", std::string(trace::name_of(span.category)));
  rows.emplace_back("start", duration_text(span.start));
  rows.emplace_back("duration",
                    trace::has_no_end(trace, span) ? "never ends" : duration_text(span.duration));
  if (const trace::Detail* detail = trace.detail(span)) std::visit(AddDetail{rows, span}, *detail);
  add_cause(rows, trace, span);
  if (span.line > 0) rows.emplace_back("listing", fmt::format("line {}", span.line));
  return rows;
}

namespace {

void words_card(const Theme& theme, const std::string& words) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(12), theme.px(10)));
  if (ImGui::BeginTooltip()) {
    ImGui::PushTextWrapPos(theme.px(340));
    text(theme.font.text, theme.size.small, theme.text, words, true);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
  ImGui::PopStyleVar();
}

}  // namespace

// "steps, autograd thread": what the link shows.
void more_card(const Theme& theme, const SideView& view) {
  std::string names;
  for (trace::LaneId lane = 0; lane < view.side->trace->lanes().size(); ++lane)
    if (view.tuck->is_away(lane)) add_to_list(names, view.side->trace->lanes()[lane].name);
  words_card(theme, view.all_lanes ? "Only those that fit, the GPU's among them"
                                   : "Not all lanes fit: " + names);
}

void dropped_card(const Theme& theme, const TimelineSide& side) {
  words_card(theme, "Left out of the file's events\n\n" + side.dropped_why);
}

void place_beside(const Theme& theme, const Box& about) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const ImVec2 middle = viewport->GetWorkCenter(), mouse = ImGui::GetIO().MousePos;
  const bool below = about.centre().y < middle.y;
  const float apart = theme.px(8);
  ImGui::SetNextWindowPos(
      {mouse.x, below ? std::max(about.max.y, mouse.y + apart) + apart : about.min.y - apart},
      ImGuiCond_Always, {mouse.x < middle.x ? 0.0F : 1.0F, below ? 0.0F : 1.0F});
}

void hover_card(const Theme& theme, const TimelineSide& side, const Bar& bar, const Box& at) {
  place_beside(theme, at);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(12), theme.px(10)));
  if (ImGui::BeginTooltip()) {
    const std::string title = bar.count > 1 ? fmt::format("{} short spans", bar.count)
                                            : side.trace->name(side.trace->spans()[bar.span]);
    ImGui::PushTextWrapPos(theme.px(440));
    swatch_and_name(theme, bar.category, title);
    ImGui::PopTextWrapPos();
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(theme.px(6), theme.px(2)));
    if (ImGui::BeginTable("##card", 2, ImGuiTableFlags_SizingFixedFit)) {
      for (const auto& [key, value] : rows_of(side, bar)) card_row(theme, key, value);
      ImGui::EndTable();
    }
    ImGui::PopStyleVar();
    if (bar.count > 1)
      text(theme.font.text, theme.size.small, theme.faint, "Zoom in to see them apart.");
    ImGui::EndTooltip();
  }
  ImGui::PopStyleVar();
}

}  // namespace trainscope::ui
