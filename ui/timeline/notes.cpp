#include "ui/timeline/notes.h"

#include <algorithm>
#include <map>

#include "base/units.h"
#include "ui/timeline/place.h"

namespace trainscope::ui {
namespace {

NoteFlag flag_of(const LaneNote& note, const LaneBox& box, const LayoutRequest& request,
                 const FlagSizes& sizes) {
  const double scale = request.width / static_cast<double>(std::max<Nanos>(
                                           request.view_end - request.view_start, 1));
  const auto x = [&](Nanos time) {
    const double at = static_cast<double>(time - request.view_start) * scale;
    return static_cast<float>(std::clamp(at, 0.0, static_cast<double>(request.width)));
  };
  NoteFlag flag;
  flag.from = x(note.start);
  flag.to = x(note.end);
  flag.lane_top = box.y;
  flag.lane_bottom = box.y + box.height;
  flag.pinned = box.pinned;
  flag.x = std::min(flag.from, request.width - sizes.least);
  flag.y = box.y + 1;
  flag.height = std::min(sizes.height, box.height - 2);
  return flag;
}

// From left to right flags push those after them on; at the right edge they are pushed back.
void set_apart(std::vector<NoteFlag*>& flags, float width, const FlagSizes& sizes) {
  const float step = sizes.least + sizes.gap;
  for (std::size_t i = 1; i < flags.size(); ++i)
    flags[i]->x = std::max(flags[i]->x, flags[i - 1]->x + step);
  float most = width - sizes.least;
  for (std::size_t i = flags.size(); i-- > 0; most -= step)
    flags[i]->x = std::max(0.0F, std::min(flags[i]->x, most));
}

void write(std::vector<NoteFlag*>& flags, const std::vector<LaneNote>& notes, float width,
           const FlagSizes& sizes) {
  for (std::size_t i = 0; i < flags.size(); ++i) {
    NoteFlag& flag = *flags[i];
    const float end = i + 1 < flags.size() ? flags[i + 1]->x - sizes.gap : width;
    const float room = end - flag.x - 2 * sizes.pad;
    const std::string& text = notes[flag.note].text;
    if (room >= 2 * sizes.least) flag.shown = sizes.cut(text, room);
    flag.width = flag.shown.empty() ? sizes.least : sizes.text_width(flag.shown) + 2 * sizes.pad;
  }
}

}  // namespace

std::string note_place_words(const trace::Trace& trace, const LaneNote& note) {
  std::string words = note.lane < trace.lanes().size() ? trace.lanes()[note.lane].name + ", " : "";
  words += format_nanos(static_cast<double>(note.start));
  if (note.end > note.start) words += " to " + format_nanos(static_cast<double>(note.end));
  return words;
}

std::vector<NoteFlag> note_flags(const TimelineLayout& layout, const std::vector<LaneNote>& notes,
                                 const LayoutRequest& request, const FlagSizes& sizes) {
  std::vector<NoteFlag> flags;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (notes[i].end < request.view_start || notes[i].start > request.view_end) continue;
    const LaneBox* box = lane_box(layout, notes[i].lane);
    if (!box) continue;
    flags.push_back(flag_of(notes[i], *box, request, sizes));
    flags.back().note = i;
  }
  std::map<trace::LaneId, std::vector<NoteFlag*>> lanes;
  for (NoteFlag& flag : flags) lanes[notes[flag.note].lane].push_back(&flag);
  for (auto& [lane, of_lane] : lanes) {
    std::stable_sort(of_lane.begin(), of_lane.end(), [&](const NoteFlag* a, const NoteFlag* b) {
      return notes[a->note].start < notes[b->note].start;
    });
    set_apart(of_lane, request.width, sizes);
    write(of_lane, notes, request.width, sizes);
  }
  return flags;
}

const NoteFlag* flag_at(const TimelineLayout& layout, const std::vector<NoteFlag>& flags, float x,
                        float y) {
  const bool pinned = y >= layout.pinned_top && y < layout.pinned_bottom;
  for (const NoteFlag& flag : flags)
    if (flag.pinned == pinned && x >= flag.x && x < flag.x + flag.width && y >= flag.y &&
        y < flag.y + flag.height)
      return &flag;
  return nullptr;
}

}  // namespace trainscope::ui
