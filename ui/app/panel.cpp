// The panel's frame. ImGui's own window decorations are left out: docked windows have no rounded
// corners there, and their title is a tab.
#include <imgui_internal.h>

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

void draw_head(const Theme& theme, const Box& box, const char* name, const PanelOptions& options) {
  const float head = theme.size.head, middle = box.min.y + head / 2, pad = theme.px(12);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  move_by_head({box.width(), head});
  float right = box.max.x - pad;
  if (options.open) {
    close_mark(theme, {right - theme.px(3), middle}, *options.open);
    right -= theme.px(18);
  }
  const std::string_view title =
      std::string_view(name).substr(0, std::string_view(name).find("##"));
  const float title_width = text_size(theme.font.strong, theme.size.text, title).x;
  draw_text_middle(draw, theme.font.strong, theme.size.text, box.min.x + pad, middle, theme.text,
                   shortened(theme.font.strong, theme.size.text, title, right - box.min.x - pad));
  const float room = right - (box.min.x + pad + title_width + theme.px(16));
  if (options.secondary.empty() || room <= 0) return;
  draw_text_middle(draw, theme.font.text, theme.size.small, right, middle, theme.muted,
                   shortened(theme.font.text, theme.size.small, options.secondary, room), 1);
}

}  // namespace

bool begin_panel(const Theme& theme, const char* name, const PanelOptions& options) {
  ImGuiWindowClass panel_class;
  panel_class.DockNodeFlagsOverrideSet =
      int{ImGuiDockNodeFlags_AutoHideTabBar} | int{ImGuiDockNodeFlags_NoWindowMenuButton};
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

void end_panel() {
  ImGui::EndChild();
  ImGui::End();
}

}  // namespace trainscope::ui
