#include "ui/panels/memory/copy_path.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "ui/panels/memory/copy_path_paint.h"

namespace trainscope::ui {
namespace {

using analysis::CopyPath;
using analysis::PathPlace;
using analysis::PathState;
using analysis::Way;
using trace::Category;

// What both sides show, so that their boxes stand under each other.
struct Shape {
  bool loads = false;
  bool both_ways = false;
  bool stacked = false;  // boxes under each other: there is no room beside each other
};

std::string bytes_words(std::int64_t bytes) {
  return format_bytes(static_cast<double>(bytes));
}

float share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<float>(static_cast<double>(part) / static_cast<double>(whole)) : 0;
}

PlaceBox place_box(const char* title, const char* brief, Color fill) {
  PlaceBox box;
  box.title = title;
  box.brief = brief;
  box.fill = fill;
  return box;
}

// Nothing is known of it.
PlaceBox empty_box(const char* title, const char* words) {
  PlaceBox box;
  box.title = title;
  box.words = words;
  box.used = false;
  return box;
}

PlaceBox loader_box(const Theme& theme, const PathState& state) {
  PlaceBox box = place_box("disk, loader", "loader", theme.of(Category::kLoader).fill);
  box.used = state.loads;
  if (!state.loads) {
    box.words = "no loader";
    return box;
  }
  box.words = state.loading.empty() ? "rests" : state.loading.front().name;
  if (state.loading.size() > 1) box.words += fmt::format(" and {} more", state.loading.size() - 1);
  for (const analysis::PathLoad& load : state.loading) box.level += static_cast<float>(load.done);
  if (!state.loading.empty()) {
    box.level /= static_cast<float>(state.loading.size());
    box.figure = fmt::format("{:.0f} %", 100 * box.level);
  }
  return box;
}

// Memory of the host: what waits in it to go on or, where nothing goes on, what has come back.
PlaceBox memory_box(const char* title, const char* brief, Color fill, const PathPlace& place) {
  PlaceBox box = place_box(title, brief, fill);
  box.used = place.used;
  if (!place.used) {
    box.words = "not on this path";
    return box;
  }
  const bool outward = place.most > 0;
  box.figure = bytes_words(outward ? place.bytes : place.arrived);
  box.level = outward ? share_of(place.bytes, place.most) : share_of(place.arrived, place.due);
  box.words = outward ? (place.holds.empty() ? "empty" : "to go: " + place.holds)
                      : "of " + bytes_words(place.due) + " back";
  return box;
}

// The staging buffers of pageable copies, or page-locked memory; a run may use both, and then the
// one with bytes in it is shown.
void draw_pinned(const Theme& theme, const Box& box, const PathState& state, int buffers) {
  const bool staged = state.staging.used && (!state.pinned.used || state.staging.bytes > 0);
  if (staged && !state.staging_shown) {
    PlaceBox hidden = empty_box("driver's staging", "not shown by the tracer");
    return paint_place(theme, box, hidden);
  }
  if (!staged)
    return paint_place(
        theme, box,
        memory_box("pinned memory", "pinned", theme.of(Category::kPin).fill, state.pinned));
  PlaceBox place = place_box("driver's staging", "staging", theme.of(Category::kStaging).fill);
  place.figure = bytes_words(state.staging.bytes);
  place.words = state.chunks.empty() ? "empty" : "chunks of " + state.staging.holds;
  paint_buffers(theme, box, place, state.chunks, buffers);
}

PlaceBox device_box(const Theme& theme, const PathState& state) {
  const auto& out = state.link(Way::kToDevice);
  const auto& back = state.link(Way::kToHost);
  PlaceBox box = place_box("device memory", "device", theme.of(Category::kCopyH2D).fill);
  if (out.used) {
    box.figure = bytes_words(state.device.arrived);
    box.level = share_of(state.device.arrived, state.device.due);
    box.words = fmt::format("of {} here, {} of {} copies done", bytes_words(state.device.due),
                            out.done, out.count);
    box.fewer_words = fmt::format("{} of {} copies done", out.done, out.count);
    return box;
  }
  box.fill = theme.of(Category::kCopyD2H).fill;
  box.figure = bytes_words(state.device.bytes);
  box.level = share_of(back.total - back.carried, back.total);
  box.words = fmt::format("{} of {} copies have left", back.done, back.count);
  return box;
}

// Where everything of one side stands.
struct Places {
  Box loader, pageable, pinned, link, device, threads;
  std::vector<std::pair<ImVec2, ImVec2>> steps;
};

void add_step(Places& places, const Box& from, const Box& to, float gap, bool down) {
  if (down)
    places.steps.push_back(
        {{from.centre().x, from.max.y + gap}, {from.centre().x, to.min.y - gap}});
  else
    places.steps.push_back({{from.max.x + gap, from.centre().y}, {to.min.x - gap, to.centre().y}});
}

Places places_beside(const Theme& theme, const Box& room, const Shape& shape) {
  Places places;
  const float thread = theme.px(20), gap = theme.px(26);
  const float height =
      std::min(room.height() - thread - theme.px(6), theme.px(shape.both_ways ? 112 : 92));
  const float shares[] = {shape.loads ? 0.9F : 0.0F, 1.0F, 1.1F, 1.7F, 1.25F};
  float sum = 0;
  int count = 0;
  for (const float share : shares) sum += share, count += share > 0 ? 1 : 0;
  const float unit = (room.width() - static_cast<float>(count - 1) * gap) / sum;
  Box* const boxes[] = {&places.loader, &places.pageable, &places.pinned, &places.link,
                        &places.device};
  float x = room.min.x;
  const Box* last = nullptr;
  for (int i = 0; i < 5; ++i) {
    if (shares[i] <= 0) continue;
    *boxes[i] = {{std::round(x), room.min.y},
                 {std::round(x + unit * shares[i]), room.min.y + height}};
    if (last) add_step(places, *last, *boxes[i], theme.px(4), false);
    last = boxes[i];
    x += unit * shares[i] + gap;
  }
  const float top = room.min.y + height + theme.px(6);
  places.threads = {{room.min.x, top}, {room.max.x, top + thread}};
  return places;
}

Places places_stacked(const Theme& theme, const Box& room, const Shape& shape) {
  Places places;
  const float gap = theme.px(12), height = theme.px(46);
  float y = room.min.y;
  const Box* last = nullptr;
  const auto place = [&](Box& box, float tall) {
    box = {{room.min.x, y}, {room.max.x, y + tall}};
    if (last) add_step(places, *last, box, theme.px(1), true);
    last = &box;
    y += tall + gap;
  };
  if (shape.loads) place(places.loader, height);
  place(places.pageable, height);
  place(places.pinned, height);
  place(places.link, shape.both_ways ? 2 * height : height);
  place(places.device, height);
  places.threads = {{room.min.x, y - gap / 2}, {room.max.x, y - gap / 2 + theme.px(20)}};
  return places;
}

float stacked_height(const Theme& theme, const Shape& shape) {
  const float boxes = 4.0F + (shape.loads ? 1 : 0) + (shape.both_ways ? 1 : 0);
  return boxes * theme.px(58) + theme.px(55);
}

// The training thread, and what other thread takes part: beside each other, or in two rows.
void draw_threads(const Theme& theme, const Box& box, const PathState& state, bool stacked) {
  std::vector<const analysis::PathThread*> shown;
  for (const analysis::PathThread& thread : state.threads)
    if (shown.empty() || !thread.doing.empty() || state.threads.size() == 2)
      if (shown.size() < 2) shown.push_back(&thread);
  const float gap = theme.px(20), row = box.height() + theme.px(5);
  const auto count = static_cast<float>(stacked ? 1 : std::max<std::size_t>(shown.size(), 1));
  const float width = (box.width() + gap) / count - gap;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto n = static_cast<float>(i);
    const float left = box.min.x + (stacked ? 0 : n * (width + gap));
    const float down = stacked ? n * row : 0;
    paint_thread(theme, {{left, box.min.y + down}, {left + width, box.max.y + down}}, *shown[i]);
  }
}

