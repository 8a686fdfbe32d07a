#include "ui/panels/gpus/step_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"
#include "ui/app/views/gradient_cells.h"
#include "ui/panels/charts/chart.h"

namespace trainscope::ui {

using analysis::BackwardFlow;
using analysis::BucketTimes;
using analysis::GpuWork;
using analysis::Interval;
using analysis::IntervalSet;
using trace::Category;

// ---- What is in it -----------------------------------------------------------------------------

StepWork step_work(const trace::Trace& trace, const program::Program* program) {
  analysis::Measured measured = analysis::measure_whole(trace, program, nullptr);
  StepWork work;
  work.exposed = measured.collectives.without(measured.kernels);
  work.kernels = {std::move(measured.forward), std::move(measured.backward),
                  std::move(measured.optimizer), std::move(measured.unphased)};
  return work;
}

std::vector<StripShade> parts_of(const StripBar& bar) {
  return bar.shades.empty() ? std::vector<StripShade>{{bar.time}} : bar.shades;
}

Color shaded(Color fill, const StripShade& shade) {
  constexpr float kFaintest = 0.22F;
  return faded(fill, std::max(kFaintest, shade.busy));
}

LabelInk label_ink(const Theme& theme, const StripBar& bar, Interval under) {
  const CategoryStyle& style = theme.of(bar.category);
  std::vector<Color> grounds;
  Nanos covered = 0;
  for (const StripShade& shade : parts_of(bar)) {
    const Nanos both =
        std::min(shade.time.end, under.end) - std::max(shade.time.start, under.start);
    if (both <= 0) continue;
    covered += both;
    const float share = bar.shades.empty() ? 1 : shaded(style.fill, shade).a / 255.0F;
    grounds.push_back(mixed(theme.panel, style.fill, share));
  }
  if (covered < under.end - under.start) grounds.push_back(theme.panel);
  const auto least_of = [&](Color ink) {
    double least = contrast(ink, grounds.front());
    for (const Color ground : grounds) least = std::min(least, contrast(ink, ground));
    return least;
  };
  if (grounds.empty()) return {style.text, std::nullopt};
  const Color ink = least_of(style.text) >= least_of(theme.text) ? style.text : theme.text;
  if (least_of(ink) >= least_contrast(theme)) return {ink, std::nullopt};
  return {style.text, style.fill};
}

namespace {

// Columns of one grid of the step, whatever bar they are in; neighbours that look alike are one.
std::vector<StripShade> shades_of(const IntervalSet& set, const Interval& bar, Interval shown,
                                  Nanos column) {
  constexpr float kSolid = 0.95F, kLevels = 16;
  const Nanos least = std::max(bar.end - bar.start, column);
  const auto share = [&](const Interval& part, Nanos whole) {
    return static_cast<float>(set.length_within(part)) / static_cast<float>(whole);
  };
  std::vector<StripShade> shades;
  if (column <= 0 || share(bar, least) >= kSolid) return shades;
  const Nanos first = (std::max(bar.start, shown.start) - shown.start) / column;
  const Nanos end = std::min(bar.end, shown.end);
  for (Nanos left = shown.start + first * column; left < end; left += column) {
    const Interval all{left, left + column};
    const Interval own{std::max(left, bar.start), std::min(all.end, bar.end)};
    const float busy = std::ceil(share(own, column) * kLevels) / kLevels;
    if (busy == 0) continue;
    if (!shades.empty() && shades.back().busy == busy && shades.back().time.end == left)
      shades.back().time.end = all.end;
    else
      shades.push_back({all, busy});
  }
  return shades;
}

}  // namespace

void add_bars(StripLane& lane, const IntervalSet& set, Category category, Interval shown,
              Nanos apart) {
  const auto& all = set.intervals();
  auto one = std::lower_bound(all.begin(), all.end(), shown.start,
                              [](const Interval& a, Nanos start) { return a.end < start; });
  std::vector<Interval> joined;
  for (; one != all.end() && one->start < shown.end; ++one) {
    if (!joined.empty() && one->start - joined.back().end < apart)
      joined.back().end = one->end;
    else
      joined.push_back(*one);
  }
  for (const Interval& bar : joined)
    lane.bars.push_back(
        {bar, category, std::string(trace::name_of(category)), shades_of(set, bar, shown, apart)});
}

void add_bars(StripLane& lane, const GpuWork& work, Interval shown, Nanos apart) {
  add_bars(lane, work.others, Category::kKernel, shown, apart);
  add_bars(lane, work.forward, Category::kForward, shown, apart);
  add_bars(lane, work.backward, Category::kBackward, shown, apart);
  add_bars(lane, work.optimizer, Category::kOptimizer, shown, apart);
}

namespace {

Nanos pixel_of(Interval shown, float width) {
  constexpr double kPixels = 1.5;
  return static_cast<Nanos>(kPixels * static_cast<double>(shown.end - shown.start) /
                            std::max(width, 1.0F));
}

// Each says how much of it is exposed. Where kernels too short to be seen alone fill more than
// half, it is not red.
void add_exposed(StripLane& lane, const IntervalSet& exposed, Interval shown, Nanos apart) {
  StripLane all;
  add_bars(all, exposed, Category::kSync, shown, apart);
  for (StripBar& bar : all.bars) {
    const Interval seen{std::max(bar.time.start, shown.start), std::min(bar.time.end, shown.end)};
    const Nanos alone = exposed.length_within(seen);
    if (2 * alone < seen.end - seen.start) continue;
    bar.label = format_nanos(static_cast<double>(alone));
    bar.shades.clear();
    lane.bars.push_back(std::move(bar));
  }
}

}  // namespace

Interval shown_step(const analysis::GradientFlow& flow, Nanos time) {
  const BackwardFlow& backward = flow.at(time);
  const analysis::StepExposure* step = step_of(flow, backward);
  return step ? step->window : Interval{backward.begun(), backward.done()};
}

StepStrip strip_of(const analysis::GradientFlow& flow, const StepWork& work, Nanos time,
                   float width) {
  const BackwardFlow& backward = flow.at(time);
  StepStrip strip;
  strip.shown = shown_step(flow, time);
  const Nanos apart = pixel_of(strip.shown, width);
  StripLane kernels{"kernels", {}}, sums{"gradients", {}};
  add_bars(kernels, work.kernels, strip.shown, apart);
  add_exposed(kernels, work.exposed, strip.shown, apart);
  for (const BackwardFlow& one : flow.backwards) {
    if (one.step != backward.step) continue;
    for (std::size_t i = 0; i < one.buckets.size(); ++i)
      sums.bars.push_back({{one.buckets[i].started, one.buckets[i].done},
                           Category::kCollective,
                           std::to_string(i)});
  }
  // Of the one that is exposed one asks which it is.
  if (!sums.bars.empty()) sums.bars.back().speaks_beside = true;
  strip.lanes = {std::move(kernels), std::move(sums)};
  return strip;
}

StepStrip strip_of(const analysis::StarFlow& flow, const StepWork& work, Nanos time, float width) {
  const analysis::StarStep& step = flow.at(time);
  StepStrip strip;
  strip.shown = step.window;
  const Nanos apart = pixel_of(strip.shown, width);
  StripLane first{"GPU 0", {}}, other{fmt::format("GPU {}", flow.gpus.size() - 1), {}},
      sent{"sent", {}};
  add_bars(first, flow.gpus.front(), strip.shown, apart);
  add_exposed(first, work.exposed, strip.shown, apart);
  add_bars(other, flow.gpus.back(), strip.shown, apart);
  for (const analysis::StarStageTimes& stage : step.stages)
    for (const analysis::StarTransfer& one : stage.transfers)
      sent.bars.push_back(
          {{one.start, one.end},
           one.other == analysis::StarTransfer::kAll ? Category::kCollective : Category::kCopyD2D,
           std::string(analysis::name_of(stage.stage))});
  strip.lanes = {std::move(first), std::move(other), std::move(sent)};
  return strip;
}

// ---- How it is drawn ---------------------------------------------------------------------------

namespace {

// A step on the screen: times along x. Where a longer one stands beside it, it ends before the box.
struct Scale {
  Interval shown;
  Box box;
  float x(Nanos time) const {
    const double share = static_cast<double>(time - shown.start) /
                         static_cast<double>(std::max<Nanos>(shown.end - shown.start, 1));
    return box.min.x + box.width() * static_cast<float>(std::clamp(share, 0.0, 1.0));
  }
  Nanos time(float at) const {
    const double share = std::clamp((at - box.min.x) / std::max(box.width(), 1.0F), 0.0F, 1.0F);
    return shown.start + static_cast<Nanos>(share * static_cast<double>(shown.end - shown.start));
  }
};

Box box_of(const Scale& scale, const StripBar& bar, float top, float bottom) {
  const float left = scale.x(bar.time.start);
  return {{left, top}, {std::max(scale.x(bar.time.end), left + 1.5F), bottom}};
}

Interval axis_of(const StepStrip& strip) {
  return {strip.shown.start, std::max(strip.shown.end, strip.shown.start + strip.axis)};
}

// Of the bars of a category that many share only the widest carries its name.
using Named = std::array<const StripBar*, trace::kCategoryCount>;

Named widest_bars(const std::vector<StripBar>& bars) {
  Named widest{};
  const auto length = [](const StripBar& bar) { return bar.time.end - bar.time.start; };
  for (const StripBar& bar : bars) {
    const StripBar*& most = widest[static_cast<std::size_t>(bar.category)];
    if (!most || length(bar) > length(*most)) most = &bar;
  }
  return widest;
}

bool is_named(const Named& widest, const StripBar& bar) {
  return bar.is_numbered || bar.category == Category::kSync ||
         bar.category == Category::kCollective ||
         widest[static_cast<std::size_t>(bar.category)] == &bar;
}

// Words are not written over.
bool is_covered(const Theme& theme, const Scale& scale, const StripLane& lane, float left,
                float right) {
  return std::any_of(lane.bars.begin(), lane.bars.end(), [&](const StripBar& bar) {
    if (bar.category != Category::kSync) return false;
    const float from = scale.x(bar.time.start), to = scale.x(bar.time.end);
    return to - from > theme.px(4) && from < right && to > left;
  });
}

// Whatever its digits are: a 1 is narrower than others.
float number_width(const Theme& theme, const StripBar& bar) {
  return text_size(theme.font.text, theme.size.label, std::string(bar.label.size(), '0')).x +
         theme.px(2);
}

// The categories of which a numbered bar has no room for its number. Numbers on some of them would
// be taken for those of their neighbours.
using Unnumbered = std::array<bool, trace::kCategoryCount>;

Unnumbered unnumbered(const Theme& theme, const Scale& scale, const std::vector<StripLane>& lanes) {
  Unnumbered found{};
  for (const StripLane& lane : lanes)
    for (const StripBar& bar : lane.bars)
      if (bar.is_numbered &&
          scale.x(bar.time.end) - scale.x(bar.time.start) < number_width(theme, bar))
        found[static_cast<std::size_t>(bar.category)] = true;
  return found;
}

// With shorter labels on all bars of a category that has no room for a label, and has shorter ones.
std::vector<StripLane> with_labels_that_fit(const Theme& theme, const Scale& scale,
                                            std::vector<StripLane> lanes) {
  const Unnumbered without = unnumbered(theme, scale, lanes);
  for (StripLane& lane : lanes)
    for (StripBar& bar : lane.bars)
      if (without[static_cast<std::size_t>(bar.category)] && !bar.shorter.empty())
        bar.label = bar.shorter;
  return lanes;
}

// Words from `left` on, about the middle of a bar; on a ground of their own where the playhead runs
// through them.
void paint_words(const Theme& theme, const Scale& scale, const StripBar& bar, const Box& box,
                 float left, float size, std::optional<Nanos> time) {
  const CategoryStyle& style = theme.of(bar.category);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float wide = text_size(theme.font.text, size, bar.label).x, middle = box.centre().y;
  const float pad = theme.px(3), right = left + wide;
  LabelInk words = label_ink(theme, bar, {scale.time(left), scale.time(right)});
  const bool is_beside = left >= box.max.x || right <= box.min.x;
  const bool is_crossed = time && scale.x(*time) > left - pad && scale.x(*time) < right + pad;
  if (is_beside)
    words = {theme.text, is_crossed ? std::optional(theme.panel) : std::nullopt};
  else if (style.hatched)
    words = {style.text, faded(style.fill, 0.85F)};
  else if (is_crossed)
    words = {style.text, style.fill};
  if (words.ground)
    draw->AddRectFilled({left - pad, middle - size * 0.62F}, {right + pad, middle + size * 0.62F},
                        *words.ground, theme.px(3));
  draw_text_middle(draw, theme.font.text, size, left, middle, words.ink, bar.label);
}

// To the right of a bar, or to its left; nothing where there is another one, or the step's end.
std::optional<float> place_beside(const Theme& theme, const Scale& scale, const StripLane& lane,
                                  const Box& box, float wide) {
  const float apart = theme.px(4);
  const auto is_free = [&](float left) {
    return left >= scale.box.min.x && left + wide <= scale.box.max.x &&
           std::ranges::none_of(lane.bars, [&](const StripBar& bar) {
             return scale.x(bar.time.start) < left + wide && scale.x(bar.time.end) > left;
           });
  };
  for (const float left : {box.max.x + apart, box.min.x - apart - wide})
    if (is_free(left)) return left;
  return std::nullopt;
}

// Numbers of buckets need less room about them than names, which are many letters.
void paint_label(const Theme& theme, const Scale& scale, const StripLane& lane, const Box& box,
                 const StripBar& bar, std::optional<Nanos> time) {
  const float size = std::min(theme.size.label, box.height() - 1);
  const float wide = text_size(theme.font.text, size, bar.label).x, spare = box.width() - wide;
  const bool is_centred = bar.is_numbered || theme.of(bar.category).hatched;
  const float least = theme.px(bar.category == Category::kCollective ? 2 : 8);
  std::optional<float> left =
      box.min.x + (is_centred ? spare / 2 : std::min(theme.px(5), spare / 2));
  if (!bar.is_numbered && spare < least)
    left = bar.speaks_beside ? place_beside(theme, scale, lane, box, wide) : std::nullopt;
  if (left) paint_words(theme, scale, bar, box, *left, size, time);
}

// Those that can be told apart by their numbers stand apart, also where these have no room.
void paint_shades(const Theme& theme, const Scale& scale, const StripBar& bar, const Box& box) {
  const Color fill = theme.of(bar.category).fill;
  const bool apart = bar.is_numbered && box.width() > theme.px(4);
  const float right = box.max.x - (apart ? theme.px(1) : 0);
  for (const StripShade& shade : bar.shades)
    ImGui::GetWindowDrawList()->AddRectFilled({scale.x(shade.time.start), box.min.y},
                                              {std::min(scale.x(shade.time.end), right), box.max.y},
                                              shaded(fill, shade));
}

void paint_bars(const Theme& theme, const Scale& scale, const StripLane& lane, float top,
                float bottom) {
  for (const StripBar& bar : lane.bars) {
    const Box box = box_of(scale, bar, top, bottom);
    const CategoryStyle& style = theme.of(bar.category);
    if (!bar.shades.empty())
      paint_shades(theme, scale, bar, box);
    else if (style.hatched)
      draw_bar(ImGui::GetWindowDrawList(), theme, box, style);
    else
      draw_solid(ImGui::GetWindowDrawList(), theme, box, style);
  }
}

void paint_labels(const Theme& theme, const Scale& scale, const StripLane& lane,
                  const Unnumbered& without, float top, float bottom, std::optional<Nanos> time) {
  const Named widest = widest_bars(lane.bars);
  for (const StripBar& bar : lane.bars) {
    const bool no_room = bar.is_numbered && without[static_cast<std::size_t>(bar.category)];
    if (!is_named(widest, bar) || no_room) continue;
    const Box box = box_of(scale, bar, top, bottom);
    const float wide = text_size(theme.font.text, theme.size.label, bar.label).x + theme.px(8);
    const bool over = bar.category != Category::kSync &&
                      is_covered(theme, scale, lane, box.min.x, box.min.x + wide);
    if (!over) paint_label(theme, scale, lane, box, bar, time);
  }
}

}  // namespace

constexpr std::size_t kCrowded = 8;  // lanes, from where on they are but lines

std::optional<Nanos> draw_step_strip(const Theme& theme, const char* id, const Box& box,
                                     const StepStrip& strip, Nanos time) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const bool crowded = strip.lanes.size() > kCrowded;
  const float names = theme.px(66), gap = theme.px(crowded ? 1.5F : 5.0F),
              count = static_cast<float>(strip.lanes.size());
  const Scale scale{axis_of(strip), {{box.min.x + names, box.min.y}, box.max}};
  const float tall = std::max((box.height() + gap) / count - gap, 1.0F);
  const float size = crowded ? theme.size.label : std::min(theme.size.label, tall);
  const std::vector<StripLane> lanes = with_labels_that_fit(theme, scale, strip.lanes);
  const Unnumbered without = unnumbered(theme, scale, lanes);
  float named_to = -theme.px(1);  // names that would be written over others are left out
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const float top = box.min.y + static_cast<float>(i) * (tall + gap);
    if (top + tall / 2 - size / 2 >= named_to) {
      draw_text_middle(draw, theme.font.text, size, box.min.x, top + tall / 2, theme.muted,
                       shortened(theme.font.text, size, lanes[i].name, names - theme.px(6)));
      named_to = top + tall / 2 + size / 2 + theme.px(1);
    }
    if (strip.has_ground)
      draw->AddRectFilled({scale.box.min.x, top}, {scale.x(strip.shown.end), top + tall},
                          theme.lane_tone, theme.px(2));
    paint_bars(theme, scale, lanes[i], top, top + tall);
  }
  const bool is_now = time >= strip.shown.start && time <= strip.shown.end;
  if (is_now) {
    const float x = std::round(scale.x(time));
    draw->AddLine({x, box.min.y - theme.px(3)}, {x, box.max.y + theme.px(2)}, theme.accent,
                  theme.px(1.5F));
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const float top = box.min.y + static_cast<float>(i) * (tall + gap);
    paint_labels(theme, scale, lanes[i], without, top, top + tall,
                 is_now ? std::optional(time) : std::nullopt);
  }
  ImGui::SetCursorScreenPos(scale.box.min);
  ImGui::InvisibleButton(id, {scale.box.width(), scale.box.height()});
  if (!ImGui::IsItemActive()) return std::nullopt;
  return std::min(scale.time(ImGui::GetIO().MousePos.x), strip.shown.end);
}

}  // namespace trainscope::ui
