#include "ui/panels/details.h"

#include <algorithm>

#include "base/units.h"
#include "ui/panels/controls.h"

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

std::string cause_words(const trace::Trace& trace, const Span& span) {
  std::string words = "began after " + std::string(trace::name_of(span.cause));
  if (span.cause_span != trace::kNone && span.cause_span < trace.spans().size()) {
    const Span& before = trace.spans()[span.cause_span];
    words += ": " + short_name(trace.name(before)) + " of " + trace.lanes()[before.lane].name;
  }
  return words;
}

// The cause, as a link to the span that caused it.
void draw_cause(const PanelContext& context, const Chosen& chosen) {
  const Theme& theme = context.theme;
  const Span& span = *chosen.span;
  if (span.cause == trace::Cause::kNothing) return;
  const trace::Trace& trace = *chosen.view->trace;
  const bool linked = span.cause_span != trace::kNone && span.cause_span < trace.spans().size();
  const float width = ImGui::GetContentRegionAvail().x;
  const std::string words =
      shortened(theme.font.text, theme.size.label, cause_words(trace, span), width);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = text_size(theme.font.text, theme.size.label, words);
  const bool pressed = ImGui::InvisibleButton("##cause", {std::max(size.x, 1.0F), theme.px(18)});
  const bool lit = linked && ImGui::IsItemHovered();
  draw_text(ImGui::GetWindowDrawList(), theme.font.text, theme.size.label,
            {at.x, at.y + theme.px(2)}, theme.copy_text, words);
  if (lit)
    ImGui::GetWindowDrawList()->AddLine({at.x, at.y + theme.px(17)},
                                        {at.x + size.x, at.y + theme.px(17)}, theme.copy_text);
  if (!pressed || !linked) return;
  const Span& cause = trace.spans()[span.cause_span];
  context.attention.timeline.selected = {static_cast<Side>(chosen.side), span.cause_span};
  show_range(context.attention.timeline,
             {std::min(cause.start, span.start), std::max(cause.end(), span.end())});
}

void draw_rows(const PanelContext& context, const Chosen& chosen) {
  const Theme& theme = context.theme;
  const auto id = span_of_interest(context.attention).span;
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(theme.px(6), theme.px(3)));
  if (ImGui::BeginTable("##rows", 2, ImGuiTableFlags_SizingStretchProp)) {
    for (const auto& [key, value] : describe_span(*chosen.view->trace, id)) {
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

void draw_details(const PanelContext& context, bool tall) {
  const Theme& theme = context.theme;
  const Chosen chosen = chosen_span(context);
  if (!chosen.span) {
    const bool any = context.workspace.end() > 0 && context.workspace.revealed();
    text(theme.font.text, theme.size.label, theme.faint,
         any ? "Click a span in the timelines to see what it is and what it waited for."
             : "What a span is, and what it waited for, stands here after the run.",
         true);
    return;
  }
  const trace::Trace& trace = *chosen.view->trace;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(theme.px(8), theme.px(3)));
  const float width = ImGui::GetContentRegionAvail().x;
  if (tall) {
    text(theme.font.strong, theme.size.text, theme.text, trace.name(*chosen.span), true);
    ImGui::Dummy({0, theme.px(3)});
    draw_rows(context, chosen);
  } else {
    text(theme.font.text, theme.size.small, theme.text,
         shortened(theme.font.text, theme.size.small, trace.name(*chosen.span), width));
    text(theme.font.mono, theme.size.label, theme.muted,
         shortened(theme.font.mono, theme.size.label, figures_of(trace, *chosen.span), width));
  }
  draw_cause(context, chosen);
  ImGui::PopStyleVar();
}

}  // namespace trainscope::ui
