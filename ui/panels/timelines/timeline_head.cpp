#include "ui/panels/timelines/timeline_head.h"

#include <cmath>

#include "base/units.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

constexpr const char* kCompareWith = "Compare with…";

float link_width(const Theme& theme, const std::string& words) {
  return text_size(theme.font.text, theme.size.small, words).x + theme.px(12);
}

// Where words of that width begin that end there; false: the head has no room for them.
bool go_to_words(const Theme& theme, ImVec2 right_middle, ImVec2 size) {
  const float x = right_middle.x - size.x;
  if (x < ImGui::GetWindowPos().x + theme.px(120)) return false;
  ImGui::SetCursorScreenPos({x, right_middle.y - size.y / 2});
  return true;
}

// Words that do something, ending there.
void head_link(const PanelContext& context, ImVec2 right_middle, const char* action,
               const std::string& words) {
  const Theme& theme = context.theme;
  const bool enabled = context.can(action);
  const ImVec2 size{link_width(theme, words), theme.px(22)};
  if (!go_to_words(theme, right_middle, size)) return;
  ImGui::BeginDisabled(!enabled);
  if (press_area(action, size)) context.ask(action);
  const bool lit = ImGui::IsItemHovered();
  ImGui::EndDisabled();
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Box box{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
  if (lit) draw->AddRectFilled(box.min, box.max, theme.accent_soft, theme.px(4));
  draw_text_middle(draw, theme.font.text, theme.size.small, box.centre().x, box.centre().y,
                   enabled ? theme.accent : theme.muted, words, 0.5F);
}

// How A and B stand to each other; a click changes it.
std::string alignment_words(const PanelContext& context) {
  const bool by_step = context.can("play.align") && context.workspace.playhead.by_step;
  std::string words = by_step ? "A and B aligned by step" : "A and B aligned by time";
  if (const Nanos offset = context.workspace.playhead.offset; offset != 0)
    words += ", B " + format_nanos(std::abs(static_cast<double>(offset))) +
             (offset > 0 ? " later" : " earlier");
  return words;
}

void explain_notes(const Theme& theme, const std::vector<SideNote>& notes) {
  if (!ImGui::BeginItemTooltip()) return;
  ImGui::PushTextWrapPos(theme.px(420));
  for (const SideNote& note : notes)
    ImGui::TextUnformatted((note.title + ": " + note.sentence).c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

// Its sentences are told to the mouse.
void head_notes(const PanelContext& context, ImVec2 right_middle,
                const std::vector<SideNote>& notes) {
  if (notes.empty()) return;
  const Theme& theme = context.theme;
  const std::string words = notes.size() == 1 ? notes.front().title : "Read with care";
  const ImVec2 size{link_width(theme, words), theme.px(22)};
  if (!go_to_words(theme, right_middle, size)) return;
  press_area("caveat", size);
  const Box box{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, box.centre().x,
                   box.centre().y, theme.muted, words, 0.5F);
  explain_notes(theme, notes);
}

}  // namespace

float kept_for_links(const Theme& theme, const Workspace& workspace) {
  return workspace.sides().size() == 2 ? 0 : link_width(theme, kCompareWith) + theme.px(10);
}

void draw_timeline_head(const PanelContext& context, bool closable,
                        const std::vector<SideNote>& notes) {
  const Theme& theme = context.theme;
  const ImVec2 at = ImGui::GetWindowPos();
  ImVec2 right_middle{at.x + ImGui::GetWindowWidth() - theme.px(closable ? 36 : 12),
                      at.y + theme.size.head / 2};
  if (context.workspace.sides().size() != 2)
    return head_link(context, right_middle, "file.open_beside", kCompareWith);
  const std::string words = alignment_words(context);
  head_link(context, right_middle, "play.align", words);
  right_middle.x -= link_width(theme, words) + theme.px(10);
  head_notes(context, right_middle, notes);
}

}  // namespace trainscope::ui
