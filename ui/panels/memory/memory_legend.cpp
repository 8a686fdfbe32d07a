#include "ui/panels/memory/memory_legend.h"

#include <string>
#include <vector>

namespace trainscope::ui {
namespace {

float line_height(const Theme& theme) {
  return theme.px(17);
}

struct Entry {
  std::string role;
  ImVec2 at;  // of its line's left middle, from the corner of all
};

// One after another, on the next line where one would not end within the width.
std::vector<Entry> entries_of(const Theme& theme, float width,
                              const std::vector<std::string>& roles) {
  const float mark = theme.px(15), apart = theme.px(14), line = line_height(theme);
  std::vector<Entry> entries;
  ImVec2 at{0, line / 2};
  for (const std::string& name : roles) {
    const float wide = mark + text_size(theme.font.text, theme.size.label, name).x;
    if (at.x > 0 && at.x + wide > width) at = {0, at.y + line};
    entries.push_back({name, at});
    at.x += wide + apart;
  }
  return entries;
}

}  // namespace

void add_drawn_roles(const analysis::MemoryHistory& history, const MemoryColumns& columns,
                     std::vector<std::string>& roles) {
  for (const std::size_t role : roles_drawn(history, columns)) {
    const std::string& name = history.roles()[role];
    if (std::ranges::find(roles, name) == roles.end()) roles.push_back(name);
  }
}

float memory_legend_height(const Theme& theme, float width, const std::vector<std::string>& roles) {
  const auto entries = entries_of(theme, width, roles);
  return entries.empty() ? 0 : entries.back().at.y + line_height(theme) / 2;
}

void paint_memory_legend(const Theme& theme, const Box& box,
                         const std::vector<std::string>& roles) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float edge = theme.px(10);
  for (const Entry& entry : entries_of(theme, box.width(), roles)) {
    const ImVec2 at{box.min.x + entry.at.x, box.min.y + entry.at.y};
    draw->AddRectFilled({at.x, at.y - edge / 2}, {at.x + edge, at.y + edge / 2},
                        role_style(theme, entry.role).fill, theme.px(2));
    draw_text_middle(draw, theme.font.text, theme.size.label, at.x + theme.px(15), at.y,
                     theme.muted, entry.role);
  }
}

}  // namespace trainscope::ui
