#include "ui/panels/lesson/lesson_news.h"

#include <algorithm>

#include "ui/panels/window/controls.h"

namespace trainscope::ui {

void follow(LessonPanel& panel, float top) {
  panel.news = {top, ImGui::GetCursorPosY()};
  panel.news_frames = 3;  // the buttons may find another place first
}

void note_news(LessonPanel& panel, News piece, const std::string& words, float top) {
  std::string& before = panel.said.at(static_cast<std::size_t>(piece));
  if (words == before) return;
  before = words;
  if (!words.empty() && !panel.fresh) follow(panel, top);
}

void bring_news_into_sight(const PanelContext& context, LessonPanel& panel) {
  if (panel.fresh) ImGui::SetScrollY(0);  // another step is read from its beginning
  panel.fresh = false;
  if (panel.news_frames == 0) return;
  --panel.news_frames;
  context.ask("animate");
  const float margin = context.theme.px(8);
  ImGui::SetScrollY(scroll_to_show(panel.news.top - margin, panel.news.bottom + margin,
                                   ImGui::GetScrollY(), ImGui::GetWindowHeight()));
}

float scroll_to_show(float top, float bottom, float scroll, float height) {
  return std::max(0.0F, std::min(std::max(scroll, bottom - height), top));
}

}  // namespace trainscope::ui
