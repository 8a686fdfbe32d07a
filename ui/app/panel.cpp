// The panel's frame. ImGui's own window decorations are left out: docked windows have no rounded
// corners there, and their title is a tab.
#include <imgui_internal.h>

#include <algorithm>
#include <utility>

#include "ui/app/shapes.h"

namespace trainscope::ui {
namespace {

void draw_frame(const Theme& theme, const Box& box, float head) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float corner = theme.size.corner;
  draw->AddRectFilled(box.min, box.max, theme.panel, corner);
  draw->AddRectFilled(box.min, {box.max.x, box.min.y + head}, theme.head, corner,
                      ImDrawFlags_RoundCornersTop);
  draw->AddLine({box.min.x, box.min.y + head}, {box.max.x, box.min.y + head}, theme.line,
                theme.size.border);
  const float half = theme.size.border / 2;
  draw->AddRect({box.min.x + half, box.min.y + half}, {box.max.x - half, box.max.y - half},
                theme.line, corner, theme.size.border);
}

std::string_view title_of(std::string_view name) {
  return name.substr(0, name.find("##"));
}

// The panels that share this one's place, itself among them.
ImVector<ImGuiWindow*> neighbours() {
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  if (window->DockNode && window->DockNode->Windows.Size > 1) return window->DockNode->Windows;
  ImVector<ImGuiWindow*> alone;
  alone.push_back(window);
  return alone;
}

// Of panels that share a place, ImGui shows the first where it draws no tabs of its own.
void put_first(ImGuiWindow& window) {
  if (!window.DockNode) return;
  ImVector<ImGuiWindow*>& windows = window.DockNode->Windows;
  for (int i = 0; i < windows.Size; ++i)
    if (windows[i] == &window) std::swap(windows[0], windows[i]);
}

// Dragging the head takes the panel out of its dock.
void move_by_head(ImVec2 size) {
  ImGui::SetNextItemAllowOverlap();
  ImGui::InvisibleButton("##head", size);
  if (!ImGui::IsItemActive() || !ImGui::IsMouseDragging(ImGuiMouseButton_Left, 8)) return;
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  ImGui::StartMouseMovingWindowOrNode(window, window->DockNode, true);
}

// A small cross; clicked closes.
void close_mark(const Theme& theme, ImVec2 middle, bool& open) {
  const float size = theme.px(18), arm = theme.px(4);
  ImGui::SetCursorScreenPos({middle.x - size / 2, middle.y - size / 2});
  if (ImGui::InvisibleButton("##close", {size, size})) open = false;
  const bool lit = ImGui::IsItemHovered();
  ImDrawList* draw = ImGui::GetWindowDrawList();
  if (lit)
    draw->AddRectFilled(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                        mixed(theme.head, theme.text, 0.10F), theme.px(4));
  const Color color = lit ? theme.text : theme.faint;
  const float thickness = theme.px(1.3F);
  draw->AddLine({middle.x - arm, middle.y - arm}, {middle.x + arm, middle.y + arm}, color,
                thickness);
  draw->AddLine({middle.x - arm, middle.y + arm}, {middle.x + arm, middle.y - arm}, color,
                thickness);
}

// One title, or the titles of all panels that share this place, as tabs. Returns where they end.
float draw_titles(const Theme& theme, const Box& box, const char* name, float right) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float head = theme.size.head, middle = box.min.y + head / 2;
  float x = box.min.x + theme.px(12);
  ImVector<ImGuiWindow*> tabs = neighbours();
  // In the order of their names, whichever is in front.
  std::sort(tabs.begin(), tabs.end(), [](const ImGuiWindow* a, const ImGuiWindow* b) {
    return std::string_view(a->Name) < std::string_view(b->Name);
  });
  const float fair = (right - x) / static_cast<float>(tabs.Size) - theme.px(18);
  for (ImGuiWindow* tab : tabs) {
    const bool here = tab == ImGui::GetCurrentWindow();
    const std::string title =
        shortened(theme.font.strong, theme.size.text, title_of(here ? name : tab->Name), fair);
    const float width = text_size(theme.font.strong, theme.size.text, title).x;
    if (tabs.Size > 1 && !here) {
      ImGui::SetCursorScreenPos({x - theme.px(6), box.min.y});
      ImGui::PushID(tab->Name);
      if (ImGui::InvisibleButton("##tab", {width + theme.px(12), head})) put_first(*tab);
      ImGui::PopID();
    }
    const bool lit = tabs.Size > 1 && !here && ImGui::IsItemHovered();
    draw_text_middle(draw, here ? theme.font.strong : theme.font.text, theme.size.text, x, middle,
                     here || lit ? theme.text : theme.muted, title);
    if (tabs.Size > 1 && here)
      draw->AddRectFilled({x, box.min.y + head - theme.px(2)}, {x + width, box.min.y + head},
                          theme.accent);
    x += width + theme.px(20);
  }
  return x - theme.px(20);
}

