#include "ui/panels/gpus/chunk_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "ui/panels/gpus/gpu_paint.h"

namespace trainscope::ui {
namespace {

using analysis::ChunkCell;
using analysis::ChunkTable;
using analysis::WalkedCollective;
using analysis::WalkMoment;
using trace::Category;

std::string op_name(program::CollectiveKind kind) {
  std::string name(program::name_of(kind));
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

WalkMoment moment(const WalkView& view) {
  return moment_of(view.walk.at(view.time), *view.walk.schedule, view.time);
}

// Whether what is sent has the number of a slice: then it is one of more than are shown.
bool is_sliced(const WalkView& view) {
  const WalkedCollective& one = view.walk.at(view.time);
  return one.algorithm == "tree" || one.kind == program::CollectiveKind::kBroadcast ||
         one.kind == program::CollectiveKind::kReduce;
}

void words_in(const Theme& theme, const Box& box, float y, const std::vector<std::string>& ways,
              Color color, float size) {
  if (ways.empty()) return;
  const auto fits = [&](const std::string& words) {
    return text_size(theme.font.text, size, words).x <= box.width();
  };
  const auto found = std::find_if(ways.begin(), ways.end(), fits);
  const std::string words =
      found != ways.end() ? *found : shortened(theme.font.text, size, ways.back(), box.width());
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, size, box.min.x, y, color, words);
}

// ---- Cells -------------------------------------------------------------------------------------

struct CellLook {
  Color ground, text;
};

CellLook look_of(const Theme& theme, const ChunkCell& cell, int ranks) {
  const CategoryStyle& sum = theme.of(Category::kCollective);
  if (cell.whole) return {sum.fill, sum.text};
  const Color own = mixed(theme.panel, theme.faint, theme.is_dark() ? 0.24F : 0.18F);
  if (cell.of.size() <= 1) return {own, theme.text};
  const float share = static_cast<float>(cell.of.size()) / static_cast<float>(ranks);
  return {mixed(own, sum.line, 0.12F + 0.34F * share), theme.text};
}

// Whose numbers are in it: "0+1+2", or how many where that is too long.
std::string sum_of(const Theme& theme, const ChunkCell& cell, int ranks, float width) {
  const std::string all = fmt::format("{}", fmt::join(cell.of, "+"));
  const std::string count = fmt::format("{} of {}", cell.of.size(), ranks);
  const auto fits = [&](const std::string& words) {
    return text_size(theme.font.mono, theme.size.label, words).x <= width - theme.px(6);
  };
  return fits(all) ? all : fits(count) ? count : "";
}

void paint_cell(const Theme& theme, const Box& box, const ChunkCell& cell, int ranks) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float corner = theme.px(3);
  const CellLook look = look_of(theme, cell, ranks);
  draw->AddRectFilled(box.min, box.max, look.ground, corner);
  if (cell.coming)
    draw_hatch(draw, box, faded(theme.of(Category::kCollective).line, 0.55F), theme.px(6),
               theme.px(1));
  if (cell.sent)
    draw->AddRect({box.min.x + 1, box.min.y + 1}, {box.max.x - 1, box.max.y - 1}, theme.accent,
                  corner, theme.px(2));
  const bool two = box.height() >= theme.px(34);
  const std::string of = two ? sum_of(theme, cell, ranks, box.width()) : "";
  const float middle = box.centre().y;
  const std::string number = std::to_string(cell.number);
  const float y = of.empty() ? middle : middle - theme.px(7);
  if (cell.coming) {  // a ground for the number, so that the hatch does not cross it
    const ImVec2 size = text_size(theme.font.mono, theme.size.small, number);
    draw->AddRectFilled({box.centre().x - size.x / 2 - theme.px(3), y - size.y / 2},
                        {box.centre().x + size.x / 2 + theme.px(3), y + size.y / 2}, look.ground,
                        theme.px(2));
  }
  draw_text_middle(draw, theme.font.mono, theme.size.small, box.centre().x, y, look.text, number,
                   0.5F);
  if (!of.empty())
    draw_text_middle(draw, theme.font.mono, theme.size.label, box.centre().x, middle + theme.px(9),
                     cell.whole ? look.text : theme.muted, of, 0.5F);
}

// ---- The table ---------------------------------------------------------------------------------

struct Grid {
  float left = 0, top = 0;  // of the first cell
  float wide = 0, tall = 0;
  bool fits = false;
};

Grid grid_in(const Theme& theme, const Box& box, const ChunkTable& table) {
  const auto rows = static_cast<float>(table.cells.size());
  const auto columns = static_cast<float>(table.cells.front().size());
  Grid grid;
  grid.left = box.min.x + theme.px(50);
  grid.top = box.min.y + theme.px(20);
  grid.wide = std::min((box.max.x - grid.left) / columns, theme.px(92));
  grid.tall = std::min((box.max.y - grid.top) / rows, theme.px(44));
  grid.fits = grid.wide >= theme.px(20) && grid.tall >= theme.px(13);
  return grid;
}

void paint_table(const WalkView& view, const Box& box, const ChunkTable& table) {
  const Theme& theme = view.theme;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Grid grid = grid_in(theme, box, table);
  if (!grid.fits) {
    words_in(theme, box, box.min.y + theme.px(20),
             {"too many GPUs for a table of numbers in this room", "no room for the numbers"},
             theme.muted, theme.size.small);
    return;
  }
  const auto ranks = static_cast<int>(table.cells.size());
  const std::string word = is_sliced(view) ? "slice " : "chunk ";
  for (std::size_t chunk = 0; chunk < table.cells.front().size(); ++chunk) {
    const float x = grid.left + grid.wide * (static_cast<float>(chunk) + 0.5F);
    const std::string all = word + std::to_string(chunk);
    const bool whole =
        text_size(theme.font.text, theme.size.label, all).x < grid.wide - theme.px(4);
    draw_text_middle(draw, theme.font.text, theme.size.label, x, box.min.y + theme.px(9),
                     theme.muted, whole ? all : std::to_string(chunk), 0.5F);
  }
  for (std::size_t rank = 0; rank < table.cells.size(); ++rank) {
    const float y = grid.top + grid.tall * static_cast<float>(rank);
    draw_text_middle(draw, theme.font.text, theme.size.label, box.min.x, y + grid.tall / 2,
                     theme.text, fmt::format("GPU {}", rank));
    for (std::size_t chunk = 0; chunk < table.cells[rank].size(); ++chunk) {
      const float x = grid.left + grid.wide * static_cast<float>(chunk);
      const float gap = theme.px(3);
      paint_cell(theme,
                 {{std::round(x), std::round(y)},
                  {std::round(x + grid.wide - gap), std::round(y + grid.tall - gap)}},
                 table.cells[rank][chunk], ranks);
    }
  }
}

// `table`: also what is sent and comes, which only cells show.
void paint_legend(const Theme& theme, const Box& box, int ranks, bool table) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const auto cell = [](std::size_t of, bool sent, bool coming, bool whole) {
    ChunkCell one;
    one.of.assign(of, 0);
    one.sent = sent;
    one.coming = coming;
    one.whole = whole;
    return one;
  };
  const std::pair<const char*, ChunkCell> entries[] = {
      {"its own", cell(1, false, false, false)},
      {"a part of the sum", cell(static_cast<std::size_t>(ranks), false, false, false)},
      {"all of it", cell(1, false, false, true)},
      {"is sent", cell(1, true, false, false)},
      {"gets one", cell(1, false, true, false)}};
  const float size = theme.size.label, edge = theme.px(11), y = box.centre().y;
  float x = box.min.x;
  for (const auto& [words, one] : entries) {
    if (!table && (one.sent || one.coming)) return;
    const float wide = edge + theme.px(6) + text_size(theme.font.text, size, words).x;
    if (x + wide > box.max.x) return;
    const Box at{{x, y - edge / 2}, {x + edge, y + edge / 2}};
    draw->AddRectFilled(at.min, at.max, look_of(theme, one, ranks).ground, theme.px(2));
    if (one.coming)
      draw_hatch(draw, at, faded(theme.of(Category::kCollective).line, 0.9F), theme.px(4),
                 theme.px(1));
    if (one.sent) draw->AddRect(at.min, at.max, theme.accent, theme.px(2), theme.px(1.5F));
    draw_text_middle(draw, theme.font.text, size, x + edge + theme.px(6), y, theme.muted, words);
    x += wide + theme.px(14);
  }
}

