#include "ui/panels/gpus/bucket_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "ui/app/views/gradient_cells.h"

namespace trainscope::ui {
namespace {

using analysis::BackwardFlow;
using analysis::BucketState;
using analysis::BucketTimes;

enum class Column : std::uint8_t { kGradients, kSize, kReady, kLaunched, kDone, kExposed };

struct ShownColumn {
  Column column;
  std::string head;
  float right = 0;
};

// Those that there is room for, the most important first to stay.
std::vector<ShownColumn> columns_in(const Theme& theme, const Box& box, bool milliseconds) {
  const std::string unit = milliseconds ? " ms" : " us";
  struct Offer {
    Column column;
    std::string head;
    float width;
    int rank;
  };
  const std::vector<Offer> offers = {
      {Column::kGradients, "gradients", 74, 5}, {Column::kSize, "size", 78, 1},
      {Column::kReady, "ready" + unit, 82, 3},  {Column::kLaunched, "launched" + unit, 100, 4},
      {Column::kDone, "done" + unit, 82, 2},    {Column::kExposed, "exposed", 80, 0}};
  const auto width_of = [&theme](const Offer& offer) {
    const float head = text_size(theme.font.text, theme.size.label, offer.head).x;
    return std::max(theme.px(offer.width), head + theme.px(14));
  };
  float room = box.width() - theme.px(38);
  std::vector<bool> shown(offers.size(), false);
  for (int rank = 0; rank < static_cast<int>(offers.size()); ++rank)
    for (std::size_t i = 0; i < offers.size(); ++i)
      if (offers[i].rank == rank && width_of(offers[i]) <= room) {
        room -= width_of(offers[i]);
        shown[i] = true;
      }
  const auto count = static_cast<float>(std::count(shown.begin(), shown.end(), true));
  const float more = std::min(room / std::max(count, 1.0F), theme.px(26));
  std::vector<ShownColumn> columns;
  float right = box.max.x - theme.px(10);
  for (std::size_t i = offers.size(); i-- > 0;) {
    if (!shown[i]) continue;
    columns.push_back({offers[i].column, offers[i].head, right});
    right -= width_of(offers[i]) + more;
  }
  return columns;
}

struct Cell {
  std::string words;
  bool known = true;  // at the playhead
  bool bad = false;
};

Cell cell_of(const BucketTimes& bucket, Column column, Nanos time, bool milliseconds) {
  switch (column) {
    case Column::kGradients:
      return {bucket.gradients.empty() ? "?" : std::to_string(bucket.gradients.size())};
    case Column::kSize:
      return {format_bytes(static_cast<double>(bucket.bytes))};
    case Column::kReady:
      if (!bucket.ready) return {"?"};
      return {table_time(*bucket.ready, milliseconds), *bucket.ready <= time};
    case Column::kLaunched:
      return {table_time(bucket.launched, milliseconds), bucket.launched <= time};
    case Column::kDone:
      return {table_time(bucket.done, milliseconds), bucket.done <= time};
    case Column::kExposed:
      return {bucket.exposed > 0 ? format_nanos(static_cast<double>(bucket.exposed)) : "0",
              bucket.done <= time, bucket.exposed > 0};
  }
  return {};
}

float row_height(const Theme& theme) {
  return theme.px(25);
}

float head_height(const Theme& theme) {
  return theme.px(22);
}

class Table {
 public:
  Table(const Theme& theme, const Box& box, const analysis::GradientFlow& flow, Nanos time,
        trace::SpanId selected)
      : theme_(theme), flow_(flow), time_(time), selected_(selected) {
    const analysis::StepExposure* step = step_of(flow, flow.at(time));
    milliseconds_ = !step || step->window.end - step->window.start >= kMillisecond;
    columns_ = columns_in(theme, box, milliseconds_);
    left_ = box.min.x + theme.px(8);
    width_ = box.width();
  }

  void head() const {
    const float middle = ImGui::GetCursorScreenPos().y + head_height(theme_) / 2;
    word(left_, middle, "#", theme_.faint, 0);
    for (const ShownColumn& column : columns_)
      word(column.right, middle, column.head, theme_.faint, 1);
  }

  bool row(std::size_t number) const {
    const BucketTimes& bucket = flow_.at(time_).buckets[number];
    const BucketState state = state_at(bucket, time_);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Box box{at, {at.x + width_, at.y + row_height(theme_)}};
    const bool pressed =
        press_area(fmt::format("bucket {}", number).c_str(), {box.width(), box.height()});
    const bool hovered = ImGui::IsItemHovered();
    ground(box, bucket, state, hovered);
    const bool future = state == BucketState::kFilling && share_ready(bucket, time_) <= 0;
    figure(left_, box.centre().y, std::to_string(number), future ? theme_.faint : theme_.text, 0);
    for (const ShownColumn& column : columns_) {
      const Cell cell = cell_of(bucket, column.column, time_, milliseconds_);
      const Color color = !cell.known ? theme_.faint : cell.bad ? theme_.bad : theme_.text;
      figure(column.right, box.centre().y, cell.words, color, 1);
    }
    return pressed;
  }

