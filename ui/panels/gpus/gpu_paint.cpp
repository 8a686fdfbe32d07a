#include "ui/panels/gpus/gpu_paint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/views/collective_progress.h"
#include "ui/panels/charts/chart.h"

namespace trainscope::ui {
namespace {

using analysis::BackwardFlow;
using analysis::BucketState;
using analysis::BucketTimes;
using analysis::GradientFlow;
using trace::Category;

// ---- Cells -------------------------------------------------------------------------------------

struct CellColors {
  Color empty, ready, running, done;
};

CellColors colors_of(const Theme& theme) {
  const Color sum = theme.of(Category::kCollective).fill;
  return {mixed(theme.panel, theme.faint, theme.is_dark() ? 0.28F : 0.24F),
          theme.of(Category::kBackward).fill, mixed(theme.card, sum, 0.52F), sum};
}

// A cell whose bucket is being summed is hatched as well.
void paint_cell(const Theme& theme, const CellColors& colors, const GradientCell& cell,
                const Box& box) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float corner = std::min(theme.px(2), box.width() / 4);
  const bool done = cell.state == BucketState::kDone;
  const bool running = cell.state == BucketState::kRunning;
  draw->AddRectFilled(box.min, box.max,
                      done      ? colors.done
                      : running ? colors.running
                                : colors.empty,
                      corner);
  if (done) return;
  if (running) {
    if (box.width() > theme.px(5))
      draw_hatch(draw, box, faded(colors.done, 0.9F), theme.px(4), theme.px(1));
    return;
  }
  if (cell.ready <= 0) return;
  const float top = box.max.y - box.height() * static_cast<float>(cell.ready);
  draw->AddRectFilled({box.min.x, std::floor(top)}, box.max, colors.ready, corner);
}

// Columns and rows of cells that a box has room for.
struct CellGrid {
  int columns = 0, rows = 0;
  float each = 0, tall = 0;  // with the gap to the next
  std::size_t cells() const { return static_cast<std::size_t>(columns * rows); }
};

CellGrid grid_in(const Theme& theme, const Box& box, std::size_t gradients) {
  const float most = theme.px(15);
  const float least = std::clamp(box.width() / 5, theme.px(4.5F), theme.px(7.5F));
  CellGrid grid;
  if (box.width() < least || box.height() < least) return grid;
  const float wanted = std::sqrt(box.width() * box.height() /
                                 static_cast<float>(std::max<std::size_t>(gradients, 1)));
  grid.each = std::clamp(wanted, least, most);
  grid.columns = std::max(1, static_cast<int>(box.width() / grid.each));
  grid.each = std::min(box.width() / static_cast<float>(grid.columns), most);
  grid.rows = std::max(1, static_cast<int>(box.height() / grid.each));
  grid.tall = std::min(box.height() / static_cast<float>(grid.rows), most);
  return grid;
}

std::size_t gradients_of(const BackwardFlow& backward) {
  std::size_t count = 0;
  for (const BucketTimes& bucket : backward.buckets) count += bucket.gradients.size();
  return count > 0 ? count : backward.buckets.size();
}

void paint_cells(const Theme& theme, const Box& box, const CellGrid& grid,
                 const BackwardFlow& backward, Nanos time) {
  const std::vector<GradientCell> cells = gradient_cells(backward, time, grid.cells());
  const CellColors colors = colors_of(theme);
  const float gap = std::max(1.0F, std::round(grid.each * 0.16F));
  for (std::size_t i = 0; i < std::min(cells.size(), grid.cells()); ++i) {
    const auto column = static_cast<float>(static_cast<int>(i) % grid.columns);
    const auto row = static_cast<float>(static_cast<int>(i) / grid.columns);
    const ImVec2 at{std::round(box.min.x + column * grid.each),
                    std::round(box.min.y + row * grid.tall)};
    paint_cell(theme, colors, cells[i],
               {at, {at.x + std::floor(grid.each - gap), at.y + std::floor(grid.tall - gap)}});
  }
}

// ---- What a GPU holds of the bucket that a ring is summing -------------------------------------

// A bar a part: as high as the share of the GPUs whose gradients are in it.
void paint_parts(const Theme& theme, const Box& box, int ranks, int steps_over, int place) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float each = box.width() / static_cast<float>(ranks);
  const Color sum = theme.of(Category::kCollective).fill;
  for (int part = 0; part < ranks; ++part) {
    const int summed = analysis::ranks_summed(ranks, steps_over, place, part);
    const float left = std::round(box.min.x + each * static_cast<float>(part));
    const float right =
        std::round(box.min.x + each * static_cast<float>(part + 1)) - (each > 4 ? theme.px(1) : 0);
    const float share = static_cast<float>(summed) / static_cast<float>(ranks);
    draw->AddRectFilled({left, box.min.y}, {right, box.max.y},
                        mixed(theme.panel, theme.faint, 0.22F));
    draw->AddRectFilled({left, box.max.y - std::round(box.height() * share)}, {right, box.max.y},
                        summed == ranks ? sum : mixed(theme.card, sum, 0.62F));
  }
}

