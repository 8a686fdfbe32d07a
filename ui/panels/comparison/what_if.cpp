#include "ui/panels/comparison/what_if.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

void ask_of(WhatIfPart& part, const RunPointer& run) {
  part.run = run;
  part.found.drop();
  if (!analysis::can_ask_what_if(*run)) return;
  part.found.start([run](const auto& stopped) -> std::shared_ptr<analysis::WhatIf> {
    const auto found = analysis::what_if(*run, stopped);
    return found ? std::make_shared<analysis::WhatIf>(*found) : nullptr;
  });
}

// What is left of the time, as a bar.
void draw_rest(const Theme& theme, double share) {
  const float width = ImGui::GetContentRegionAvail().x, height = theme.px(4);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(at, {at.x + width, at.y + height}, faded(theme.text, 0.08F), theme.px(2));
  draw->AddRectFilled(at, {at.x + width * static_cast<float>(share), at.y + height}, theme.accent,
                      theme.px(2));
  ImGui::Dummy({width, height + theme.px(2)});
}

void draw_change(const PanelContext& context, const analysis::WhatIf& found, std::size_t number) {
  const Theme& theme = context.theme;
  const analysis::Altered& one = found.changes[number];
  const auto time = static_cast<double>(one.time), whole = static_cast<double>(found.replayed);
  draw_rest(theme, std::clamp(time / whole, 0.0, 1.0));
  text(theme.font.strong, theme.size.small, theme.text,
       fmt::format("{}{}, {} less", format_nanos(time), found.steps > 0 ? " a step" : "",
                   format_nanos(whole - time)),
       true);
  text(theme.font.text, theme.size.small, theme.muted,
       found.of_knobs ? fmt::format("{}: {}", one.words, analysis::text_of(one)) : one.words, true);
  if (const std::string held = analysis::memory_words(found, one); !held.empty())
    text(theme.font.text, theme.size.label, theme.faint, "memory: " + held, true);
  if (!context.can(found.of_knobs ? "runs.copy_beside" : "runs.what_if"))
    return ImGui::Dummy({0, theme.px(6)});
  const std::string label = fmt::format("Show it as B##what-if-{}", number);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() - theme.px(8));
  if (button(theme, label.c_str(), ButtonKind::kLink))
    context.ask("what-if " + analysis::text_of(one));
}

}  // namespace

void draw_what_if(const PanelContext& context, WhatIfPart& part, const RunPointer& run) {
  if (part.run != run) ask_of(part, run);
  if (part.found.busy()) context.ask("animate");
  if (const std::string& error = part.found.error(); !error.empty())
    return notice_card(context.theme, Tone::kBad, "What a change would bring could not be found",
                       error);
  const std::shared_ptr<analysis::WhatIf>& found = part.found.get();
  if (!found) return;
  const std::vector<std::string> below = analysis::words_below(*found);
  if (found->changes.empty() && found->refusal.empty() && below.empty()) return;
  const Theme& theme = context.theme;
  text(theme.font.strong, theme.size.text, theme.text, "What if");
  if (!found->refusal.empty()) {
    text(theme.font.text, theme.size.small, theme.muted, found->refusal, true);
    return ImGui::Dummy({0, theme.px(4)});
  }
  text(theme.font.text, theme.size.label, theme.muted, analysis::heading(*found), true);
  ImGui::Dummy({0, theme.px(2)});
  for (std::size_t i = 0; i < found->changes.size(); ++i) draw_change(context, *found, i);
  for (const std::string& one : below)
    text(theme.font.text, theme.size.small, theme.muted, one, true);
  ImGui::Dummy({0, theme.px(4)});
}

}  // namespace trainscope::ui
