#include "ui/panels/timelines/details.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "trace/cause_words.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {

SpanRef span_of_interest(const Attention& attention) {
  const TimelineState& timeline = attention.timeline;
  return timeline.selected.span != trace::kNone ? timeline.selected : timeline.hovered;
}

namespace {

using trace::Span;

struct Chosen {
  const IndexedTrace* view = nullptr;
  const Span* span = nullptr;
  std::size_t side = 0;
};

Chosen chosen_span(const PanelContext& context) {
  const SpanRef ref = span_of_interest(context.attention);
  const auto side = static_cast<std::size_t>(ref.side);
  if (ref.span == trace::kNone || side >= context.workspace.sides().size()) return {};
  const TraceView& view = context.workspace.sides()[side].view;
  if (!view || ref.span >= view->trace->spans().size()) return {};
  return {view.get(), &view->trace->spans()[ref.span], side};
}

// "128 MiB   27.7 GB/s   7.05 ms": what matters of the span in one line.
std::string figures_of(const trace::Trace& trace, const Span& span) {
  std::string words = format_nanos(static_cast<double>(span.duration));
  if (const trace::Detail* detail = trace.detail(span))
    if (const auto* copy = std::get_if<trace::CopyDetail>(detail)) {
      words += "   " + format_bytes(static_cast<double>(copy->bytes));
      if (span.duration > 0)
        words += "   " + format_rate(static_cast<double>(copy->bytes) * 1e9 /
                                     static_cast<double>(span.duration));
    }
  return words + "   " + trace.lanes()[span.lane].name;
}

// The words that fit one line, and those that are left.
std::pair<std::string, std::string> broken(ImFont* font, float size, const std::string& words,
                                           float width) {
  if (text_size(font, size, words).x <= width) return {words, ""};
  std::size_t at = std::string::npos;
  for (std::size_t space = words.find(' '); space != std::string::npos;
       space = words.find(' ', space + 1)) {
    if (text_size(font, size, std::string_view(words).substr(0, space)).x > width) break;
    at = space;
  }
  if (at == std::string::npos) return {shortened(font, size, words, width), ""};
  return {words.substr(0, at), words.substr(at + 1)};
}

// Draws nothing of a line that a low card would cut.
class WholeLine {
 public:
  WholeLine(DetailsRoom in, float height) {
    const ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 from = draw->GetClipRectMin();
    const float top = ImGui::GetCursorScreenPos().y;
    const bool whole = top >= from.y - 1 && top + height <= draw->GetClipRectMax().y + 1;
    cut_ = in == DetailsRoom::kLow && !whole;
    if (cut_) ImGui::PushClipRect(from, from, true);
  }
  ~WholeLine() {
    if (cut_) ImGui::PopClipRect();
  }
  WholeLine(const WholeLine&) = delete;
  WholeLine& operator=(const WholeLine&) = delete;

