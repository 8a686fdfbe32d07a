// The panel's frame. ImGui's own window decorations are left out: docked windows have no rounded
// corners there, and their title is a tab.
#include <imgui_internal.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ui/app/window/close_mark.h"
#include "ui/app/window/next_panel.h"
#include "ui/app/window/shapes.h"
#include "ui/panels/window/context.h"

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

void choose(const PanelContext& context, ImGuiWindow& window) {
  put_first(window);
  context.chosen_panel = window.Name;
}

// Dragging the head takes the panel out of its dock.
void move_by_head(ImVec2 size) {
  ImGui::SetNextItemAllowOverlap();
  ImGui::InvisibleButton("##head", size);
  if (!ImGui::IsItemActive() || !ImGui::IsMouseDragging(ImGuiMouseButton_Left, 8)) return;
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  ImGui::StartMouseMovingWindowOrNode(window, window->DockNode, true);
}

// In the order in which they are drawn: those of this frame so far, then those still to come.
void sort_by_drawing(ImVector<ImGuiWindow*>& windows) {
  const auto key = [](const ImGuiWindow* window) {
    const bool to_come = window->LastFrameActive != ImGui::GetFrameCount();
    return std::pair(to_come, window->BeginOrderWithinContext);
  };
  std::sort(windows.begin(), windows.end(),
            [&](const ImGuiWindow* a, const ImGuiWindow* b) { return key(a) < key(b); });
}

struct Tab {
  ImGuiWindow* window;
  std::string title;
  bool shown;
};

std::vector<Tab> tabs_of(const char* name) {
  ImVector<ImGuiWindow*> windows = neighbours();
  sort_by_drawing(windows);
  std::vector<Tab> tabs;
  for (ImGuiWindow* window : windows) {
    const bool shown = window == ImGui::GetCurrentWindow();
    tabs.push_back({window, std::string(title_of(shown ? name : window->Name)), shown});
  }
  return tabs;
}

// Whether all titles fit in full; a panel's only one is shortened.
bool fit_titles(const Theme& theme, std::vector<Tab>& tabs, float room, float apart) {
  float wanted = 0;
  for (const Tab& tab : tabs)
    wanted += text_size(theme.font.strong, theme.size.text, tab.title).x + apart;
  if (wanted - apart <= room) return true;
  if (tabs.size() > 1) return false;
  tabs[0].title = shortened(theme.font.strong, theme.size.text, tabs[0].title, room);
  return true;
}

// The title of the panel that is shown; pressed, it lists the others that share its place. Returns
// where it ends.
float draw_tab_list(const PanelContext& context, const Box& box, const std::vector<Tab>& tabs,
                    float left, float right) {
  const Theme& theme = context.theme;
  const float head = theme.size.head, middle = box.min.y + head / 2, mark = theme.px(20);
  const auto shown =
      std::find_if(tabs.begin(), tabs.end(), [](const Tab& tab) { return tab.shown; });
  const std::string title =
      shortened(theme.font.strong, theme.size.text, shown->title, right - left - mark);
  const float end = left + text_size(theme.font.strong, theme.size.text, title).x + mark;
  ImGui::SetCursorScreenPos({left, box.min.y});
  if (press_area("other panels", {end - left, head})) ImGui::OpenPopup("##panels");
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw_text_middle(draw, theme.font.strong, theme.size.text, left, middle, theme.text, title);
  draw_down_mark(draw, theme, {end - theme.px(7), middle}, theme.muted);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(8), theme.px(8)));
  if (ImGui::BeginPopup("##panels")) {
    for (const Tab& tab : tabs)
      if (ImGui::MenuItem(tab.title.c_str(), nullptr, tab.shown)) choose(context, *tab.window);
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
  return end;
}