void draw_state(const Theme& theme, const Box& room, const Shape& shape, const PathState& state,
                int buffers) {
  const Places places =
      shape.stacked ? places_stacked(theme, room, shape) : places_beside(theme, room, shape);
  const bool forth = state.link(Way::kToDevice).used, back = state.link(Way::kToHost).used;
  for (const auto& [from, to] : places.steps) paint_step(theme, from, to, forth, back && !forth);
  if (shape.loads) paint_place(theme, places.loader, loader_box(theme, state));
  paint_place(
      theme, places.pageable,
      memory_box("pageable memory", "pageable", theme.of(Category::kLoader).fill, state.pageable));
  draw_pinned(theme, places.pinned, state, buffers);
  paint_links(theme, places.link, state, shape.both_ways);
  paint_place(theme, places.device, device_box(theme, state));
  draw_threads(theme, places.threads, state, shape.stacked);
}

void words_in(const Theme& theme, const Box& room, const std::string& words) {
  const float size = theme.size.small;
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, size, room.centre().x,
                   room.centre().y, theme.muted,
                   shortened(theme.font.text, size, words, room.width() - theme.px(16)), 0.5F);
}

// The path without a word on what goes over it: the same for every run.
void draw_unknown(const Theme& theme, const Box& room, bool stacked) {
  Shape shape;
  shape.stacked = stacked;
  const Places places =
      stacked ? places_stacked(theme, room, shape) : places_beside(theme, room, shape);
  const std::pair<const Box*, const char*> boxes[] = {{&places.pageable, "pageable memory"},
                                                      {&places.pinned, "pinned memory"},
                                                      {&places.link, "PCIe"},
                                                      {&places.device, "device memory"}};
  for (const auto& [box, title] : boxes) {
    PlaceBox place = empty_box(title, "?");
    paint_place(theme, *box, place);
  }
}

