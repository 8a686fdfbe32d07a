#include "report/paper_view.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace trainscope::report {
namespace {

// A side's lanes of which half a page can be read.
constexpr std::size_t kMostLanes = 7;

// ---- The axis ----------------------------------------------------------------------------------

double lead_share(const analysis::Measured& measured) {
  const auto whole = static_cast<double>(measured.whole.end - measured.whole.start);
  return static_cast<double>(measured.window.start - measured.whole.start) / std::max(whole, 1.0);
}

// All runs have steps, and before those of the longest one comes most of it.
bool is_mostly_lead(const std::vector<RunView>& views) {
  constexpr double kMost = 0.6;
  const analysis::Measured* longest = nullptr;
  for (const RunView& view : views) {
    const analysis::Measured& measured = view.run->facts.measured;
    if (measured.steps == 0 || view.run->ending) return false;
    if (!longest || measured.whole.end > longest->whole.end) longest = &measured;
  }
  return longest && lead_share(*longest) > kMost;
}

// When a GPU begins to work; where none does, the end.
Nanos first_work(const RunView& view) {
  Nanos first = view.index.end;
  const auto& lanes = view.run->trace->lanes();
  const std::size_t count = std::min<std::size_t>(lanes.size(), view.index.lanes.size());
  for (trace::LaneId id = 0; id < count; ++id)
    if (lanes[id].kind == trace::LaneKind::kStream && view.index.lanes[id].span_count > 0)
      first = std::min(first, view.index.lanes[id].start);
  return first;
}

// The first measured steps, as many as can be told apart, and before them what makes their first
// batches: of a warm-up that is not longer than they are, too.
void draw_steps_alone(const std::vector<RunView>& views, PaperView& paper) {
  constexpr int kSteps = 12;
  constexpr double kBefore = 0.5;  // of the time that is drawn of steps
  PictureView& picture = paper.picture;
  for (const RunView& view : views) {
    const analysis::Measured& measured = view.run->facts.measured;
    const int steps = std::min(measured.steps, kSteps);
    const auto window = static_cast<double>(measured.window.end - measured.window.start);
    const auto shown = static_cast<Nanos>(window / measured.steps * steps);
    const Nanos work = first_work(view), begun = measured.window.start;
    const Nanos from = work < begun && begun - work < shown ? work : begun;
    const auto before = static_cast<Nanos>(kBefore * static_cast<double>(shown));
    const Nanos start = std::max(view.index.start, from - before), end = begun + shown;
    const bool first = paper.steps == 0;
    picture.start = first ? start : std::min(picture.start, start);
    picture.end = first ? end : std::max(picture.end, end);
    paper.steps = std::max(paper.steps, steps);
  }
}

// ---- Lanes -------------------------------------------------------------------------------------

// All that the sheet says.
std::string text_of(const analysis::LessonSheet& sheet) {
  std::string all;
  for (const analysis::SheetStep& step : sheet.steps) {
    for (const std::string* text : {&step.text, &step.hint, &step.explain, &step.answer})
      all += *text + "\n";
    for (const analysis::SheetOption& option : step.options) all += option.text + "\n";
  }
  return all;
}

// "stream 7", and not as the beginning of "stream 70".
bool names(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); !name.empty() && at != text.npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (end >= text.size() || std::isalnum(static_cast<unsigned char>(text[end])) == 0) return true;
  }
  return false;
}

bool has_bars(const RunView& view, trace::LaneId lane) {
  return lane < view.index.lanes.size() && view.index.lanes[lane].span_count > 0;
}

// Where a GPU works first, then who makes it.
int rank_of(trace::LaneKind kind) {
  using trace::LaneKind;
  constexpr LaneKind kInOrder[] = {LaneKind::kStream, LaneKind::kHostThread, LaneKind::kCopyEngine,
                                   LaneKind::kLoader, LaneKind::kStaging,    LaneKind::kCollective};
  return static_cast<int>(std::ranges::find(kInOrder, kind) - std::begin(kInOrder));
}

// Lanes that are not named, the first of each kind before any second: of sixteen workers one tells
// as much as all.
void sort_by_kind(std::vector<trace::LaneId>& lanes, const trace::Trace& trace) {
  std::map<trace::LaneKind, int> before;
  std::map<trace::LaneId, int> nth;  // of its kind
  for (const trace::LaneId lane : lanes) nth[lane] = before[trace.lanes()[lane].kind]++;
  std::ranges::stable_sort(lanes, {}, [&](trace::LaneId lane) {
    return std::pair(nth[lane], rank_of(trace.lanes()[lane].kind));
  });
}

// Those that are left out, of one run.
std::vector<trace::LaneId> lanes_to_hide(const RunView& view, const std::string& text,
                                         const Speech& speech, PaperView& paper) {
  std::vector<trace::LaneId> named, others;
  const auto& lanes = view.run->trace->lanes();
  for (trace::LaneId id = 0; id < lanes.size(); ++id) {
    if (!has_bars(view, id)) continue;
    const std::string& name = lanes[id].name;
    (names(text, name) || names(text, speech.say_name(name)) ? named : others).push_back(id);
  }
  paper.lanes += named.size() + others.size();
  sort_by_kind(others, *view.run->trace);
  const std::size_t kept = std::min(kMostLanes - std::min(kMostLanes, named.size()), others.size());
  others.erase(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(kept));
  paper.left_out += others.size();
  return others;
}

}  // namespace

PaperView paper_view(const std::vector<RunView>& views, const analysis::LessonSheet& sheet,
                     const Speech& speech) {
  PaperView paper;
  if (is_mostly_lead(views)) draw_steps_alone(views, paper);
  const std::string text = text_of(sheet);
  for (const RunView& view : views)
    paper.picture.hidden.push_back(lanes_to_hide(view, text, speech, paper));
  return paper;
}

}  // namespace trainscope::report