// The share of a bucket that is summed, where nobody holds a part for himself.
void paint_share(const Theme& theme, const Box& box, double share) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(box.min, box.max, mixed(theme.panel, theme.faint, 0.22F), theme.px(1.5F));
  const float right = box.min.x + box.width() * static_cast<float>(share);
  draw->AddRectFilled(box.min, {right, box.max.y}, theme.of(Category::kCollective).fill,
                      theme.px(1.5F));
}

const BucketTimes* running_bucket(const BackwardFlow& backward, Nanos time) {
  const BucketTimes& bucket = backward.buckets[bucket_at(backward, time)];
  return state_at(bucket, time) == BucketState::kRunning ? &bucket : nullptr;
}

int place_of(const GpuMap& map, int gpu) {
  const auto found = std::find(map.ring.begin(), map.ring.end(), gpu);
  return static_cast<int>(found - map.ring.begin());
}

// A GPU of another rank, of which the trace's file has nothing.
void paint_absence(const Theme& theme, const Box& box) {
  for (const char* words : {"not in this trace", "not in the file", "not here"})
    if (text_size(theme.font.text, theme.size.label, words).x <= box.width())
      return draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.label,
                              box.centre().x, box.centre().y, theme.muted, words, 0.5F);
  draw_hatch(ImGui::GetWindowDrawList(), box, theme.idle_line, theme.px(7), theme.px(1));
}

// A card without cells is one itself: that of the bucket that is spoken of.
void paint_small(const Theme& theme, const CardLook& look, const GpuMap::Gpu& gpu,
                 const GradientFlow& flow, Nanos time) {
  const CardEdge edge = card_edge(theme);
  if (!flow.has(gpu.number)) {
    paint_small_card(theme, look, gpu, edge, theme.card, 0);
    return draw_hatch(ImGui::GetWindowDrawList(), gpu.box, theme.idle_line, theme.px(7),
                      theme.px(1));
  }
  const CellColors colors = colors_of(theme);
  const BackwardFlow& backward = flow.at(time);
  const BucketTimes& bucket = backward.buckets[bucket_at(backward, time)];
  if (const BucketState state = state_at(bucket, time); state == BucketState::kFilling)
    paint_small_card(theme, look, gpu, edge, colors.ready, share_ready(bucket, time));
  else
    paint_small_card(theme, look, gpu, edge, colors.done,
                     state == BucketState::kDone ? 1 : share_summed(bucket, time));
}

// `grid`: of all cards; the first one that is painted lays it out.
void paint_card(const Theme& theme, const GpuPicture& picture, const GpuMap::Gpu& gpu,
                const GradientFlow& flow, Nanos time, std::optional<CellGrid>& grid) {
  if (picture.look.is_small()) return paint_small(theme, picture.look, gpu, flow, time);
  const BackwardFlow& backward = flow.at(time);
  const Box inner = paint_card_frame(theme, picture.look, gpu, card_edge(theme));
  if (!flow.has(gpu.number)) return paint_absence(theme, inner);
  const float strip = gpu.box.height() > theme.px(64) ? theme.px(9) : theme.px(5);
  const Box room{inner.min, {inner.max.x, inner.max.y - strip - theme.px(3)}};
  if (!grid) grid = grid_in(theme, room, gradients_of(backward));
  if (grid->cells() == 0) return paint_small(theme, picture.look, gpu, flow, time);
  paint_cells(theme, room, *grid, backward, time);
  const BucketTimes* running = running_bucket(backward, time);
  if (!running || flow.ranks < 2) return;
  const Box foot{{inner.min.x, inner.max.y - strip}, inner.max};
  const double share = share_summed(*running, time);
  if (running->algorithm == "ring" && foot.width() >= static_cast<float>(2 * flow.ranks))
    paint_parts(theme, foot, flow.ranks, analysis::ring_moment(flow.ranks, share).step,
                place_of(picture.map, gpu.number));
  else
    paint_share(theme, foot, share);
}