const CopyPath* path_of(CopyPathPanel& panel, std::size_t number, const SideModel& side) {
  if (!side.run) return nullptr;
  if (panel.runs[number] != side.run) {
    panel.runs[number] = side.run;
    panel.paths[number] = std::make_shared<CopyPath>(*side.run->trace, side.run->program.get(),
                                                     side.run->machine.get());
  }
  return panel.paths[number].get();
}

bool is_known(const Workspace& workspace) {
  return workspace.revealed() && !workspace.hides("copy-path") && !workspace.hides("timeline");
}

std::string side_words(const SideModel& side, const CopyPath* path) {
  if (!side.error.empty()) return "This side did not run: " + side.error;
  if (!path) return side.busy ? "This side is running." : "This side has not run.";
  if (path->empty()) return "This run copies nothing between host and device.";
  return "";
}

Shape shape_of(const std::vector<std::pair<const CopyPath*, PathState>>& sides, bool stacked) {
  Shape shape;
  shape.stacked = stacked;
  bool out = false, back = false;
  for (const auto& [path, state] : sides) {
    if (!path) continue;
    shape.loads |= state.loads;
    out |= state.link(Way::kToDevice).used;
    back |= state.link(Way::kToHost).used;
  }
  shape.both_ways = out && back;
  return shape;
}

// Above each other; beside each other where that is wide and low.
std::vector<Box> share_room(const Theme& theme, const Box& room, std::size_t sides, bool stacked,
                            const Shape& shape) {
  const float gap = theme.px(stacked ? 16 : 10);
  const float least = theme.px(shape.both_ways ? 100 : 64);
  const bool beside =
      sides == 2 && !stacked && room.width() > theme.px(1500) && room.height() < 2 * least + gap;
  std::vector<Box> boxes;
  const auto count = static_cast<float>(sides);
  const float width = beside ? (room.width() - theme.px(30)) / 2 : room.width();
  float height = beside ? room.height() : (room.height() - gap * (count - 1)) / count;
  if (stacked) height = stacked_height(theme, shape);
  height = std::max(height, least);
  for (std::size_t i = 0; i < sides; ++i) {
    const auto n = static_cast<float>(i);
    const float x = room.min.x + (beside ? n * (width + theme.px(30)) : 0);
    const float y = room.min.y + (beside ? 0 : n * (height + gap));
    boxes.push_back({{x, y}, {x + width, y + height}});
  }
  return boxes;
}

void draw_sides(const PanelContext& context, CopyPathPanel& panel) {
  const Theme& theme = context.theme;
  const auto& sides = context.workspace.sides();
  const bool known = is_known(context.workspace);
  const ImVec2 at = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  const float pad = theme.px(12);
  const Box room{{at.x + pad, at.y + theme.px(9)},
                 {at.x + size.x - pad, at.y + size.y - theme.px(5)}};
  // In large type words give way before both sides cannot be seen together.
  const bool stacked = room.width() < theme.px(theme.large ? 520 : 720);
  std::vector<std::pair<const CopyPath*, PathState>> states;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const CopyPath* path = known ? path_of(panel, i, sides[i]) : nullptr;
    const Nanos time = playhead_of(context.workspace, i);
    states.emplace_back(path, path ? path->at(time) : PathState{});
  }
  const Shape shape = shape_of(states, stacked);
  const std::vector<Box> boxes = share_room(theme, room, sides.size(), stacked, shape);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    Box box = boxes[i];
    if (sides.size() > 1) {
      const float mark = theme.px(std::min(box.height(), theme.px(70)) / 2 / theme.scale);
      draw_side_mark(ImGui::GetWindowDrawList(), theme, {box.min.x, box.min.y + mark},
                     i == 0 ? 'A' : 'B', i == 0);
      box.min.x += theme.px(38);
    }
    const std::string words = known ? side_words(sides[i], states[i].first) : "";
    if (!known)
      draw_unknown(theme, box, stacked);
    else if (!words.empty())
      words_in(theme, box, words);
    else
      draw_state(theme, box, shape, states[i].second,
                 sides[i].run->machine ? sides[i].run->machine->host.staging_buffers : 2);
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({size.x, boxes.empty() ? 0 : boxes.back().max.y - at.y});
}

}  // namespace

void draw_copy_path(const PanelContext& context, CopyPathPanel& panel, const char* name,
                    const char* beside, bool* open) {
  // A layout that was saved before this panel was there.
  if (const ImGuiWindow* other = ImGui::FindWindowByName(beside); other && other->DockId != 0)
    ImGui::SetNextWindowDockID(other->DockId, ImGuiCond_FirstUseEver);
  PanelOptions options;
  options.open = open;
  options.padded = false;
  const bool known = is_known(context.workspace);
  options.secondary =
      known ? "at t = " + format_nanos(static_cast<double>(context.workspace.playhead.time))
            : "after the run";
  if (begin_panel(context, name, options)) draw_sides(context, panel);
  end_panel();
}

}  // namespace trainscope::ui
