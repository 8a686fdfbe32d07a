#include "ui/panels/comparison/knob_control.h"

#include <fmt/format.h>
#include <imgui_internal.h>
#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "program/knob_number.h"
#include "ui/app/views/knob_words.h"
#include "ui/app/views/machine_words.h"
#include "ui/app/window/shapes.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

using program::Knob;
using program::KnobType;
using program::Value;

constexpr std::size_t kMostButtons = 4;

// The handle's range: a slider over the whole range of a registry (to 1 TiB) could set nothing.
std::pair<double, double> slider_range(const Knob& knob) {
  double least = knob.least, most = knob.most;
  const double initial = program::number_of(knob.initial);
  if (knob.usual_most > 0) {
    most = knob.usual_most;
  } else if (knob.type == KnobType::kBytes) {
    least = std::max(least, 1024.0);
    most = std::min(most, 0x1p32);
  } else if (knob.type == KnobType::kNumber && initial > 0) {
    // Around the default, on a scale of factors.
    least = std::max(least, initial / 64);
    most = std::min(most, initial * 4096);
    return {least, std::max(most, least * 2)};
  } else {
    most = std::min(most, std::max(initial * 64, 64.0));
  }
  return {least, std::max(most, least + 1)};
}

bool is_logarithmic(const Knob& knob) {
  const auto [least, most] = slider_range(knob);
  return knob.type == KnobType::kBytes || (least > 0 && most / least > 100);
}

Value rounded(const Knob& knob, double value) {
  if (knob.type == KnobType::kBytes)
    return static_cast<std::int64_t>(std::exp2(std::round(std::log2(value))));
  if (knob.type == KnobType::kInteger) return static_cast<std::int64_t>(std::llround(value));
  // Two significant digits: what a hand on a slider can mean.
  return std::stod(fmt::format("{:.2g}", value));
}

std::string key_of(const Knob& knob, std::size_t side) {
  return knob.name + (side == 0 ? "@A" : "@B");
}

void begin_to_type(KnobsPanel& panel, const std::string& key, const Value& now) {
  panel.typed[key] = program::spell(now);
  panel.to_focus = key;
}

void take_typed(Workspace& workspace, const Knob& knob, std::size_t side,
                const std::string& words) {
  try {
    workspace.set_knob(side, knob.name, program::parse_value(knob, words));
  } catch (const Error& error) {
    workspace.notice = error.what();
  }
}

// A field in the slider's place: Enter takes what was typed, Escape leaves it.
void typed_number(const PanelContext& context, KnobsPanel& panel, const Knob& knob,
                  std::size_t side, float width) {
  const Theme& theme = context.theme;
  const std::string key = key_of(knob, side);
  ImGui::PushFont(theme.font.mono, theme.size.label);
  if (panel.to_focus == key) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(width);
  ImGui::InputText(("##" + key).c_str(), &panel.typed[key], ImGuiInputTextFlags_AutoSelectAll);
  if (ImGui::IsItemActive()) panel.to_focus.clear();
  if (ImGui::IsItemDeactivated()) {
    if (!ImGui::IsKeyPressed(ImGuiKey_Escape))
      take_typed(context.workspace, knob, side, panel.typed[key]);
    panel.typed.erase(key);
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) panel.to_focus = key;
  }
  ImGui::PopFont();
}

