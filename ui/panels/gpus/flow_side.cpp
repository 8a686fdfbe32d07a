#include "ui/panels/gpus/flow_side.h"

#include <algorithm>

#include "ui/panels/charts/chart.h"
#include "ui/panels/comparison/side_data.h"
#include "ui/panels/gpus/bucket_table.h"
#include "ui/panels/gpus/gpu_paint.h"
#include "ui/panels/gpus/star_paint.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {

void words_at(const Theme& theme, const Box& box, float y, const std::vector<std::string>& ways,
              Color color, ImFont* font, float size) {
  if (ways.empty()) return;
  draw_text_middle(ImGui::GetWindowDrawList(), font, size, box.min.x, y, color,
                   fitting(theme, size, ways, box.width()));
}

namespace {

constexpr float kLeastPlot = 110;  // of the scaling curve, with its words

GpuPicture picture_of(const FlowSide& view, const Box& area, Traffic traffic) {
  GpuPicture picture =
      gpu_picture(view.context.theme, view.facts.topology ? &*view.facts.topology : nullptr,
                  view.facts.ring, area, traffic);
  picture.look.apart = view.facts.apart;
  return picture;
}

FlowWords words_of(const FlowSide& view) {
  if (!view.facts.is_star()) return flow_words(view.facts.flow, view.time);
  return {star_words(view.facts.star, view.time),
          {"all goes from GPU 0 or to it; in a card: now, and its whole step",
           "all goes from GPU 0 or to it"}};
}

void paint_flow(const FlowSide& view, const Box& area) {
  const Theme& theme = view.context.theme;
  const GpuPicture picture = picture_of(view, area, Traffic::kRing);
  paint_ground(theme, picture);
  paint_cards(theme, picture, view.facts.flow, view.time);
  paint_traffic(theme, picture.map, view.facts.flow, view.time);
  paint_bar_names(theme, picture.map);
}

void paint_star(const FlowSide& view, const Box& area) {
  const Theme& theme = view.context.theme;
  const GpuPicture picture = picture_of(view, area, Traffic::kStar);
  paint_ground(theme, picture);
  paint_star_cards(theme, picture, view.facts.star, view.time);
  paint_star_traffic(theme, picture.map, view.facts.star, view.time);
  paint_bar_names(theme, picture.map);
}

// Where a panel is too low for a picture.
void say_too_low(const Theme& theme, const Box& box, float y) {
  words_at(theme, box, y,
           {"too low for a picture: pull the panel's upper edge up", "too low: pull up"},
           theme.muted, theme.font.text, theme.size.label);
}

// Where the words below the picture stand, and the legend of the cells: to their right where both
// have room, else on a line of its own.
struct Foot {
  bool beneath = true;  // there is a second line of words
  bool legend = false;
  bool legend_beside = false;
  float height = 0;
};

Foot foot_of(const FlowSide& view, const Box& box, float line) {
  const Theme& theme = view.context.theme;
  Foot foot;
  foot.beneath = box.height() >= theme.px(150);
  foot.legend = !view.facts.is_star() && !view.legend_above;
  constexpr float kLeastWords = 220;
  foot.legend_beside = box.width() >= cell_legend_width(theme) + theme.px(kLeastWords);
  const bool own_line = foot.legend && !foot.legend_beside;
  foot.height = (1.0F + (foot.beneath ? 1 : 0) + (own_line ? 1 : 0)) * line + theme.px(4);
  return foot;
}

void draw_foot(const FlowSide& view, const Foot& foot, Box box, float line) {
  const Theme& theme = view.context.theme;
  const FlowWords words = words_of(view);
  const float legend = cell_legend_width(theme), first = box.max.y - foot.height + line / 2;
  float next = first + line;
  Box beside = box;
  if (foot.legend && foot.legend_beside) {
    paint_cell_legend(theme, {box.max.x - legend, first});
    beside.max.x -= legend + theme.px(16);
  } else if (foot.legend && box.width() >= legend) {
    paint_cell_legend(theme, {box.min.x, next});
    next += line;
  }
  words_at(theme, beside, first, words.now, theme.text, theme.font.text, theme.size.small);
  if (foot.beneath)
    words_at(theme, box, next, words.beneath, theme.muted, theme.font.text, theme.size.label);
}

// A row selects what it is about on the timeline, and shows it there.
void choose(const FlowSide& view, trace::SpanId span, analysis::Interval time) {
  TimelineState& timeline = view.context.attention.timeline;
  timeline.selected = {static_cast<Side>(view.side), span};
  const Nanos around = (time.end - time.start) * 2;
  show_range(timeline, {time.start - around, time.end + around});
  view.context.workspace.select_span(view.side, span);
}

trace::SpanId selected_of(const FlowSide& view) {
  const SpanRef& selected = view.context.attention.timeline.selected;
  return static_cast<std::size_t>(selected.side) == view.side ? selected.span : trace::kNone;
}

void draw_table(const FlowSide& view, const Box& box) {
  const Theme& theme = view.context.theme;
  const FlowFacts& facts = view.facts;
  if (facts.is_star()) {
    const auto clicked =
        draw_star_table(theme, "##stages", box, facts.star, view.time, selected_of(view));
    if (!clicked) return;
    const analysis::StarStageTimes& stage = facts.star.at(view.time).stages[*clicked];
    return choose(view, stage.transfers.front().span, {stage.start, stage.end});
  }
  const auto clicked = draw_bucket_table(theme, "##buckets", box, view.own.table, facts.flow,
                                         view.time, selected_of(view));
  if (!clicked) return;
  const analysis::BucketTimes& bucket = facts.flow.at(view.time).buckets[*clicked];
  choose(view, bucket.span, {bucket.started, bucket.done});
}

float table_height(const FlowSide& view) {
  const Theme& theme = view.context.theme;
  return view.facts.is_star() ? star_table_height(theme, view.facts.star.at(view.time))
                              : bucket_table_height(theme, view.facts.flow.at(view.time));
}

}  // namespace

