#include "ui/panels/lesson/option_card.h"

#include <fmt/format.h>

#include <string>

#include "ui/app/lesson/present.h"
#include "ui/app/window/shapes.h"
#include "ui/panels/lesson/markdown.h"

namespace trainscope::ui {
namespace {

struct OptionLook {
  Color edge, fill, mark;
  float thick = 1;
};

// Chosen and not judged yet is neither good nor bad.
OptionLook look_of(const Theme& theme, const OptionCard& option, bool open, bool hovered) {
  OptionLook look{theme.line, theme.card, theme.faint};
  if (open && hovered) look.fill = mixed(theme.card, theme.text, 0.05F);
  if (option.chosen) look = {theme.accent, theme.accent_soft, theme.accent, 2};
  if (option.wrong) look = {theme.bad, theme.bad_soft, theme.bad, 2};
  if (option.right && option.chosen) look = {theme.good, theme.good_soft, theme.good, 2};
  if (option.right && !option.chosen) look = {theme.good, theme.panel, theme.good, 1.5F};
  return look;
}

void radio_mark(const Theme& theme, ImVec2 middle, Color color, bool chosen) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddCircle(middle, theme.px(7), color, 0, theme.px(1.5F));
  if (chosen) draw->AddCircleFilled(middle, theme.px(4), color);
}

// The tag stands on a line of its own where the words need the whole width.
float draw_option_text(const Theme& theme, const OptionCard& option, const OptionLook& look,
                       const std::string& tag_words, float left, float width) {
  const float tag = text_size(theme.font.text, theme.size.label, tag_words).x;
  const bool tagged = !tag_words.empty();
  const float words = text_size(theme.font.text, theme.size.small, option.text).x;
  const bool beside = tagged && words + tag + theme.px(16) <= width;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  markdown(theme, option.text, {.width = width, .size = theme.size.small});
  float bottom = ImGui::GetItemRectMax().y;
  if (beside) {
    draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.label, left + width,
                     (at.y + bottom) / 2, look.mark, tag_words, 1);
  } else if (tagged) {
    draw_text(ImGui::GetWindowDrawList(), theme.font.text, theme.size.label, {left, bottom},
              look.mark, tag_words);
    bottom += theme.size.label * 1.3F;
  }
  return bottom;
}

void draw_hands(const Theme& theme, const Hands& hands, const Box& box) {
  if (hands.count <= 0) return;
  const float share = static_cast<float>(hands.count) / static_cast<float>(hands.most);
  ImGui::GetWindowDrawList()->AddRectFilled(box.min, {box.min.x + box.width() * share, box.max.y},
                                            faded(theme.accent, 0.18F), theme.size.corner);
}

// The key that counts a hand, and how many were.
void draw_tally(const Theme& theme, const OptionCard& option, const Hands& hands, ImVec2 key,
                const Box& box) {
  if (hands.count < 0) return;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  if (option.number < Present::kOptions)
    draw_text_middle(draw, theme.font.strong, theme.size.label, key.x, key.y, theme.text,
                     std::to_string(option.number + 1), 0.5F);
  if (hands.count > 0)
    draw_text_middle(draw, theme.font.strong, theme.size.text, box.max.x - theme.px(12),
                     box.min.y + box.height() / 2, theme.accent, std::to_string(hands.count), 1);
}

}  // namespace

bool option_card(const Theme& theme, const scenario::Lesson& lesson, const OptionCard& option,
                 bool open, Hands hands, bool tight) {
  const float width = ImGui::GetContentRegionAvail().x, pad = theme.px(tight ? 5 : 11);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float tally = hands.count >= 0 ? theme.px(34) : 0;  // no hand moves the words
  const float left = at.x + theme.px(36), inner = width - theme.px(36) - pad - tally;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  ImGui::PushID(option.number);
  ImGuiStorage* storage = ImGui::GetStateStorage();
  const ImGuiID hover_id = ImGui::GetID("hovered");
  const OptionLook look = look_of(theme, option, open, storage->GetBool(hover_id));
  draw->ChannelsSplit(2);
  draw->ChannelsSetCurrent(1);
  ImGui::SetCursorScreenPos({left, at.y + pad});
  const float bottom =
      draw_option_text(theme, option, look, lesson.say(option.tag), left, inner) + pad;
  const ImVec2 mark{at.x + theme.px(19), at.y + pad + theme.size.small * 0.725F};
  if (hands.count < 0) radio_mark(theme, mark, look.mark, option.chosen);
  draw_tally(theme, option, hands, mark, {at, {at.x + width, bottom}});
  draw->ChannelsSetCurrent(0);
  draw->AddRectFilled(at, {at.x + width, bottom}, look.fill, theme.size.corner);
  draw_hands(theme, hands, {at, {at.x + width, bottom}});
  draw->AddRect(at, {at.x + width, bottom}, look.edge, theme.size.corner,
                theme.size.border * look.thick);
  draw->ChannelsMerge();
  ImGui::SetCursorScreenPos(at);
  ImGui::BeginDisabled(!open);
  const std::string id = fmt::format("option {}", option.number);
  const bool pressed = press_area(id.c_str(), {width, bottom - at.y});
  ImGui::EndDisabled();
  storage->SetBool(hover_id, ImGui::IsItemHovered());
  ImGui::PopID();
  return pressed;
}

}  // namespace trainscope::ui