void number_slider(const PanelContext& context, KnobsPanel& panel, const Knob& knob,
                   std::size_t side, float width) {
  const Theme& theme = context.theme;
  const Value now = context.workspace.sides()[side].config.value(knob.name);
  const std::string key = key_of(knob, side);
  const auto dragged = panel.dragged.find(key);
  const double value = dragged == panel.dragged.end() ? program::number_of(now) : dragged->second;
  const bool enabled = context.workspace.knobs_free(side);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Value exact = dragged == panel.dragged.end() ? now : rounded(knob, value);
  draw_text(ImGui::GetWindowDrawList(), theme.font.mono, theme.size.label, at,
            enabled ? theme.text : theme.muted,
            shortened(theme.font.mono, theme.size.label, shown_value(knob, exact), width));
  ImGui::SetCursorScreenPos({at.x, at.y + theme.size.label + theme.px(3)});
  double share = share_of(knob, value);
  const SliderUse use = slider(theme, key.c_str(), width, share, enabled);
  if (panel.to_focus == key) {
    ImGui::FocusItem();
    panel.to_focus.clear();
  }
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip("Drag it; a double click or Enter to type a value");
  if (use.grabbed) panel.before_grab = now;
  if (use.moved) {
    panel.dragged[key] = value_at(knob, share);
    context.workspace.set_knob(side, knob.name, rounded(knob, panel.dragged[key]));
  } else if (use.steps != 0) {
    context.workspace.set_knob(side, knob.name, stepped(knob, now, use.steps));
  }
  if (use.released) panel.dragged.erase(key);
  if (!use.types) return;
  // The first of two clicks moved the handle; that is not what was meant.
  const Value meant = use.types_by_mouse ? panel.before_grab.value_or(now) : now;
  if (meant != now) context.workspace.set_knob(side, knob.name, meant);
  begin_to_type(panel, key, meant);
}

void number_control(const PanelContext& context, KnobsPanel& panel, const Knob& knob,
                    std::size_t side, float width) {
  if (panel.typed.contains(key_of(knob, side)))
    typed_number(context, panel, knob, side, width);
  else
    number_slider(context, panel, knob, side, width);
}

// A list that opens: for more words than buttons have room for.
void list_control(const PanelContext& context, const Knob& knob, std::size_t side, float width,
                  const std::vector<std::string>& words) {
  const Theme& theme = context.theme;
  Workspace& workspace = context.workspace;
  const std::string now = workspace.sides()[side].config.word(knob.name);
  ImGui::PushFont(theme.font.mono, theme.size.label);
  ImGui::SetNextItemWidth(width);
  ImGui::BeginDisabled(!workspace.knobs_free(side));
  if (begin_list(theme, ("##" + key_of(knob, side)).c_str(), now)) {
    for (const std::string& word : words)
      if (ImGui::Selectable(word.c_str(), word == now)) workspace.set_knob(side, knob.name, word);
    ImGui::EndCombo();
  }
  ImGui::EndDisabled();
  ImGui::PopFont();
}

// Whether each word can be read whole on a button of its own.
bool fit_buttons(const Theme& theme, const std::vector<std::string>& words, float width) {
  if (words.size() > kMostButtons) return false;
  const float each = width / static_cast<float>(words.size()) - theme.px(8);
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return text_size(theme.font.strong, theme.size.label, word).x <= each;
  });
}

// The machine's id; pressed, it opens the machines with their data sheets.
void machine_control(const PanelContext& context, const Knob& knob, std::size_t side, float width) {
  const Theme& theme = context.theme;
  const std::string& id = context.workspace.sides()[side].config.word(knob.name);
  const float height = theme.px(26), pad = theme.px(9);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool pressed = press_area(key_of(knob, side).c_str(), {width, height});
  const bool lit = ImGui::IsItemHovered();
  const ImVec2 max{at.x + width, at.y + height};
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(at, max, lit ? mixed(theme.head, theme.text, 0.07F) : theme.head,
                      theme.size.corner);
  draw->AddRect(at, max, theme.line, theme.size.corner, theme.size.border);
  const float arrow = theme.px(12);
  draw_text_middle(
      draw, theme.font.mono, theme.size.label, at.x + pad, at.y + height / 2, theme.text,
      shortened(theme.font.mono, theme.size.label, file_stem(id), width - 2 * pad - arrow));
  draw_down_mark(draw, theme, {max.x - pad - theme.px(3), at.y + height / 2}, theme.muted);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) ImGui::SetTooltip("%s", id.c_str());
  if (pressed) context.ask(side == 0 ? "machines-of A" : "machines-of B");
}