// The titles of all panels that share this place; returns where they end.
float draw_tabs(const Theme& theme, const Box& box, PanelTabs& tabs, float right) {
  const float head = theme.size.head, pad = theme.px(12);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  float x = box.min.x;
  for (int i = 0; i < static_cast<int>(tabs.names.size()); ++i) {
    const std::string title(title_of(tabs.names[static_cast<std::size_t>(i)]));
    const bool shown = i == tabs.shown;
    ImFont* face = shown ? theme.font.strong : theme.font.text;
    const float width = text_size(face, theme.size.text, title).x + 2 * pad;
    if (x + width > right) break;
    ImGui::SetCursorScreenPos({x, box.min.y});
    if (ImGui::InvisibleButton(("tab " + title).c_str(), {width, head})) tabs.clicked = i;
    const Color color = shown || ImGui::IsItemHovered() ? theme.text : theme.muted;
    draw_text_middle(draw, face, theme.size.text, x + pad, box.min.y + head / 2, color, title);
    if (shown)
      draw->AddRectFilled({x + pad, box.min.y + head - theme.px(2)},
                          {x + width - pad, box.min.y + head}, theme.accent);
    x += width;
  }
  return x;
}

void draw_head(const Theme& theme, const Box& box, const char* name, const PanelOptions& options) {
  const float head = theme.size.head, middle = box.min.y + head / 2, pad = theme.px(12);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  move_by_head({box.width(), head});
  float right = box.max.x - pad;
  if (options.open) {
    close_mark(theme, {right - theme.px(3), middle}, *options.open);
    right -= theme.px(18);
  }
  const float title_end = options.tabs ? draw_tabs(theme, box, *options.tabs, right)
                                       : draw_titles(theme, box, name, right);
  const float room = right - (title_end + theme.px(16));
  if (options.secondary.empty() || room <= 0) return;
  draw_text_middle(draw, theme.font.text, theme.size.small, right, middle, theme.muted,
                   shortened(theme.font.text, theme.size.small, options.secondary, room), 1);
}

}  // namespace

bool begin_panel(const Theme& theme, const char* name, const PanelOptions& options) {
  ImGuiWindowClass panel_class;
  panel_class.DockNodeFlagsOverrideSet = int{ImGuiDockNodeFlags_AutoHideTabBar} |
                                         int{ImGuiDockNodeFlags_NoWindowMenuButton} |
                                         int{ImGuiDockNodeFlags_NoTabBar};
  ImGui::SetNextWindowClass(&panel_class);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0F);
  const bool visible = ImGui::Begin(
      name, nullptr,
      ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoBackground |
          ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar(2);
  const ImVec2 min = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const Box box{min, {min.x + size.x, min.y + size.y}};
  const float border = theme.size.border, head = theme.size.head;
  draw_frame(theme, box, head);
  ImGui::SetCursorScreenPos(min);
  draw_head(theme, box, name, options);
  ImGui::SetCursorScreenPos({min.x + border, min.y + head + border});
  const float pad = options.padded ? theme.size.pad : 0;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(pad, options.padded ? theme.px(14) : 0));
  // Short of the lower corners, which are round: a body that is filled would cover them.
  const float foot = theme.size.corner * 0.6F;
  const ImGuiWindowFlags flags =
      options.scrolls ? ImGuiWindowFlags_None
                      : ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
  const bool body = ImGui::BeginChild(
      "##body", {size.x - 2 * border, size.y - head - border - foot},
      options.padded ? ImGuiChildFlags_AlwaysUseWindowPadding : ImGuiChildFlags_None, flags);
  ImGui::PopStyleVar();
  return visible && body;
}

void bring_to_front(const char* name) {
  ImGuiWindow* window = ImGui::FindWindowByName(name);
  if (!window) return;
  put_first(*window);
  ImGui::FocusWindow(window);
}

bool is_in_front(const char* name) {
  const ImGuiWindow* window = ImGui::FindWindowByName(name);
  return window && window->WasActive && !window->Hidden;
}

void end_panel() {
  ImGui::EndChild();
  ImGui::End();
}

}  // namespace trainscope::ui
