#include "ui/panels/gpus/gpu_cards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainscope::ui {
namespace {

using machine::WireKind;

// ---- The form ----------------------------------------------------------------------------------

std::string words_of(CardForm form, int gpu) {
  return form == CardForm::kNamed ? fmt::format("GPU {}", gpu) : std::to_string(gpu);
}

float widest(const Theme& theme, const GpuMap& map, CardForm form) {
  float width = 0;
  for (const GpuMap::Gpu& gpu : map.gpus)
    width =
        std::max(width, text_size(theme.font.text, theme.size.label, words_of(form, gpu.number)).x);
  return width;
}

float padding(const Theme& theme, const Box& card) {
  return std::min(theme.px(8), card.width() * 0.1F);
}

// From here on there is room for what is shown below the name.
constexpr float kLeastBelow = 50;

CardLook card_look(const Theme& theme, const GpuMap& map) {
  if (map.gpus.empty()) return {};
  const Box& card = map.gpus.front().box;  // all are of one size
  const float pad = padding(theme, card), inner = card.width() - 2 * pad;
  const float name = widest(theme, map, CardForm::kNamed),
              number = widest(theme, map, CardForm::kNumbered);
  const bool line = card.height() >= theme.size.label + theme.px(4);
  const bool below = card.height() >= theme.px(kLeastBelow);
  if (below && name <= inner) return {CardForm::kNamed, false, name};
  if (line && name <= inner * 0.45F) return {CardForm::kNamed, true, name};
  if (below && std::max(number, theme.px(15)) <= inner) return {CardForm::kNumbered, false, number};
  if (line && number + pad + theme.px(15) <= inner) return {CardForm::kNumbered, true, number};
  const bool fits = number + theme.px(3) <= card.width() && card.height() >= theme.size.label;
  return {fits ? CardForm::kFilled : CardForm::kDot, false, number};
}

// ---- The ground --------------------------------------------------------------------------------

float thickness_of(const Theme& theme, const GpuMap::Line& line) {
  if (line.kind != WireKind::kNvlink) return theme.px(1.5F);
  return theme.px(line.links > 1 ? 3.0F : 1.5F);
}

void paint_line(const Theme& theme, const GpuMap::Line& line) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Color color = mixed(theme.panel, theme.faint, theme.is_dark() ? 0.55F : 0.65F);
  const float thick = thickness_of(theme, line);
  if (line.kind == WireKind::kNvlink || line.points.size() == 2)
    draw->AddPolyline(line.points.data(), static_cast<int>(line.points.size()), color, 0, thick);
  else
    for (std::size_t i = 1; i < line.points.size(); i += 2)
      draw->AddLine(line.points[i - 1], line.points[i], color, thick);
}

void paint_bar(const Theme& theme, const Box& box) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float corner = std::min(theme.px(4), box.height() / 2);
  draw->AddRectFilled(box.min, box.max, theme.head, corner);
  draw->AddRect(box.min, box.max, card_edge(theme).color, corner, theme.px(1.2F));
}

// Each node in a frame with its name: of all nodes in the same words, or of none.
void paint_nodes(const Theme& theme, const GpuMap& map) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const auto fit = [&](const char* word) {
    return std::ranges::all_of(map.nodes, [&](const GpuMap::Node& node) {
      const std::string words = word + std::to_string(node.number);
      return text_size(theme.font.text, theme.size.label, words).x <= node.words.width() &&
             theme.size.label <= node.words.height();
    });
  };
  const char* word = fit("node ") ? "node " : fit("") ? "" : nullptr;
  for (const GpuMap::Node& node : map.nodes) {
    draw->AddRect(node.frame.min, node.frame.max, card_edge(theme).color, theme.px(4), theme.px(1));
    if (word)
      draw_text_middle(draw, theme.font.text, theme.size.label, node.words.min.x,
                       node.words.centre().y, theme.muted, word + std::to_string(node.number));
  }
}

void paint_dot_legend(const Theme& theme, const GpuPicture& picture) {
  const GpuMap& map = picture.map;
  const std::string order = map.nodes.empty() ? "in the order of the ring" : "a frame is a node";
  const std::vector<std::string> ways = {
      fmt::format("a square is a GPU, {}; {} of them", order, map.gpus.size()),
      "a square is a GPU, " + order, "a square is a GPU"};
  for (const std::string& words : ways)
    if (text_size(theme.font.text, theme.size.label, words).x <= picture.legend->width())
      return draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.label,
                              picture.legend->min.x, picture.legend->centre().y, theme.muted,
                              words);
}

}  // namespace