void text_control(const PanelContext& context, KnobsPanel& panel, const Knob& knob,
                  std::size_t side, float width) {
  const Theme& theme = context.theme;
  Workspace& workspace = context.workspace;
  const std::string key = key_of(knob, side);
  const auto typed = panel.typed.find(key);
  std::string words = typed == panel.typed.end()
                          ? program::spell(workspace.sides()[side].config.value(knob.name))
                          : typed->second;
  ImGui::PushFont(theme.font.mono, theme.size.label);
  ImGui::SetNextItemWidth(width);
  ImGui::BeginDisabled(!workspace.knobs_free(side));
  if (ImGui::InputText(("##" + key).c_str(), &words)) panel.typed[key] = words;
  ImGui::EndDisabled();
  if (ImGui::IsItemDeactivatedAfterEdit()) {
    take_typed(workspace, knob, side, words);
    panel.typed.erase(key);
  }
  ImGui::PopFont();
}

// A trace of somebody's has the place of a knob, and none.
void no_control(const Theme& theme, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = theme.px(26);
  ImGui::Dummy({width, height});
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, at.x,
                   at.y + height / 2, theme.faint, "–");
}

}  // namespace

double share_of(const Knob& knob, double value) {
  const auto [least, most] = slider_range(knob);
  const double inside = std::clamp(value, least, most);
  if (is_logarithmic(knob)) return std::log(inside / least) / std::log(most / least);
  return (inside - least) / (most - least);
}

double value_at(const Knob& knob, double share) {
  const auto [least, most] = slider_range(knob);
  if (is_logarithmic(knob)) return least * std::pow(most / least, share);
  return least + (most - least) * share;
}

Value stepped(const Knob& knob, const Value& now, int direction) {
  const double value = program::number_of(now);
  const bool whole = std::holds_alternative<std::int64_t>(now);
  double to = value + direction;
  if (is_logarithmic(knob) && value > 0) {
    const double factor = whole ? 2 : 1.25;
    to = direction > 0 ? value * factor : value / factor;
  } else if (!whole) {
    const auto [least, most] = slider_range(knob);
    to = value + direction * std::max(most - least, std::abs(value)) / 50;
  }
  if (whole) return static_cast<std::int64_t>(std::llround(std::clamp(to, knob.least, knob.most)));
  return std::clamp(std::stod(fmt::format("{:.3g}", to)), knob.least, knob.most);
}

bool is_wide(const Knob& knob) {
  return knob.type != KnobType::kBool;
}

void knob_control(const PanelContext& context, KnobsPanel& panel, const Knob& knob,
                  std::size_t side, float width) {
  Workspace& workspace = context.workspace;
  if (is_imported(workspace.sides()[side])) return no_control(context.theme, width);
  const bool enabled = workspace.knobs_free(side);
  const std::string key = key_of(knob, side);
  if (program::is_numeric(knob)) {
    number_control(context, panel, knob, side, width);
  } else if (knob.type == KnobType::kBool) {
    bool on = workspace.sides()[side].config.flag(knob.name);
    if (toggle_switch(context.theme, key.c_str(), on, enabled))
      workspace.set_knob(side, knob.name, on);
  } else if (knob.type == KnobType::kChoice) {
    std::string word = workspace.sides()[side].config.word(knob.name);
    const auto& choices = knob.built_choices;
    if (!fit_buttons(context.theme, choices, width))
      list_control(context, knob, side, width, choices);
    else if (segments(context.theme, key.c_str(), width, choices, choices, word, enabled))
      workspace.set_knob(side, knob.name, word);
  } else if (knob.name == "machine") {
    machine_control(context, knob, side, width);
  } else {
    text_control(context, panel, knob, side, width);
  }
}

}  // namespace trainscope::ui