constexpr float kNumbersFoot = 22;  // for the legend

bool has_room_for_numbers(const WalkView& view, const Box& box) {
  const ChunkTable table = analysis::chunk_table(*view.walk.schedule, moment(view).steps_over);
  const Box cells{box.min, {box.max.x, box.max.y - view.theme.px(kNumbersFoot)}};
  return grid_in(view.theme, cells, table).fits;
}

void draw_numbers(const WalkView& view, const Box& box) {
  const Theme& theme = view.theme;
  const ChunkTable table = analysis::chunk_table(*view.walk.schedule, moment(view).steps_over);
  const float foot = theme.px(kNumbersFoot);
  paint_table(view, {box.min, {box.max.x, box.max.y - foot}}, table);
  paint_legend(theme, {{box.min.x, box.max.y - foot + theme.px(4)}, box.max},
               view.walk.schedule->ranks, true);
}

// ---- The GPUs ----------------------------------------------------------------------------------

// Of a chunk: the share of the GPUs whose numbers are in it.
double share_of(const ChunkCell& cell, std::size_t ranks) {
  return cell.whole ? 1 : static_cast<double>(cell.of.size()) / static_cast<double>(ranks);
}

double share_of(const std::vector<ChunkCell>& cells, std::size_t ranks) {
  double all = 0;
  for (const ChunkCell& cell : cells) all += share_of(cell, ranks);
  return all / static_cast<double>(std::max<std::size_t>(cells.size(), 1));
}

