#include "ui/app/actions/shortcuts.h"

#include <imgui.h>

#include <cctype>
#include <string>
#include <vector>

#include "ui/app/actions/action_list.h"

namespace trainscope::ui {
namespace {

struct Chord {
  bool ctrl = false;
  bool shift = false;
  std::vector<ImGuiKey> keys;  // any of them
};

std::vector<ImGuiKey> keys_of(std::string_view name) {
  struct Named {
    std::string_view name;
    std::vector<ImGuiKey> keys;
  };
  static const std::vector<Named> named = {
      {"+", {ImGuiKey_Equal, ImGuiKey_KeypadAdd}},
      {"-", {ImGuiKey_Minus, ImGuiKey_KeypadSubtract}},
      {".", {ImGuiKey_Period}},
      {",", {ImGuiKey_Comma}},
      {"/", {ImGuiKey_Slash, ImGuiKey_KeypadDivide}},
      {"0", {ImGuiKey_0, ImGuiKey_Keypad0}},
      {"Tab", {ImGuiKey_Tab}},
      {"Space", {ImGuiKey_Space}},
      {"Enter", {ImGuiKey_Enter, ImGuiKey_KeypadEnter}},
      {"Escape", {ImGuiKey_Escape}},
      {"Delete", {ImGuiKey_Delete}},
      {"Backspace", {ImGuiKey_Backspace}},
      {"Home", {ImGuiKey_Home}},
      {"End", {ImGuiKey_End}},
      {"F1", {ImGuiKey_F1}},
      {"F5", {ImGuiKey_F5}},
      {"F8", {ImGuiKey_F8}},
      {"F11", {ImGuiKey_F11}},
      {"1", {ImGuiKey_1, ImGuiKey_Keypad1}},
      {"2", {ImGuiKey_2, ImGuiKey_Keypad2}},
      {"3", {ImGuiKey_3, ImGuiKey_Keypad3}},
      {"4", {ImGuiKey_4, ImGuiKey_Keypad4}},
  };
  for (const Named& one : named)
    if (one.name == name) return one.keys;
  if (name.size() == 1 && std::isupper(static_cast<unsigned char>(name[0])) != 0)
    return {static_cast<ImGuiKey>(ImGuiKey_A + (name[0] - 'A'))};
  return {};
}

Chord chord_of(std::string_view shortcut) {
  Chord chord;
  const auto take = [&](std::string_view word) {
    if (!shortcut.starts_with(word)) return false;
    shortcut.remove_prefix(word.size());
    return true;
  };
  chord.ctrl = take("Ctrl+");
  chord.shift = take("Shift+");
  chord.keys = keys_of(shortcut);
  return chord;
}

}  // namespace

bool is_readable(std::string_view shortcut) {
  return !chord_of(shortcut).keys.empty();
}

bool is_pressed(const ActionInfo& action, bool item_has_keys) {
  if (action.shortcut.empty()) return false;
  const ImGuiIO& io = ImGui::GetIO();
  const Chord chord = chord_of(action.shortcut);
  if (io.KeyCtrl != chord.ctrl || io.KeyAlt || io.KeySuper) return false;
  const bool plus = action.shortcut.ends_with('+');  // Shift may be needed to type it
  if (io.KeyShift != chord.shift && !plus) return false;
  if (!chord.ctrl && io.WantTextInput) return false;
  for (const ImGuiKey key : chord.keys) {
    const bool activates = (key == ImGuiKey_Space || key == ImGuiKey_Enter) && item_has_keys;
    if (!activates && ImGui::IsKeyPressed(key, false)) return true;
  }
  return false;
}

}  // namespace trainscope::ui