 private:
  void ground(const Box& box, const BucketTimes& bucket, BucketState state, bool hovered) const {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const Color sum = theme_.of(trace::Category::kCollective).line;
    const float corner = theme_.px(3), thick = theme_.px(2);
    if (state == BucketState::kRunning)
      draw->AddRectFilled(box.min, box.max, mixed(theme_.panel, sum, 0.20F), corner);
    else if (hovered)
      draw->AddRectFilled(box.min, box.max, theme_.lane_tone, corner);
    if (selected_ == bucket.span)
      draw->AddRect({box.min.x + 0.5F, box.min.y + 0.5F}, {box.max.x - 0.5F, box.max.y - 0.5F},
                    theme_.accent, corner, theme_.px(1.4F));
    // How far it is: filled in blue, summed in the collective's colour.
    const bool sums = state == BucketState::kRunning || state == BucketState::kDone;
    const double share = sums ? share_summed(bucket, time_) : share_ready(bucket, time_);
    if (state == BucketState::kDone || share <= 0) return;
    const Color color = sums ? sum : theme_.of(trace::Category::kBackward).line;
    draw->AddRectFilled({box.min.x, box.max.y - thick},
                        {box.min.x + box.width() * static_cast<float>(share), box.max.y}, color,
                        theme_.px(1));
  }
  void word(float x, float y, const std::string& words, Color color, float align) const {
    draw_text_middle(ImGui::GetWindowDrawList(), theme_.font.text, theme_.size.label, x, y, color,
                     words, align);
  }
  void figure(float x, float y, const std::string& words, Color color, float align) const {
    draw_text_middle(ImGui::GetWindowDrawList(), theme_.font.mono, theme_.size.label, x, y, color,
                     words, align);
  }

  const Theme& theme_;
  const analysis::GradientFlow& flow_;
  Nanos time_;
  trace::SpanId selected_;
  bool milliseconds_ = true;
  std::vector<ShownColumn> columns_;
  float left_ = 0, width_ = 0;
};

}  // namespace

float bucket_table_height(const Theme& theme, const BackwardFlow& backward) {
  return head_height(theme) + theme.px(2) +
         row_height(theme) * static_cast<float>(backward.buckets.size());
}

std::optional<std::size_t> draw_bucket_table(const Theme& theme, const char* id, const Box& box,
                                             BucketTable& table, const analysis::GradientFlow& flow,
                                             Nanos time, trace::SpanId selected) {
  const BackwardFlow& backward = flow.at(time);
  std::optional<std::size_t> clicked;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::SetCursorScreenPos(box.min);
  const bool scrolls = bucket_table_height(theme, backward) > box.height() + 1;
  const Box inner{box.min, {box.max.x - (scrolls ? theme.px(12) : 0), box.max.y}};
  const Table rows(theme, inner, flow, time, selected);
  rows.head();
  const float head = head_height(theme);
  ImGui::SetCursorScreenPos({box.min.x, box.min.y + head});
  ImGui::BeginChild(id, {box.width(), box.height() - head});
  const std::size_t now = bucket_at(backward, time);
  for (std::size_t i = 0; i < backward.buckets.size(); ++i) {
    if (rows.row(i)) clicked = i;
    if (scrolls && i == now && table.followed != now) ImGui::SetScrollHereY(0.5F);
  }
  table.followed = now;
  ImGui::EndChild();
  ImGui::PopStyleVar(2);
  return clicked;
}

void draw_exposed(const Theme& theme, const ExposureWords& words, const Box& box) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(box.min, box.max, theme.card, theme.size.corner);
  const float left = box.min.x + theme.px(12), room = box.width() - theme.px(24);
  const bool tall = box.height() > theme.px(72);
  float y = box.min.y + theme.px(tall ? 17 : 14);
  draw_text_middle(draw, theme.font.text, theme.size.label, left, y, theme.muted,
                   "Exposed communication");
  y += theme.px(tall ? 25 : 21);
  const float size = tall ? theme.size.heading : theme.size.text;
  draw_text_middle(draw, theme.font.strong, size, left, y, words.any ? theme.bad : theme.good,
                   words.figure);
  const float used = text_size(theme.font.strong, size, words.figure).x + theme.px(8);
  draw_text_middle(draw, theme.font.text, theme.size.label, left + used, y + theme.px(1),
                   theme.muted,
                   shortened(theme.font.text, theme.size.label, words.whole, room - used));
  if (!tall) return;
  y += theme.px(23);
  draw_text_middle(draw, theme.font.text, theme.size.label, left, y, theme.muted,
                   shortened(theme.font.text, theme.size.label, words.most, room));
}

}  // namespace trainscope::ui