// ---- Traffic -----------------------------------------------------------------------------------

// A part on its way, `half` an edge; with its number where there is one.
void paint_part(const Theme& theme, ImVec2 at, float half, int part) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const CategoryStyle& style = theme.of(Category::kCollective);
  const ImVec2 min{std::round(at.x - half), std::round(at.y - half)};
  const ImVec2 max{min.x + std::round(2 * half), min.y + std::round(2 * half)};
  draw->AddRectFilled({min.x - 1, min.y - 1}, {max.x + 1, max.y + 1}, theme.panel, half / 2);
  draw->AddRectFilled(min, max, style.fill, half * 0.4F);
  if (part >= 0)
    draw_text_middle(draw, theme.font.strong, theme.size.label, (min.x + max.x) / 2,
                     (min.y + max.y) / 2, style.text, std::to_string(part), 0.5F);
}

// Of pieces without a number.
float small_half(const Theme& theme, const GpuMap& map) {
  return std::min(theme.px(4.5F), map.chip);
}

// A link that is in use, with a head where it leads.
void paint_way(const Theme& theme, const std::vector<ImVec2>& way) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Color color = mixed(theme.panel, theme.of(Category::kCollective).line, 0.6F);
  draw->AddPolyline(way.data(), static_cast<int>(way.size()), color, 0, theme.px(2.5F));
  const ImVec2 end = way.back(), before = way[way.size() - 2];
  const float length = std::hypot(end.x - before.x, end.y - before.y);
  if (length < theme.px(6)) return;
  const ImVec2 ahead{(end.x - before.x) / length, (end.y - before.y) / length};
  const float long_side = theme.px(8), wing = theme.px(4.5F);
  const ImVec2 neck{end.x - ahead.x * long_side, end.y - ahead.y * long_side};
  draw->AddTriangleFilled({neck.x - ahead.y * wing, neck.y + ahead.x * wing}, end,
                          {neck.x + ahead.y * wing, neck.y - ahead.x * wing}, color);
}

// Parts on their ways, `within` of it over. All have their numbers, or none: they need room.
void paint_parts_on(const Theme& theme, const GpuMap& map,
                    const std::vector<std::vector<ImVec2>>& ways, const std::vector<int>& parts,
                    double within) {
  const float numbered = theme.px(8);
  const bool room = map.chip >= numbered && std::ranges::all_of(ways, [&](const auto& way) {
                      return way.empty() || has_room(way, 2 * numbered);
                    });
  const float half = room ? numbered : small_half(theme, map);
  for (const auto& way : ways)
    if (!way.empty()) paint_way(theme, way);
  for (std::size_t i = 0; i < ways.size(); ++i)
    if (!ways[i].empty())
      paint_part(theme, along(ways[i], static_cast<float>(within), half + 1), half,
                 room ? parts[i] : -1);
}

void paint_ring(const Theme& theme, const GpuMap& map, const GradientFlow& flow, double share) {
  const int n = flow.ranks;
  const auto moment = analysis::ring_moment(n, share);
  if (moment.step >= analysis::ring_steps(n)) return;
  std::vector<std::vector<ImVec2>> ways;
  std::vector<int> parts;
  for (int place = 0; place < n; ++place) {
    const auto at = static_cast<std::size_t>(place);
    ways.push_back(map.route(map.ring[at], map.ring[(at + 1) % map.ring.size()]));
    parts.push_back(analysis::part_sent(n, moment.step, place));
  }
  paint_parts_on(theme, map, ways, parts, moment.within);
}