 private:
  bool cut_ = false;
};

// In as many lines as it takes, at most two: the end of a kernel's name says how it computes.
void draw_name(const Theme& theme, DetailsRoom in, const std::string& name, float width) {
  const WholeLine line(in, theme.size.small);
  if (in == DetailsRoom::kLow) {
    text(theme.font.text, theme.size.small, theme.text,
         shortened(theme.font.text, theme.size.small, name, width));
    return;
  }
  const auto [first, rest] = broken(theme.font.text, theme.size.small, name, width);
  text(theme.font.text, theme.size.small, theme.text, first);
  if (rest.empty()) return;
  text(theme.font.text, theme.size.small, theme.text,
       shortened(theme.font.text, theme.size.small, rest, width));
}

// Words in as many lines as they take, at most two, in a low card one; pressed, they select another
// span.
bool draw_link(const Theme& theme, DetailsRoom in, const char* id, const std::string& words,
               Color color, bool enabled) {
  const float width = ImGui::GetContentRegionAvail().x, height = theme.px(18);
  const auto [first, rest] =
      in == DetailsRoom::kLow
          ? std::pair(shortened(theme.font.text, theme.size.label, words, width), std::string())
          : broken(theme.font.text, theme.size.label, words, width);
  const std::string second = shortened(theme.font.text, theme.size.label, rest, width);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float wide = std::max(text_size(theme.font.text, theme.size.label, first).x,
                              text_size(theme.font.text, theme.size.label, second).x);
  const float tall = second.empty() ? height : 2 * height;
  const WholeLine line(in, tall);
  ImGui::BeginDisabled(!enabled);
  const bool pressed = press_area(id, {std::max(wide, 1.0F), tall});
  ImGui::EndDisabled();
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw_text(draw, theme.font.text, theme.size.label, {at.x, at.y + theme.px(2)}, color, first);
  draw_text(draw, theme.font.text, theme.size.label, {at.x, at.y + height + theme.px(2)}, color,
            second);
  if (enabled && (ImGui::IsItemHovered()))
    draw->AddLine({at.x, at.y + tall - 1}, {at.x + wide, at.y + tall - 1}, color,
                  theme.size.border);
  if ((second != rest || (rest.empty() && first != words)) &&
      ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip("%s", words.c_str());
  return pressed && enabled;
}

// "foreach_add of stream 7" behind words. Where one line has not the room, without the lane.
std::string with_name_and_lane(const PanelContext& context, DetailsRoom in, std::string words,
                               const trace::Trace& trace, trace::SpanId id) {
  const Span& span = trace.spans()[id];
  words += short_name(trace.name(span));
  const std::string all = words + " of " + trace.lanes()[span.lane].name;
  const Theme& theme = context.theme;
  const bool fits =
      text_size(theme.font.text, theme.size.label, all).x <= ImGui::GetContentRegionAvail().x;
  return in != DetailsRoom::kLow || fits ? all : words;
}

void select(const PanelContext& context, const Chosen& chosen, trace::SpanId id) {
  const Span& to = chosen.view->trace->spans()[id];
  const Span& from = *chosen.span;
  context.attention.timeline.selected = {static_cast<Side>(chosen.side), id};
  show_range(context.attention.timeline,
             {std::min(to.start, from.start), std::max(to.end(), from.end())});
}

// The cause, as a link to the span that caused it.
void draw_cause(const PanelContext& context, const Chosen& chosen, DetailsRoom in) {
  const Span& span = *chosen.span;
  if (span.cause == trace::Cause::kNothing) return;
  const trace::Trace& trace = *chosen.view->trace;
  const trace::SpanId named = trace::named_cause(trace, span);
  const bool linked = named != trace::kNone;
  std::string words = std::string(trace::relation_to_cause(trace, span)) + ' ';
  words += trace::cause_of(span);
  if (linked) words = with_name_and_lane(context, in, words + ": ", trace, named);
  if (draw_link(context.theme, in, "cause", words, context.theme.copy_text, linked))
    select(context, chosen, named);
}

// The source line that asked for the span; pressed, its listing comes into sight.
void draw_listing_line(const PanelContext& context, const Chosen& chosen, DetailsRoom in) {
  const SideModel& side = context.workspace.sides()[chosen.side];
  const std::size_t line = chosen.span->line;
  if (line == 0 || !side.outline || line > side.outline->listing.lines.size()) return;
  const std::string& source = side.outline->listing.lines[line - 1];
  const std::size_t start = std::min(source.find_first_not_of(' '), source.size());
  const std::string words = "line " + std::to_string(line) + ": " + source.substr(start);
  if (!draw_link(context.theme, in, "line of the listing", words, context.theme.accent, true))
    return;
  context.attention.code_side = chosen.side;
  context.attention.followed_line = 0;
  context.attention.tab_to_show = "code";
}

// What the arrows say: where the span leads, and where it comes from. They are known once a span
// is selected.
void draw_flows(const PanelContext& context, const Chosen& chosen, DetailsRoom in) {
  const TimelineState& timeline = context.attention.timeline;
  const trace::Trace& trace = *chosen.view->trace;
  const trace::SpanId self = span_of_interest(context.attention).span;
  if (timeline.selected.span != self || timeline.linked != timeline.selected) return;
  constexpr std::size_t kMostFlows = 12;
  const std::vector<Link> links = timeline.links;  // selecting another changes them
  std::size_t shown = 0;
  for (const Link& link : links) {
    if (link.is_cause && link.to == self) continue;  // said above
    const trace::SpanId other = link.from == self ? link.to : link.from;
    if (other >= trace.spans().size()) continue;
    if (shown++ == kMostFlows) {
      const WholeLine line(in, context.theme.size.label);
      text(context.theme.font.text, context.theme.size.label, context.theme.faint,
           std::to_string(links.size() - kMostFlows) + " more");
      return;
    }
    const std::string words = with_name_and_lane(
        context, in, link.from == self ? "leads to " : "comes from ", trace, other);
    ImGui::PushID(static_cast<int>(shown));
    if (draw_link(context.theme, in, "arrow", words, context.theme.accent, true))
      select(context, chosen, other);
    ImGui::PopID();
  }
}

void draw_rows(const PanelContext& context, const Chosen& chosen) {
  const Theme& theme = context.theme;
  const auto id = span_of_interest(context.attention).span;
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(theme.px(6), theme.px(3)));
  if (ImGui::BeginTable("##rows", 2, ImGuiTableFlags_SizingStretchProp)) {
    auto rows = describe_span(*chosen.view->trace, id);
    const auto side = span_of_interest(context.attention).side;
    const SideModel& model = context.workspace.sides()[static_cast<std::size_t>(side)];
    const PathFacts* path = context.attention.path.of(static_cast<std::size_t>(side), model);
    if (path) rows.emplace_back("critical path", on_path_words(*path, id));
    for (const auto& [key, value] : rows) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      text(theme.font.text, theme.size.small, theme.muted, key);
      ImGui::TableNextColumn();
      text(theme.font.mono, theme.size.label, theme.text, value, true);
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
}

}  // namespace

void draw_details(const PanelContext& context, DetailsRoom in) {
  const Theme& theme = context.theme;
  const Chosen chosen = chosen_span(context);
  if (!chosen.span) {
    const bool any = end_of_sides(context.workspace) > 0 && context.workspace.revealed();
    text(theme.font.text, theme.size.label, theme.faint,
         any ? "Click a span in the timelines to see what it is and what it waited for."
             : "What a span is, and what it waited for, stands here after the run.",
         true);
    return;
  }
  const trace::Trace& trace = *chosen.view->trace;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing,
                      ImVec2(theme.px(8), theme.px(in == DetailsRoom::kLow ? 2 : 3)));
  const float width = ImGui::GetContentRegionAvail().x;
  if (in == DetailsRoom::kTall) {
    text(theme.font.strong, theme.size.text, theme.text, trace.name(*chosen.span), true);
    ImGui::Dummy({0, theme.px(3)});
    draw_rows(context, chosen);
  } else {
    draw_name(theme, in, trace.name(*chosen.span), width);
    const WholeLine line(in, theme.size.label);
    text(theme.font.mono, theme.size.label, theme.muted,
         shortened(theme.font.mono, theme.size.label, figures_of(trace, *chosen.span), width));
  }
  draw_cause(context, chosen, in);
  draw_listing_line(context, chosen, in);
  draw_flows(context, chosen, in);
  ImGui::PopStyleVar();
}

}  // namespace trainscope::ui
