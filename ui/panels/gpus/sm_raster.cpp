#include "ui/panels/gpus/sm_raster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/ticks.h"
#include "base/units.h"
#include "ui/app/views/exact_count.h"
#include "ui/app/window/color.h"
#include "ui/panels/charts/chart.h"

namespace trainscope::ui {
namespace {

float label_width(const Theme& theme) {
  return theme.px(54);
}

// Where the waves are drawn, right of the SMs' numbers.
Box body_of(const Theme& theme, const Box& box) {
  return {{box.min.x + label_width(theme), box.min.y}, box.max};
}

bool has_room(const Theme& theme, const Box& box) {
  const Box body = body_of(theme, box);
  return body.width() >= theme.px(40) && body.height() >= theme.px(12);
}

class Painter {
 public:
  Painter(const Theme& theme, const Box& box, const SmRaster& raster)
      : theme_(theme), raster_(raster), body_(body_of(theme, box)) {}

  void paint() const {
    label_sms();
    const std::int64_t full = raster_.run.waves - 1;
    if (width_of(raster_.run.full_wave) >= theme_.px(3)) {
      for (std::int64_t i = 0; i < full; ++i) full_wave(i);
    } else if (full > 0) {
      folded(full);
    }
    last_wave();
    rest();
  }

  // Nothing right of the last block's end.
  std::optional<RasterPlace> place_at(ImVec2 mouse) const {
    const sim::SmRun& run = raster_.run;
    const double time =
        (mouse.x - body_.min.x) / body_.width() * static_cast<double>(raster_.longest);
    if (time < 0 || time >= static_cast<double>(run.duration)) return std::nullopt;
    const int sm =
        std::clamp(static_cast<int>((mouse.y - body_.min.y) / row_height()), 0, run.sms - 1);
    const std::int64_t wave =
        run.full_wave == 0
            ? run.waves - 1
            : std::min(static_cast<std::int64_t>(time) / run.full_wave, run.waves - 1);
    return RasterPlace{sm, wave};
  }

  void explain(const RasterPlace& place) const {
    const sim::SmRun& run = raster_.run;
    const sim::Wave wave = run.wave(place.wave);
    chart_card(
        theme_, fmt::format("wave {} of {}", place.wave + 1, run.waves),
        {{"blocks", fmt::format("{} to {}", wave.first_block, wave.first_block + wave.blocks - 1)},
         {"SMs with a block", fmt::format("{} of {}", wave.sms, run.sms)},
         {fmt::format("on SM {}", place.sm), here(place.sm, place.wave)},
         {"takes", format_nanos(static_cast<double>(wave.end - wave.start))}});
  }

  bool is_in_rest(ImVec2 mouse) const { return has_rest() && mouse.x < x_of(raster_.run.kernel); }

  void explain_rest() const {
    const auto time = [](Nanos at) { return format_nanos(static_cast<double>(at)); };
    chart_card(theme_, "the shortest kernel takes longer than these blocks",
               {{"blocks done after", time(raster_.run.duration)},
                {"kernel done after", time(raster_.run.kernel)}});
  }

  // Of what is shown block by block: to be seen also where its SM has hardly a pixel.
  void mark(const RasterMark& mark) const {
    const Box rows{{x_of(mark.start), y_of(mark.sm)}, {x_of(mark.end), y_of(mark.sm + 1)}};
    const Box box = at_least(rows, theme_.px(5));
    ImGui::GetWindowDrawList()->AddRect(box.min, box.max, theme_.accent, theme_.px(1),
                                        theme_.px(1.5F));
  }

 private:
  float x_of(Nanos time) const {
    return body_.min.x +
           static_cast<float>(static_cast<double>(time) / static_cast<double>(raster_.longest)) *
               body_.width();
  }
  float width_of(Nanos time) const { return x_of(time) - body_.min.x; }
  float row_height() const { return body_.height() / static_cast<float>(raster_.run.sms); }
  float y_of(int sm) const { return body_.min.y + row_height() * static_cast<float>(sm); }

  std::string here(int sm, std::int64_t wave) const {
    int blocks = static_cast<int>(raster_.run.blocks_a_wave / raster_.run.sms);
    if (wave == raster_.run.waves - 1)
      for (const WaveRows& row : raster_.last)
        if (sm >= row.first_sm && sm < row.first_sm + row.sms) blocks = row.blocks;
    const int most = raster_.run.occupancy.blocks_per_sm;
    return blocks == 0 ? "idle" : fmt::format("{} of {} that fit", blocks, std::max(most, blocks));
  }