void draw_gpus(const FlowSide& view, const Box& box) {
  const Theme& theme = view.context.theme;
  const float line = theme.px(19);
  const Foot foot = foot_of(view, box, line);
  Box area{box.min, {box.max.x, box.max.y - foot.height - theme.px(6)}};
  if (box.height() < theme.px(60)) {
    words_at(theme, box, box.min.y + line / 2, words_of(view).now, theme.text, theme.font.text,
             theme.size.small);
    return say_too_low(theme, box, box.min.y + 1.5F * line);
  }
  const bool lowest = area.height() < theme.px(60);  // then the picture comes before its words
  if (lowest) area = box;
  view.facts.is_star() ? paint_star(view, area) : paint_flow(view, area);
  if (!lowest) draw_foot(view, foot, box, line);
}

void draw_buckets(const FlowSide& view, const Box& box) {
  const Theme& theme = view.context.theme;
  const float wanted = table_height(view) + theme.px(4), gap = theme.px(8);
  const bool tall = wanted + gap + theme.px(92) < box.height();
  const float card = tall ? theme.px(88) : theme.px(50);
  const float bottom = std::min(box.min.y + wanted, box.max.y - card - gap);
  draw_table(view, {box.min, {box.max.x, bottom}});
  const float top = tall ? bottom + gap + theme.px(4) : box.max.y - card;
  const ExposureWords words = view.facts.is_star() ? exposure_words(view.facts.star, view.time)
                                                   : exposure_words(view.facts.flow, view.time);
  draw_exposed(theme, words,
               {{box.min.x, std::min(top, box.max.y - card)},
                {box.max.x, std::min(top, box.max.y - card) + card}});
}

void draw_scaling(const FlowSide& view, const ScalingRange& range, const Box& box) {
  const Theme& theme = view.context.theme;
  GradientFlowPanel::Side& own = view.own;
  const RunPointer& run = view.facts.run;
  if (own.scaled != run) {
    own.scaled = run;
    own.scaling.start([run](const auto& stopped) -> std::shared_ptr<analysis::ScalingCurve> {
      const auto curve = analysis::scaling_curve(run->config, stopped);
      return curve ? std::make_shared<analysis::ScalingCurve>(*curve) : nullptr;
    });
  }
  const bool busy = own.scaling.busy();
  if (busy) view.context.ask("animate");
  if (box.height() < theme.px(kLeastPlot)) return say_too_low(theme, box, box.min.y + theme.px(10));
  if (const auto& curve = own.scaling.get())
    return paint_scaling(theme, box, *curve, range, view.side == 0);
  if (const std::string& error = own.scaling.error(); !error.empty())
    return draw_sentence(theme, box, theme.bad, error);
  const char* words = busy           ? "running it on 1, 2, 4, ... GPUs"
                      : run->program ? "it runs on no other number of GPUs of this machine"
                                     : "a trace tells of its own number of GPUs only";
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, box.centre().x,
                   box.centre().y, theme.muted,
                   shortened(theme.font.text, theme.size.small, words, box.width()), 0.5F);
}

}  // namespace trainscope::ui
