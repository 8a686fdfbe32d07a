#include "ui/panels/window/foot.h"

#include <imgui.h>

#include <algorithm>
#include <vector>

#include "ui/panels/lesson/lesson.h"
#include "ui/panels/window/controls.h"
#include "ui/panels/window/running.h"

namespace trainscope::ui {
namespace {

using Clock = std::chrono::steady_clock;

void begin_box(const Theme& theme, const char* name, float width, Color edge) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->WorkPos.x + viewport->WorkSize.x / 2,
                           viewport->WorkPos.y + viewport->WorkSize.y - theme.px(28)},
                          ImGuiCond_Always, {0.5F, 1});
  ImGui::SetNextWindowSize({std::min(theme.px(width), viewport->WorkSize.x * 0.9F), 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, static_cast<ImU32>(theme.head));
  ImGui::PushStyleColor(ImGuiCol_Border, static_cast<ImU32>(edge));
  ImGui::Begin(name, nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleColor(2);
}

}  // namespace

bool is_waited_for(Clock::time_point since) {
  constexpr auto kPatience = std::chrono::milliseconds(400);
  return Clock::now() - since >= kPatience;
}

void begin_progress(const Theme& theme, const char* name) {
  begin_box(theme, name, 460, theme.accent);
}

bool draw_file_progress(const Theme& theme, const char* name, const std::string& words) {
  begin_progress(theme, name);
  text(theme.font.text, theme.size.text, theme.text, words, true);
  const bool cancelled = button(theme, "Cancel", ButtonKind::kQuiet);
  ImGui::End();
  return cancelled;
}

void draw_running_sides(const PanelContext& context) {
  std::vector<const SideModel*> slow;
  for (const SideModel& side : context.workspace.sides())
    if (side.busy && is_waited_for(side.progress.begun)) slow.push_back(&side);
  if (slow.empty()) return;
  begin_progress(context.theme, "##running");
  for (const SideModel* side : slow) draw_running(context.theme, *side);
  if (button(context.theme, "Cancel", ButtonKind::kQuiet)) context.ask("run.cancel");
  ImGui::End();
}

std::optional<Clock::time_point> NoticeBar::tick(Workspace& workspace) {
  constexpr auto kRead = std::chrono::seconds(8);
  if (!workspace.present.on || workspace.notice.empty()) {
    timed_.clear();
    return std::nullopt;
  }
  if (workspace.notice != timed_) {
    timed_ = workspace.notice;
    since_ = Clock::now();
  }
  if (Clock::now() - since_ < kRead) return since_ + kRead;
  workspace.notice.clear();
  return std::nullopt;
}

void NoticeBar::draw(const PanelContext& context, bool card_shown) const {
  const Theme& theme = context.theme;
  std::string& notice = context.workspace.notice;
  if (notice.empty() || (card_shown && notice_on_card(context.workspace))) return;
  begin_box(theme, "##notice", 620, theme.warn);
  text(theme.font.text, theme.size.small, theme.text, notice, true);
  if (button(theme, "Close", ButtonKind::kLink)) notice.clear();
  ImGui::End();
}

}  // namespace trainscope::ui