  void label_sms() const {
    const float x = body_.min.x - theme_.px(8), half = theme_.size.mono / 2;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const auto label = [&](int sm, float y) {
      draw_text_middle(draw, theme_.font.mono, theme_.size.label, x, y, theme_.muted,
                       fmt::format("SM {}", sm), 1);
    };
    label(0, body_.min.y + half);
    if (raster_.run.sms > 1 && body_.height() > theme_.px(34))
      label(raster_.run.sms - 1, body_.max.y - half);
  }

  void words_in(const Box& box, Color color, const std::string& words) const {
    const float size = theme_.size.small;
    const ImVec2 room = text_size(theme_.font.text, size, words);
    if (room.x + theme_.px(12) > box.width() || room.y > box.height()) return;
    draw_text_middle(ImGui::GetWindowDrawList(), theme_.font.text, size, box.centre().x,
                     box.centre().y, color, words, 0.5F);
  }

  void full_wave(std::int64_t index) const {
    const sim::Wave wave = raster_.run.wave(index);
    const Box box{{x_of(wave.start), body_.min.y},
                  {std::max(x_of(wave.end) - 1, x_of(wave.start) + 1), body_.max.y}};
    ImGui::GetWindowDrawList()->AddRectFilled(box.min, box.max, wave_color(theme_, index));
    words_in(box, wave_text(theme_, index), fmt::format("wave {}", index + 1));
  }

  void folded(std::int64_t waves) const {
    const Box box{{body_.min.x, body_.min.y}, {x_of(raster_.run.wave(waves - 1).end), body_.max.y}};
    ImGui::GetWindowDrawList()->AddRectFilled(box.min, box.max, wave_color(theme_, 0));
    words_in(box, wave_text(theme_, 0),
             fmt::format("{} full waves", exact_count(static_cast<double>(waves))));
  }

  bool has_rest() const { return raster_.run.kernel > raster_.run.duration; }

  // From the last block's end to the kernel's: starting and ending it take their time.
  void rest() const {
    if (!has_rest()) return;
    const Box box{{x_of(raster_.run.duration), body_.min.y},
                  {x_of(raster_.run.kernel), body_.max.y}};
    draw_no_block(theme_, box);
    words_in(box, theme_.muted, "no block: start and end");
  }

  bool is_only_wave() const { return raster_.run.waves == 1; }

  // SMs with fewer blocks than fit are paler; those with none, and the wait for the last, hatched.
  void last_wave() const {
    const Box widest_idle = idle_rows();
    const Box widest_body = block_rows();
    const int sms = raster_.run.sms;
    words_in(widest_body, theme_.of(trace::Category::kHostWork).text,
             fmt::format("wave {}", raster_.run.waves));
    if (const int idle = idle_sms(raster_.last); idle > 0)
      words_in(widest_idle, is_only_wave() ? theme_.muted : theme_.bad,
               fmt::format("{}{} of {} SMs idle", is_only_wave() ? "" : "tail: ", idle, sms));
  }

  // Returns the tallest.
  Box idle_rows() const {
    const sim::SmRun& run = raster_.run;
    Box tallest{};
    for (const WaveRows& row : raster_.last) {
      if (row.end >= run.duration) continue;
      const Box box{{x_of(row.end), y_of(row.first_sm)},
                    {x_of(run.duration), y_of(row.first_sm + row.sms)}};
      // An SM that never had a block waits for no other.
      if (is_only_wave() && row.blocks == 0)
        draw_no_block(theme_, box);
      else
        draw_tail(theme_, box);
      if (box.height() > tallest.height()) tallest = box;
    }
    return tallest;
  }

