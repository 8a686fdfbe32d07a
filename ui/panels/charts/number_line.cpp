#include "ui/panels/charts/number_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/panels/charts/chart.h"

namespace trainscope::ui {
namespace {

using analysis::NumberLine;
using analysis::Region;
using analysis::ScalingState;
using analysis::Spectrum;
using trace::Magnitudes;

// The powers of two that are shown, and where.
struct Ruler {
  Box box;  // of the bars
  int from, to;

  float x(double power) const {
    return box.min.x + box.width() * static_cast<float>((power - from) / (to - from));
  }
};

struct Zone {
  Region region;
  double from, to;
  Color tint, words;
};

// At its left; a narrow one's brief name in its middle, and that of infinity before its end, where
// numbers are normal and there is room.
void name_zone(const Theme& theme, const Zone& zone, const Box& box) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float y = box.min.y + theme.px(10), size = theme.size.label;
  const bool infinity = zone.region == Region::kInfinity;
  const std::string words(infinity ? "inf" : analysis::name_of(zone.region));
  const std::string brief = infinity                            ? words
                            : zone.region == Region::kZero      ? "0"
                            : zone.region == Region::kSubnormal ? "subn."
                                                                : "";
  const float width = text_size(theme.font.text, size, brief).x, room = box.width() - theme.px(8);
  const bool narrow = !brief.empty() && width > room && width <= box.width() + theme.px(2);
  if (infinity || narrow) {
    draw_text_middle(draw, theme.font.text, size, std::min(box.centre().x, box.max.x - width / 2),
                     y, zone.words, brief, 0.5F);
    return;
  }
  draw_text_middle(draw, theme.font.text, size, box.min.x + theme.px(5), y, zone.words,
                   fitting(theme, size, {words, brief, ""}, room));
}

void draw_zones(const Theme& theme, const Ruler& ruler) {
  const NumberLine line = analysis::number_line(program::ElementType::kFp16);
  const float strong = theme.is_dark() ? 0.16F : 0.11F;
  const Zone zones[] = {
      {Region::kZero, static_cast<double>(ruler.from), static_cast<double>(line.zero_below),
       faded(theme.bad, strong), theme.bad},
      {Region::kSubnormal, static_cast<double>(line.zero_below),
       static_cast<double>(line.smallest_normal), faded(theme.warn, strong), theme.warn},
      {Region::kNormal, static_cast<double>(line.smallest_normal),
       static_cast<double>(line.infinite_from), faded(theme.text, 0.02F), theme.muted},
      {Region::kInfinity, static_cast<double>(line.infinite_from), static_cast<double>(ruler.to),
       faded(theme.bad, strong), theme.bad}};
  ImDrawList* draw = ImGui::GetWindowDrawList();
  for (const Zone& zone : zones) {
    const Box box{{std::round(ruler.x(zone.from)), ruler.box.min.y},
                  {std::round(ruler.x(zone.to)), ruler.box.max.y}};
    draw->AddRectFilled(box.min, box.max, zone.tint);
    name_zone(theme, zone, box);
  }
}

void draw_axis(const Theme& theme, const Ruler& ruler) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddLine({ruler.box.min.x, ruler.box.max.y}, ruler.box.max, theme.line, theme.size.border);
  const float size = theme.size.label;
  const float wide = text_size(theme.font.mono, size, "2^-24").x;
  const int apart = ruler.x(8) - ruler.x(0) > wide * 1.4F ? 8 : 16;
  for (int power = -64; power <= 32; power += apart) {
    const float x = ruler.x(power);
    if (x < ruler.box.min.x + wide / 2 || x > ruler.box.max.x - wide / 2) continue;
    draw->AddLine({x, ruler.box.min.y}, {x, ruler.box.max.y}, theme.grid());
    draw_text_middle(draw, theme.font.mono, size, x, ruler.box.max.y + theme.px(11), theme.muted,
                     fmt::format("2^{}", power), 0.5F);
  }
}

void draw_heap(const Theme& theme, const Ruler& ruler, const Spectrum& spectrum, double most,
               Color color, float top) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float gap = ruler.box.width() / static_cast<float>(ruler.to - ruler.from) > 4 ? 1.0F : 0.0F;
  const float tall = ruler.box.max.y - top;
  for (int power = std::max(ruler.from, int{Magnitudes::kLeast});
       power < std::min(ruler.to, Magnitudes::kMost + 1); ++power) {
    const double share = spectrum.share_at(power);
    if (share <= 0) continue;
    const float height = std::max(tall * static_cast<float>(share / most), theme.px(1));
    draw->AddRectFilled({std::round(ruler.x(power)) + gap, ruler.box.max.y - height},
                        {std::round(ruler.x(power + 1)), ruler.box.max.y}, color);
  }
}