GpuPicture gpu_picture(const Theme& theme, const machine::Topology* topology,
                       const std::vector<int>& ring, const Box& area, Traffic traffic) {
  GpuPicture picture;
  picture.map = lay_out_gpus(topology, ring, area, theme.px(1), traffic);
  picture.look = card_look(theme, picture.map);
  const float line = theme.px(16);
  if (picture.look.form != CardForm::kDot || area.height() < 3 * line) return picture;
  const Box rest{area.min, {area.max.x, area.max.y - line}};
  picture.map = lay_out_gpus(topology, ring, rest, theme.px(1), traffic);
  picture.look = card_look(theme, picture.map);
  picture.legend = {{area.min.x, rest.max.y}, area.max};
  return picture;
}

CardEdge card_edge(const Theme& theme) {
  return {mixed(theme.line, theme.faint, 0.35F), theme.px(1.2F)};
}

Box paint_card_frame(const Theme& theme, const CardLook& look, const GpuMap::Gpu& gpu,
                     const CardEdge& edge) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Box& box = gpu.box;
  const float pad = padding(theme, box), size = theme.size.label;
  const std::string words = words_of(look.form, gpu.number * look.apart);
  draw->AddRectFilled(box.min, box.max, theme.card, theme.size.corner);
  draw->AddRect(box.min, box.max, edge.color, theme.size.corner, edge.thickness);
  if (look.beside) {
    const float inset = std::min(pad, std::round(box.height() * 0.14F));
    draw_text_middle(draw, theme.font.text, size, box.min.x + pad, box.centre().y, theme.text,
                     words);
    return {{box.min.x + look.words + 2 * pad, box.min.y + inset},
            {box.max.x - pad, box.max.y - inset}};
  }
  const float title = theme.px(22);
  draw_text_middle(draw, theme.font.text, size, box.min.x + pad,
                   box.min.y + title / 2 + theme.px(1), theme.text, words);
  return {{box.min.x + pad, box.min.y + title + theme.px(1)},
          {box.max.x - pad, box.max.y - pad + theme.px(1)}};
}

void paint_small_card(const Theme& theme, const CardLook& look, const GpuMap::Gpu& gpu,
                      const CardEdge& edge, Color color, double share) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Box& box = gpu.box;
  const bool dot = look.form == CardForm::kDot;
  const float corner = std::min({theme.size.corner, box.width() / 4, box.height() / 4});
  draw->AddRectFilled(box.min, box.max, theme.card, corner);
  const float top = std::round(box.max.y - box.height() * static_cast<float>(share));
  // Under a number only so much of the colour that it can be read.
  if (share > 0)
    draw->AddRectFilled({box.min.x, top}, box.max, dot ? color : mixed(theme.card, color, 0.4F),
                        corner);
  draw->AddRect(box.min, box.max, edge.color, corner, edge.thickness);
  if (!dot)
    draw_text_middle(draw, theme.font.text, theme.size.label, box.centre().x, box.centre().y,
                     theme.text, words_of(look.form, gpu.number * look.apart), 0.5F);
}

void paint_ground(const Theme& theme, const GpuPicture& picture) {
  paint_nodes(theme, picture.map);
  for (const GpuMap::Line& line : picture.map.lines) paint_line(theme, line);
  for (const GpuMap::Hub& hub : picture.map.hubs) paint_bar(theme, hub.box);
  if (picture.legend) paint_dot_legend(theme, picture);
}

void paint_bar_names(const Theme& theme, const GpuMap& map) {
  for (const GpuMap::Hub& hub : map.hubs) {
    if (hub.words.height() < theme.size.label) continue;
    const auto fits = [&](const std::string& name) {
      return text_size(theme.font.text, theme.size.label, name).x <= hub.words.width();
    };
    const auto name = std::ranges::find_if(hub.names, fits);
    if (name != hub.names.end())
      draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.label,
                       hub.words.centre().x, hub.words.centre().y, theme.muted, *name, 0.5F);
  }
}

}  // namespace trainscope::ui