  // Returns the tallest. Rows too short to be seen are taller, and dark.
  Box block_rows() const {
    const sim::SmRun& run = raster_.run;
    const Nanos start = run.wave(run.waves - 1).start;
    const int most = std::max(run.occupancy.blocks_per_sm, 1);
    Box tallest{};
    for (const WaveRows& row : raster_.last) {
      if (row.blocks == 0) continue;
      const Box rows{{x_of(start), y_of(row.first_sm)},
                     {x_of(row.end), y_of(row.first_sm + row.sms)}};
      const Box box = at_least(rows, theme_.px(4));
      const float share = static_cast<float>(row.blocks) / static_cast<float>(most);
      const Color color = rows.height() < box.height()
                              ? theme_.text
                              : mixed(theme_.panel, wave_color(theme_, run.waves - 1),
                                      std::min(0.45F + 0.55F * share, 1.0F));
      ImGui::GetWindowDrawList()->AddRectFilled(box.min, box.max, color);
      if (box.height() > tallest.height()) tallest = box;
    }
    return tallest;
  }

  // As wide and tall as this, within the raster.
  Box at_least(Box box, float edge) const {
    box.max = {std::max(box.max.x, box.min.x + edge), std::max(box.max.y, box.min.y + edge)};
    const float right = std::max(box.max.x - body_.max.x, 0.0F);
    const float below = std::max(box.max.y - body_.max.y, 0.0F);
    return {{box.min.x - right, box.min.y - below}, {box.max.x - right, box.max.y - below}};
  }

  const Theme& theme_;
  const SmRaster& raster_;
  Box body_;
};

}  // namespace

Color wave_color(const Theme& theme, std::int64_t index) {
  const Color fill = theme.of(trace::Category::kHostWork).fill;
  return index % 2 == 0 ? fill : mixed(fill, theme.text, 0.42F);
}

Color wave_text(const Theme& theme, std::int64_t index) {
  const Color ground = wave_color(theme, index);
  Color best = theme.of(trace::Category::kHostWork).text;
  for (const Color other : {theme.text, theme.panel})
    if (contrast(ground, other) > contrast(ground, best)) best = other;
  return best;
}

void draw_no_block(const Theme& theme, const Box& box) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(box.min, box.max, mixed(theme.panel, theme.muted, 0.07F));
  if (box.height() > theme.px(4)) draw->AddRect(box.min, box.max, faded(theme.muted, 0.5F));
}

void draw_tail(const Theme& theme, const Box& box) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(box.min, box.max, mixed(theme.panel, theme.bad, 0.07F));
  draw_hatch(draw, box, faded(theme.bad, 0.30F), theme.px(7), theme.px(1));
  if (box.height() > theme.px(4)) draw->AddRect(box.min, box.max, faded(theme.bad, 0.8F));
}

RasterUse use_raster(const Theme& theme, const char* id, const Box& box, const SmRaster& raster) {
  if (!has_room(theme, box)) return {};
  const Box body = body_of(theme, box);
  const Painter painter(theme, box, raster);
  ImGui::SetCursorScreenPos(body.min);
  RasterUse use;
  use.pressed = press_area(id, {body.width(), body.height()});
  if (!ImGui::IsItemHovered() || !ImGui::IsMouseHoveringRect(body.min, body.max)) return use;
  use.under_mouse = painter.place_at(ImGui::GetIO().MousePos);
  if (use.under_mouse)
    painter.explain(*use.under_mouse);
  else if (painter.is_in_rest(ImGui::GetIO().MousePos))
    painter.explain_rest();
  return use;
}

void paint_raster(const Theme& theme, const Box& box, const SmRaster& raster,
                  const std::optional<RasterMark>& mark) {
  if (!has_room(theme, box)) return;
  const Painter painter(theme, box, raster);
  ImGui::GetWindowDrawList()->PushClipRect(box.min, box.max, true);
  painter.paint();
  if (mark) painter.mark(*mark);
  ImGui::GetWindowDrawList()->PopClipRect();
}

void paint_raster_axis(const Theme& theme, const Box& box, Nanos longest) {
  const Box body = body_of(theme, box);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const double most = std::max(2.0F, body.width() / theme.px(90));
  for (const double at : raster_times(longest, most)) {
    const auto share = static_cast<float>(at / static_cast<double>(longest));
    const float x = std::round(body.min.x + share * (body.width() - 1));
    draw->AddLine({x, box.min.y}, {x, box.min.y + theme.px(3)}, theme.muted);
    draw_text_middle(draw, theme.font.mono, theme.size.label, x, box.centre().y + theme.px(1),
                     theme.muted, format_tick(at),
                     share == 0   ? 0.0F
                     : share == 1 ? 1.0F
                                  : 0.5F);
  }
}

}  // namespace trainscope::ui