// From heap to heap: by how much they were moved.
void draw_shift(const Theme& theme, const Ruler& ruler, const ScalingState& state, float y) {
  const auto from = state.before.mode(), to = state.after.mode();
  if (!from || !to || *from == *to) return;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const ImVec2 a{ruler.x(*from + 0.5), y}, b{ruler.x(*to + 0.5), y};
  const float head = theme.px(5) * (b.x > a.x ? 1.0F : -1.0F);
  draw->AddLine(a, {b.x - head, y}, theme.text, theme.px(1.4F));
  draw->AddTriangleFilled({b.x, y}, {b.x - 1.6F * head, y - theme.px(4.5F)},
                          {b.x - 1.6F * head, y + theme.px(4.5F)}, theme.text);
  const double powers = std::log2(state.scale);
  const std::string words = std::abs(powers - std::round(powers)) < 1e-9
                                ? fmt::format("× 2^{:.0f}", powers)
                                : fmt::format("× {:.4g}", state.scale);
  const float width = text_size(theme.font.mono, theme.size.label, words).x;
  if (std::abs(b.x - a.x) < width + theme.px(12)) return;
  draw_text_middle(draw, theme.font.mono, theme.size.label, (a.x + b.x) / 2, y - theme.px(9),
                   theme.text, words, 0.5F);
}

void draw_infinite(const Theme& theme, const Ruler& ruler, const ScalingState& state) {
  if (state.after.infinite <= 0) return;
  const float left = ruler.x(analysis::number_line(program::ElementType::kFp16).infinite_from);
  const Box box{{left + 1, ruler.box.min.y + theme.px(20)}, ruler.box.max};
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(box.min, box.max, faded(theme.bad, 0.35F));
  draw_hatch(draw, box, theme.bad, theme.px(6), theme.px(1.4F));
}

constexpr const char* kZeros = "exactly 0";

float zeros_width(const Theme& theme) {
  return std::max(theme.px(34), text_size(theme.font.text, theme.size.label, kZeros).x);
}

// A bar that stands alone, on no line: all of the height is all gradients.
void draw_zeros(const Theme& theme, const Box& box, double share, Color color) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float size = theme.size.label, wide = zeros_width(theme);
  const float x = box.min.x + wide / 2, y = box.max.y - box.height() * static_cast<float>(share);
  if (share > 0)
    draw->AddRectFilled({box.min.x, std::min(y, box.max.y - theme.px(1))},
                        {box.min.x + wide, box.max.y}, color);
  draw->AddLine({box.min.x, box.max.y}, {box.min.x + wide, box.max.y}, theme.line,
                theme.size.border);
  draw_text_middle(draw, theme.font.mono, size, x, y - size * 0.7F, theme.text,
                   fmt::format("{:.0f} %", 100 * share), 0.5F);
  draw_text_middle(draw, theme.font.text, size, x, box.max.y + theme.px(11), theme.muted, kZeros,
                   0.5F);
}

}  // namespace

Color before_color(const Theme& theme) {
  return faded(theme.faint, theme.is_dark() ? 0.80F : 0.70F);
}

Color after_color(const Theme& theme) {
  return faded(theme.of(trace::Category::kForward).line, 0.88F);
}

void LineScale::include(const ScalingState& state) {
  zeros |= state.zeros > 0;
  constexpr double kLeastShare = 0.0005;  // of gradients, that widens the line
  for (int power = Magnitudes::kLeast; power <= Magnitudes::kMost; ++power) {
    const double before = state.before.share_at(power), after = state.after.share_at(power);
    most = std::max({most, before, after});
    if (std::max(before, after) > kLeastShare) from = std::min(from, power);
    if (after > kLeastShare) to = std::max(to, power + 1);
  }
}

void draw_number_line(const Theme& theme, const Box& box, const ScalingState& state,
                      const LineScale& scale) {
  const float beside = scale.zeros ? zeros_width(theme) + theme.px(12) : 0;
  const Ruler ruler{{{box.min.x + beside, box.min.y}, {box.max.x, box.max.y - theme.px(20)}},
                    scale.from,
                    scale.to};
  draw_zones(theme, ruler);
  draw_axis(theme, ruler);
  const float top = ruler.box.min.y + std::min(theme.px(42), ruler.box.height() * 0.4F);
  const bool moved = state.scaled && state.scale != 1;
  if (moved) draw_heap(theme, ruler, state.before, scale.most, before_color(theme), top);
  draw_heap(theme, ruler, state.after, scale.most, moved ? after_color(theme) : before_color(theme),
            top);
  draw_infinite(theme, ruler, state);
  if (scale.zeros)
    draw_zeros(theme, {{box.min.x, top}, {ruler.box.min.x, ruler.box.max.y}}, state.zeros,
               moved ? after_color(theme) : before_color(theme));
  if (moved) draw_shift(theme, ruler, state, top - theme.px(7));
}

}  // namespace trainscope::ui