// One title, or the titles of all panels that share this place. Returns where they end.
float draw_tabs(const PanelContext& context, const Box& box, const char* name, float right) {
  const Theme& theme = context.theme;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float head = theme.size.head, middle = box.min.y + head / 2, apart = theme.px(22);
  float x = box.min.x + theme.px(12);
  std::vector<Tab> tabs = tabs_of(name);
  if (!fit_titles(theme, tabs, right - x, apart))
    return draw_tab_list(context, box, tabs, x, right);
  for (const Tab& tab : tabs) {
    // As wide as in front, so that none moves when another is chosen.
    const float width = text_size(theme.font.strong, theme.size.text, tab.title).x;
    bool lit = tab.shown;
    if (!tab.shown) {
      const std::string id = "tab " + std::string(title_of(tab.window->Name));
      ImGui::SetCursorScreenPos({x - apart / 2, box.min.y});
      if (press_area(id.c_str(), {width + apart, head})) choose(context, *tab.window);
      lit = ImGui::IsItemHovered();
    }
    draw_text_middle(draw, tab.shown ? theme.font.strong : theme.font.text, theme.size.text, x,
                     middle, lit ? theme.text : theme.muted, tab.title);
    if (tab.shown && tabs.size() > 1)
      draw->AddRectFilled({x, box.min.y + head - theme.px(2)}, {x + width, box.min.y + head},
                          theme.accent);
    x += width + apart;
  }
  return x - apart;
}

void draw_head(const PanelContext& context, const Box& box, const char* name,
               const PanelOptions& options) {
  const Theme& theme = context.theme;
  const float head = theme.size.head, middle = box.min.y + head / 2, pad = theme.px(12);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  move_by_head({box.width(), head});
  float right = box.max.x - pad;
  const ImVec2 close{right - theme.px(3), middle};
  if (options.open) right -= theme.px(18);
  right -= options.kept_free;
  const float title_end = draw_tabs(context, box, name, right);
  // After the tabs: where a panel shows nothing to press, the keys begin with these.
  if (options.open) close_mark(theme, close, *options.open);
  const float room = right - (title_end + theme.px(16));
  if (options.secondary.empty() || room <= 0) return;
  // Beside tabs it is there whole, or its first half is, or nothing.
  const bool beside_tabs = neighbours().Size > 1;
  const auto fits = [&](const std::string& words) {
    return text_size(theme.font.text, theme.size.small, words).x <= room;
  };
  std::string words = options.secondary;
  if (beside_tabs && !fits(words)) words = words.substr(0, words.find(';'));
  if (beside_tabs && !fits(words)) return;
  draw_text_middle(draw, theme.font.text, theme.size.small, right, middle, theme.muted,
                   shortened(theme.font.text, theme.size.small, words, room), 1);
}

}  // namespace

void close_mark(const Theme& theme, ImVec2 middle, bool& open) {
  const float size = theme.px(18), arm = theme.px(4);
  ImGui::SetCursorScreenPos({middle.x - size / 2, middle.y - size / 2});
  // Arrows go to it; Tab would begin with it.
  ImGui::PushItemFlag(int{ImGuiItemFlags_NoTabStop} | int{ImGuiItemFlags_NoNavDefaultFocus}, true);
  if (press_area("##close", {size, size})) open = false;
  ImGui::PopItemFlag();
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

bool begin_panel(const PanelContext& context, const char* name, const PanelOptions& options) {
  const Theme& theme = context.theme;
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
  // The keys begin with what the panel shows.
  ImGui::PushItemFlag(ImGuiItemFlags_NoNavDefaultFocus, true);
  draw_head(context, box, name, options);
  ImGui::PopItemFlag();
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
      ImGuiChildFlags_NavFlattened |
          (options.padded ? ImGuiChildFlags_AlwaysUseWindowPadding : ImGuiChildFlags_None),
      flags);
  ImGui::PopStyleVar();
  return visible && body;
}

void show_tab(const char* name) {
  if (ImGuiWindow* window = ImGui::FindWindowByName(name)) put_first(*window);
}

void bring_to_front(const char* name) {
  show_tab(name);
  if (ImGuiWindow* window = ImGui::FindWindowByName(name)) ImGui::FocusWindow(window);
}

void go_to_next_panel() {
  ImGuiContext& imgui = *ImGui::GetCurrentContext();
  const ImGuiWindow* now = imgui.NavWindow ? imgui.NavWindow->RootWindow : nullptr;
  std::vector<ImGuiWindow*> panels;
  for (ImGuiWindow* window : imgui.Windows)
    if (window->DockNode && window->WasActive && !window->Hidden) panels.push_back(window);
  if (panels.empty()) return;
  const auto at = std::find(panels.begin(), panels.end(), now);
  ImGui::FocusWindow(at == panels.end() || at + 1 == panels.end() ? panels.front() : *(at + 1));
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
