#include "ui/panels/timelines/timelines.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "machine/architecture.h"
#include "program/idle_knobs.h"
#include "program/shown_knob.h"
#include "sim/sm_lanes.h"
#include "ui/app/lesson/room_view.h"
#include "ui/app/views/knob_words.h"
#include "ui/app/views/left_out.h"
#include "ui/app/views/machine_words.h"
#include "ui/app/views/moment.h"
#include "ui/panels/timelines/side_lanes.h"
#include "ui/panels/timelines/side_marks.h"
#include "ui/panels/timelines/side_notes.h"
#include "ui/panels/timelines/timeline_head.h"
#include "ui/panels/timelines/timeline_tools.h"
#include "ui/panels/window/controls.h"
#include "ui/panels/window/running.h"

namespace trainscope::ui {
namespace {

constexpr std::size_t kMostGaps = 400;
constexpr std::size_t kMostRows = 4;      // of a lane, where there is little room
constexpr std::size_t kRowsThatFit = 34;  // of all lanes

// "44,666"
std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// The side's spans may be seen: after the reveal, or while the lesson's own run goes on.
bool shows_spans(const Workspace& workspace, const SideModel& side) {
  if (!side.view || workspace.hides("timeline")) return false;
  const LessonModel* lesson = workspace.lesson();
  return workspace.revealed() || (lesson && lesson->run_asked);
}

// "steps=20  loader.pin_memory=True  straggler.rank=-1 (none)"
std::string knob_words(const std::vector<std::string>& names, const program::Config& config) {
  std::string words;
  for (const std::string& name : names) {
    if (name == "machine") continue;  // it is said as the origin
    if (!words.empty()) words += "  ";
    words += name + "=" + program::shown_knob(config, name);
    const std::string word = word_of(program::find_knob(name), config.value(name));
    if (!word.empty()) words += " (" + word + ")";
  }
  return words;
}

std::vector<std::string> set_knobs(const program::Config& config) {
  std::vector<std::string> names;
  for (const program::Knob& knob : program::knobs())
    if (config.is_set(knob.name)) names.push_back(knob.name);
  return names;
}

// The knobs in which the sides differ, as the strip shows them; of one run those that are set; of a
// trace what it says of itself.
std::string config_words(const Workspace& workspace, std::size_t number) {
  const auto& sides = workspace.sides();
  if (sides.size() < 2) {
    const SideModel& side = sides[number];
    if (side.file.empty() && side.run && side.run->program)
      return knob_words(set_knobs(side.config), side.config);
    return side.view ? side.view->trace->origin().subject : side.file.filename().string();
  }
  // What was read from a file has no knobs, and the other side none that differ from it.
  for (const SideModel& side : sides)
    if (side.run && !side.run->program)
      return sides[number].run ? sides[number].run->trace->origin().subject : "";
  if (workspace.hides_differences()) return "";
  // What changes nothing here is the other side's.
  std::vector<std::string> names = program::differing_knobs(sides[0].config, sides[1].config);
  std::erase_if(names, [&](const std::string& name) {
    return !program::idle_because(sides[number].config, name).empty();
  });
  return knob_words(names, sides[number].config);
}

// Whether it is in sight; `view`, of the axis: empty before the first frame.
bool is_in_view(const TimelineSide& out, const analysis::IdleGap& gap, TimeRange view) {
  return view.start == view.end ||
         (gap.end + out.offset > view.start && gap.start + out.offset < view.end);
}

void add_gaps(TimelineSide& out, const analysis::Run& run, TimeRange view) {
  for (const analysis::IdleGap& gap : run.gaps) {
    if (gap.lane == trace::kNone || !is_in_view(out, gap, view)) continue;
    if (out.gaps.size() >= kMostGaps) break;  // the longest come first
    const std::string words = "idle " + format_nanos(static_cast<double>(gap.end - gap.start)) +
                              ": " + std::string(analysis::name_of(gap.cause));
    out.gaps.push_back({gap.lane, gap.start, gap.end, words});
  }
}

// Where the GPU only communicates, on the lane on which it could calculate.
void add_exposed(TimelineSide& out, const analysis::Run& run, TimeRange view) {
  std::size_t left = kMostGaps;
  for (const analysis::IdleGap& gap : run.exposed) {
    if (gap.lane == trace::kNone || !is_in_view(out, gap, view)) continue;
    if (left-- == 0) break;
    out.gaps.push_back(
        {gap.lane, gap.start, gap.end,
         format_nanos(static_cast<double>(gap.end - gap.start)) + " exposed: communication alone",
         true});
  }
}

// What the counters of SMs can reach on the machine of the run that is shown.
std::vector<CounterLimit> limits_of(const SideModel& side) {
  if (!side.run || !side.run->machine) return {};
  const machine::Gpu& gpu = side.run->machine->gpu;
  const int warps = gpu.threads_per_sm / machine::kWarp;
  return {{std::string(sim::kBusySmsLane), static_cast<double>(gpu.sm_count)},
          {std::string(sim::kResidentWarpsLane), static_cast<double>(gpu.sm_count) * warps}};
}

// Where the side's numbers come from: what all sides share is said once, in the top bar.
void add_machine(TimelineSide& out, const Workspace& workspace, const SideModel& side) {
  const trace::Origin* origin = origin_of(side);
  if (!origin) return;
  const bool one_kind = have_one_kind(workspace.sides());
  if (!one_kind) out.badge = std::string(trace::badge(origin->kind));
  out.origin = origin->kind;
  if (one_kind && have_one_machine(workspace.sides())) return;
  out.machine = machine_name(side);
  out.machine_short = machine_brief(side);
}

// What is said of one run in its Summary, each side of two says for itself; a room reads less.
void add_detail(TimelineSide& out, const Workspace& workspace, const SideModel& side) {
  const trace::Origin* origin = origin_of(side);
  if (!origin || workspace.sides().size() < 2 || workspace.present.on) return;
  // An imported trace has its detail for a machine.
  if (origin->kind != trace::OriginKind::kImported) out.detail = origin->detail;
  if (!shows_spans(workspace, side)) return;
  const trace::Trace& trace = *side.view->trace;
  const std::int64_t dropped = trace.dropped_events();
  if (dropped == 0) return;
  out.dropped = grouped(static_cast<std::size_t>(dropped)) + " dropped";
  out.dropped_why = left_out(trace);
}

TimelineSide side_input(const Workspace& workspace, std::size_t number,
                        const Attention& attention) {
  const SideModel& side = workspace.sides()[number];
  TimelineSide out;
  out.config = config_words(workspace, number);
  if (side.outline)
    for (const trace::Lane& lane : side.outline->lanes)
      if (!workspace.hides(lane.name)) out.lane_names.push_back(lane.name);
  add_machine(out, workspace, side);
  add_detail(out, workspace, side);
  if (attention.code_side == number) out.lit_line = attention.code_line;
  const LessonModel* lesson = workspace.lesson();
  if (side.busy && (!lesson || lesson->run_asked || workspace.revealed()) &&
      (!side.run || side.progress.spans > 0)) {
    out.progress = progress_words(side);
    if (side.progress.spans > 0) out.progress_share = static_cast<float>(side.progress.share);
  }
  if (!shows_spans(workspace, side)) return out;
  out.trace = side.view->trace.get();
  out.index = &side.view->index;
  out.offset = number > 0 ? workspace.playhead.offset : 0;
  out.draw = &side.view->draw;
  out.limits = limits_of(side);
  choose_lanes(out, workspace, number, attention);
  out.matches = attention.search.matches(number);
  // Of a path of which nothing is told nothing would stand out.
  const PathFacts* path = attention.path.of(number, side);
  if (path && !path->chain.lanes.empty() && !out.matches) {
    out.matches = &path->matches;
    out.chain = &path->chain;
  }
  out.notes = lane_notes(workspace, attention.notes, static_cast<Side>(number));
  out.takes_notes = noted_run(workspace, static_cast<Side>(number)) != nullptr;
  if (side.run && !side.busy) {
    if (const auto total = analysis::value_of(side.run->metrics, "time.total"))
      out.total = format_nanos(*total);
    for (const auto& [rank, marks] : side.run->facts.measured.marks_of_ranks)
      if (!marks.empty()) out.measured_from[rank] = marks.front().start;
    add_gaps(out, *side.run, attention.timeline.view);
    add_exposed(out, *side.run, attention.timeline.view);
  }
  return out;
}

void add_playhead(TimelineInput& input, const Workspace& workspace) {
  if (!workspace.revealed() || end_of_sides(workspace) == 0) return;
  input.playhead = workspace.playhead.time;
  const bool by_step = workspace.playhead.by_step && can_align_steps(workspace);
  for (std::size_t i = 0; i < workspace.sides().size(); ++i) {
    const SideModel& side = workspace.sides()[i];
    if (by_step) input.sides[i].playhead = playhead_of(workspace, i);
    if (!side.view) continue;
    if (!input.playhead_text.empty()) input.playhead_text += "    ";
    if (workspace.sides().size() > 1) input.playhead_text += side.label + ": ";
    input.playhead_text += state_at(*side.view, playhead_of(workspace, i));
  }
}

// A few rows of nested calls tell a story; the deep stacks of a profiler are folded at first.
void collapse_deep_lanes(const Workspace& workspace, Attention& attention, TimelinesPanel& panel) {
  for (std::size_t i = 0; i < workspace.sides().size(); ++i) {
    const TraceView& view = workspace.sides()[i].view;
    if (panel.seen[i] == view) continue;
    // A rerun keeps the rows as a person has set them.
    const bool same_lanes = panel.seen[i] && view &&
                            panel.seen[i]->trace->lanes().size() == view->trace->lanes().size();
    panel.seen[i] = view;
    if (attention.timeline.selected.side == static_cast<Side>(i)) attention.timeline.selected = {};
    attention.timeline.linked = {};
    attention.timeline.links.clear();
    attention.timeline.hovered = {};
    attention.timeline.measure.forget();
    attention.notes = {};
    if (!view || same_lanes) continue;
    auto& collapsed = attention.timeline.collapsed[i];
    collapsed.clear();
    attention.timeline.unfolded[i].clear();
    attention.timeline.all_lanes[i] = false;
    std::size_t rows = 0;
    for (const trace::LaneIndex& lane : view->index.lanes) rows += lane.rows.size();
    if (rows * workspace.sides().size() <= kRowsThatFit) continue;
    for (const trace::LaneIndex& lane : view->index.lanes)
      if (lane.rows.size() > kMostRows) collapsed.push_back(lane.lane);
  }
}

void draw_failures(const PanelContext& context) {
  for (const SideModel& side : context.workspace.sides()) {
    if (side.error.empty()) continue;
    const bool import = !side.file.empty();
    notice_card(context.theme, Tone::kBad,
                import ? "The trace could not be read" : "Side " + side.label + " did not run",
                side.error);
    if (import && button(context.theme, "Open another trace", ButtonKind::kQuiet))
      context.ask("file.open_trace");
    if (!import && context.workspace.knobs_changed() &&
        button(context.theme, "Reset the knobs", ButtonKind::kQuiet))
      context.ask("knobs.reset");
  }
}

bool any_failed(const Workspace& workspace) {
  return std::any_of(workspace.sides().begin(), workspace.sides().end(),
                     [](const SideModel& side) { return !side.error.empty(); });
}

// A run that ended before its program did, as on a full GPU, is shown up to there.
bool ended_early(const Workspace& workspace, const SideModel& side) {
  return side.run && side.run->ending && shows_spans(workspace, side);
}

// One whose numbers say less than they seem to, likewise.
bool has_caveat(const Workspace& workspace, const SideModel& side) {
  return side.run && !side.run->caveat.empty() && shows_spans(workspace, side);
}

std::vector<SideNote> caveats_of(const Workspace& workspace) {
  std::vector<SideCaveat> caveats;
  for (const SideModel& side : workspace.sides())
    caveats.push_back({side.label, has_caveat(workspace, side) ? side.run->caveat : std::string()});
  return care_notes(caveats);
}

// A room's height is for lanes: there they stand in the head.
std::vector<SideNote> caveats_with_card(const Workspace& workspace) {
  return workspace.present.on ? std::vector<SideNote>() : caveats_of(workspace);
}

bool any_has_card(const Workspace& workspace) {
  return !caveats_with_card(workspace).empty() ||
         std::any_of(workspace.sides().begin(), workspace.sides().end(),
                     [&](const SideModel& side) { return ended_early(workspace, side); });
}

// A card, or one line where a card would take the lanes' room.
void notice(const Theme& theme, Tone tone, const std::string& title, const std::string& sentence) {
  constexpr float kMostShare = 0.12F;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float size = theme.size.small, inner = std::max(room.x - theme.px(24), 1.0F);
  const float lines = 1 + std::ceil(text_size(theme.font.text, size, sentence).x / inner);
  if (lines * size * 1.4F + theme.px(24) > kMostShare * ImGui::GetWindowHeight())
    notice_line(theme, tone, title, sentence);
  else
    notice_card(theme, tone, title, sentence);
}

void draw_endings(const PanelContext& context) {
  const bool alone = context.workspace.sides().size() == 1;
  for (const SideNote& note : caveats_with_card(context.workspace))
    notice(context.theme, Tone::kPlain, note.title, note.sentence);
  for (const SideModel& side : context.workspace.sides()) {
    if (!ended_early(context.workspace, side)) continue;
    const std::string title(sim::title_of(*side.run->ending));
    notice(context.theme, Tone::kBad, alone ? title : "Side " + side.label + ": " + title,
           sim::sentence_below_title(*side.run->ending));
  }
}

std::string head_words(const Workspace& workspace) {
  if (workspace.sides().size() < 2) {
    const SideModel& side = workspace.sides().front();
    if (!side.run) return "";
    const std::size_t spans = side.run->trace->spans().size();
    return grouped(spans) + (spans == 1 ? " span" : " spans");
  }
  return "";
}

}  // namespace

TimelineInput timeline_input(const Workspace& workspace, const Attention& attention) {
  TimelineInput input;
  for (std::size_t i = 0; i < workspace.sides().size(); ++i)
    input.sides.push_back(side_input(workspace, i, attention));
  const LessonModel* lesson = workspace.lesson();
  if (lesson && !workspace.revealed()) {
    if (!lesson->run_asked) input.empty_text = "Nothing has run yet";
    return input;
  }
  if (workspace.sides().size() == 2) {
    add_done_marker(input, workspace);
    add_guesses(input, workspace);
    input.movable = true;
  }
  add_playhead(input, workspace);
  return input;
}

namespace {

bool show_focused_span(const scenario::Focus& focus, const Workspace& workspace,
                       Attention& attention, bool select) {
  const std::size_t side = focus.run == "B" ? 1 : 0;
  if (focus.run.empty() || side >= workspace.sides().size() || !workspace.sides()[side].run)
    return false;
  const analysis::Run& run = *workspace.sides()[side].run;
  const auto meant = scenario::shown_span(focus, run);
  if (!meant) return false;
  const trace::Span& span = run.trace->spans()[*meant];
  const Nanos offset = side > 0 ? workspace.playhead.offset : 0;
  show_range(attention.timeline, {span.start + offset, span.end() + offset}, focus.pad);
  attention.timeline.reveal = {static_cast<Side>(side), *meant};
  if (select) attention.timeline.selected = attention.timeline.reveal;
  attention.code_side = side;
  attention.followed_line = 0;
  return true;
}

// A line by its number, or the first with those words.
int line_of(const scenario::Focus& focus, const SideModel& side) {
  if (focus.code.empty() || !side.outline) return focus.line;
  const std::vector<int> lines = scenario::lines_with(focus.code, side.outline->listing);
  return lines.empty() ? 0 : lines.front();
}

}  // namespace

bool show_focus(const scenario::Focus& focus, const Workspace& workspace, Attention& attention,
                bool select) {
  if (!focus.knob.empty()) {
    attention.lit_knob = focus.knob;
    attention.follow_knob = true;
    attention.tab_to_show = "knobs";
    return true;
  }
  if (!focus.panel.empty()) {
    const auto& known = scenario::panel_names();
    if (std::find(known.begin(), known.end(), focus.panel) == known.end()) return false;
    attention.asked_panel = panel_to_show(workspace, focus.panel);
    return focus.lane.empty() || show_focused_span(focus, workspace, attention, select);
  }
  if (focus.lane.empty() && (focus.line > 0 || !focus.code.empty())) {
    attention.code_side = attention.focused_side = focus.run == "B" ? 1 : 0;
    attention.followed_line = 0;
    attention.tab_to_show = "code";
    if (attention.code_side >= workspace.sides().size()) return false;
    const int line = line_of(focus, workspace.sides()[attention.code_side]);
    attention.focused_line = static_cast<std::uint16_t>(line);
    return line > 0;
  }
  return show_focused_span(focus, workspace, attention, select);
}

void draw_timelines(const PanelContext& context, TimelinesPanel& panel, const char* name,
                    bool* open) {
  Workspace& workspace = context.workspace;
  const bool failed = any_failed(workspace), ended = any_has_card(workspace);
  PanelOptions options;
  options.secondary = head_words(workspace);
  options.open = open;
  const bool pair = workspace.sides().size() == 2;
  options.kept_free = kept_for_links(context.theme, workspace);
  options.padded = failed || ended;
  options.scrolls = failed || ended;
  if (begin_panel(context, name, options)) {
    collapse_deep_lanes(workspace, context.attention, panel);
    if (failed) draw_failures(context);
    if (ended) draw_endings(context);
    find_paths(context, panel.path);
    const TimelineInput input = timeline_input(workspace, context.attention);
    refresh(context.attention.search, input);
    const bool all_failed = failed && !pair;
    if (!all_failed) draw_with_tools(context, panel.range, input);
  }
  ImGui::EndChild();
  draw_timeline_head(context, open != nullptr,
                     workspace.present.on ? caveats_of(workspace) : std::vector<SideNote>());
  ImGui::End();
}

}  // namespace trainscope::ui