// A bar a chunk, as high as its share; one for all where they are too many to be told apart.
void paint_bars(const Theme& theme, const Box& box, const std::vector<ChunkCell>& cells,
                std::size_t ranks) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Color sum = theme.of(Category::kCollective).fill;
  const bool single = box.width() < 2.5F * static_cast<float>(cells.size());
  const std::size_t count = single ? 1 : cells.size();
  const float each = box.width() / static_cast<float>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float left = std::round(box.min.x + each * static_cast<float>(i));
    const float right = std::round(box.min.x + each * static_cast<float>(i + 1)) - 1;
    const double share = single ? share_of(cells, ranks) : share_of(cells[i], ranks);
    const float top = box.max.y - std::round(box.height() * static_cast<float>(share));
    draw->AddRectFilled({left, box.min.y}, {right, box.max.y},
                        mixed(theme.panel, theme.faint, 0.22F));
    draw->AddRectFilled({left, top}, {right, box.max.y},
                        share >= 1 ? sum : mixed(theme.card, sum, 0.62F));
  }
}

void paint_gpu(const Theme& theme, const CardLook& look, const GpuMap::Gpu& gpu,
               const ChunkTable& table) {
  const auto& cells = table.cells[static_cast<std::size_t>(gpu.number)];
  const std::size_t ranks = table.cells.size();
  if (look.is_small())
    return paint_small_card(theme, look, gpu, card_edge(theme),
                            theme.of(Category::kCollective).fill, share_of(cells, ranks));
  paint_bars(theme, paint_card_frame(theme, look, gpu, card_edge(theme)), cells, ranks);
}

void draw_gpus(const WalkView& view, const Box& box) {
  const Theme& theme = view.theme;
  const WalkMoment now = moment(view);
  const ChunkTable table = analysis::chunk_table(*view.walk.schedule, now.steps_over);
  const GpuPicture picture = gpu_picture(theme, view.topology, view.ring, box);
  paint_ground(theme, picture);
  for (const GpuMap::Gpu& gpu : picture.map.gpus) paint_gpu(theme, picture.look, gpu, table);
  if (now.running) paint_sends(theme, picture.map, table.moves, now.within);
  paint_bar_names(theme, picture.map);
}