// Pieces flow without end while the all-reduce runs; how many of them there are is not told.
void paint_stream(const Theme& theme, const GpuMap& map, const std::vector<ImVec2>& way,
                  double share) {
  if (way.empty()) return;
  constexpr double kTurns = 24;
  paint_way(theme, way);
  const double phase = share * kTurns - std::floor(share * kTurns);
  const float half = small_half(theme, map);
  paint_part(theme, along(way, static_cast<float>(phase), half + 1), half, -1);
}

// A tree of one node is a chain (nccl: src/graph/tuning.cc counts a hop for each of its GPUs).
void paint_tree(const Theme& theme, const GpuMap& map, double share) {
  for (std::size_t i = 1; i < map.ring.size(); ++i) {
    paint_stream(theme, map, map.route(map.ring[i], map.ring[i - 1]), share);
    paint_stream(theme, map, map.route(map.ring[i - 1], map.ring[i]), share);
  }
}

// Each GPU sends to the switch and gets sums back.
void paint_switch(const Theme& theme, const GpuMap& map, double share) {
  for (const GpuMap::Line& line : map.lines) {
    const ImVec2 from = line.points.front(), to = line.points.back();
    const float apart = theme.px(7);
    paint_stream(theme, map, {{from.x - apart, from.y}, {to.x - apart, to.y}}, share);
    paint_stream(theme, map, {{to.x + apart, to.y}, {from.x + apart, from.y}}, share);
  }
}

// ---- The legend --------------------------------------------------------------------------------

constexpr std::pair<const char*, GradientCell> kLegend[] = {
    {"not ready", {0, 1, 0, BucketState::kFilling}},
    {"ready", {0, 1, 1, BucketState::kFilling}},
    {"being summed", {0, 1, 1, BucketState::kRunning}},
    {"summed", {0, 1, 1, BucketState::kDone}}};
constexpr float kBetweenEntries = 16;

float entry_width(const Theme& theme, const char* words) {
  return theme.px(9 + 6) + text_size(theme.font.text, theme.size.label, words).x;
}

}  // namespace

void paint_cards(const Theme& theme, const GpuPicture& picture, const GradientFlow& flow,
                 Nanos time) {
  std::optional<CellGrid> grid;
  for (const GpuMap::Gpu& gpu : picture.map.gpus) paint_card(theme, picture, gpu, flow, time, grid);
}

void paint_traffic(const Theme& theme, const GpuMap& map, const GradientFlow& flow, Nanos time) {
  const BucketTimes* running = running_bucket(flow.at(time), time);
  if (!running || !map.shows_links || flow.ranks < 2) return;
  const double share = share_summed(*running, time);
  if (running->algorithm == "ring")
    paint_ring(theme, map, flow, share);
  else if (running->algorithm == "tree")
    paint_tree(theme, map, share);
  else if (running->algorithm == "NVLS")
    paint_switch(theme, map, share);
}

void paint_sends(const Theme& theme, const GpuMap& map, const std::vector<sim::ChunkSend>& sends,
                 double within) {
  std::vector<std::vector<ImVec2>> ways;
  std::vector<int> chunks;
  for (const sim::ChunkSend& send : sends) {
    ways.push_back(map.route(send.from, send.to));
    chunks.push_back(send.chunk);
  }
  paint_parts_on(theme, map, ways, chunks, within);
}

void paint_cell_legend(const Theme& theme, ImVec2 left_middle) {
  const CellColors colors = colors_of(theme);
  const float size = theme.size.label, edge = theme.px(9), y = left_middle.y;
  float x = left_middle.x;
  for (const auto& [words, cell] : kLegend) {
    paint_cell(theme, colors, cell, {{x, y - edge / 2}, {x + edge, y + edge / 2}});
    draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, size, x + edge + theme.px(6), y,
                     theme.muted, words);
    x += entry_width(theme, words) + theme.px(kBetweenEntries);
  }
}

float cell_legend_width(const Theme& theme) {
  float width = -theme.px(kBetweenEntries);
  for (const auto& [words, cell] : kLegend)
    width += entry_width(theme, words) + theme.px(kBetweenEntries);
  return width;
}

}  // namespace trainscope::ui