std::vector<std::string> bytes_words(const WalkView& view) {
  const WalkedCollective& one = view.walk.at(view.time);
  const auto bytes = analysis::link_bytes(*view.walk.schedule, one.bytes, moment(view).steps_over);
  const std::string of = fmt::format("{} of {}", format_bytes(bytes.sent), format_bytes(bytes.all));
  const std::string buffer = format_bytes(static_cast<double>(one.bytes));
  if (is_sliced(view))
    return {fmt::format("over the busiest link so far {}; drawn with {} slices of many more", of,
                        view.walk.schedule->chunks),
            fmt::format("over a link so far {}; drawn with few slices", of), of};
  return {fmt::format("over each link so far {}, for a buffer of {}", of, buffer),
          fmt::format("over each link so far {}", of), of};
}

void draw_without_chunks(const WalkView& view, const Box& box) {
  words_in(view.theme, box, box.centre().y,
           {"NVLS: the switch adds, and no chunk goes from GPU to GPU; write collective.algorithm "
            "= ring to see one",
            "NVLS: the switch adds; choose ring or tree to see chunks",
            "the switch adds; choose ring or tree"},
           view.theme.muted, view.theme.size.small);
}

}  // namespace

std::vector<std::string> walk_title(const WalkView& view, const std::string& machine) {
  const WalkedCollective& one = view.walk.at(view.time);
  const std::string what = op_name(one.kind),
                    how = one.algorithm + (one.protocol.empty() ? "" : ", ") + one.protocol;
  return {fmt::format("{}, {} GPUs of {}: {}", what, one.ranks, machine, how),
          fmt::format("{}, {} GPUs: {}", what, one.ranks, how), fmt::format("{}: {}", what, how),
          what};
}

std::vector<std::string> step_words(const WalkView& view) {
  const analysis::ChunkTable table =
      analysis::chunk_table(*view.walk.schedule, moment(view).steps_over);
  if (table.steps_over >= table.steps) return {"done: every GPU has what it should have", "done"};
  const std::string step = fmt::format("step {} of {}", table.steps_over + 1, table.steps);
  const bool copies = std::any_of(table.moves.begin(), table.moves.end(),
                                  [](const auto& move) { return !move.reduces; });
  const char* does = table.adds && copies ? "sums go up and come down"
                     : table.adds         ? "each receiver adds what comes to its own"
                                          : "each receiver keeps what comes";
  return {fmt::format("{}: {}", step, does), step};
}

namespace {

// Where there is no room for words below the GPUs; nor, at last, for these.
void draw_low(const WalkView& view, const Box& box, bool numbers) {
  const Theme& theme = view.theme;
  if (!numbers && box.height() >= theme.px(50)) return draw_gpus(view, box);
  words_in(theme, box, box.min.y + theme.px(10), step_words(view), theme.text, theme.size.small);
}

}  // namespace

void draw_walk(const WalkView& view, const Box& box, bool numbers) {
  const Theme& theme = view.theme;
  if (!view.walk.schedule) return draw_without_chunks(view, box);
  const bool low = box.height() < theme.px(150);  // then what is below is one line
  const float line = theme.px(19), foot = (low ? 1 : 2) * line + theme.px(4);
  const Box area{box.min, {box.max.x, box.max.y - foot - theme.px(4)}};
  if (area.height() < theme.px(50)) return draw_low(view, box, numbers);
  const float gap = theme.px(26);
  const float table = std::clamp(box.width() * 0.52F, theme.px(300), theme.px(760));
  const Box beside{{box.max.x - table, box.min.y}, box.max};
  Box words = box;
  if (box.width() < theme.px(560)) {
    numbers ? draw_numbers(view, area) : draw_gpus(view, area);
  } else if (!has_room_for_numbers(view, beside)) {
    draw_gpus(view, area);
    words.max.x = beside.min.x - gap;
    paint_legend(theme, {{beside.min.x, area.max.y + theme.px(4)}, box.max},
                 view.walk.schedule->ranks, false);
  } else {
    words.max.x -= table + gap;
    draw_gpus(view, {area.min, {words.max.x, area.max.y}});
    draw_numbers(view, beside);
  }
  const float first = box.max.y - foot + line / 2;
  words_in(theme, words, first, step_words(view), theme.text, theme.size.small);
  if (!low) words_in(theme, words, first + line, bytes_words(view), theme.muted, theme.size.label);
}

}  // namespace trainscope::ui
