#include "ui/app/actions/action_table.h"

#include <algorithm>

#include "ui/app/actions/conditions.h"
#include "ui/app/actions/lesson_actions.h"
#include "ui/app/actions/note_actions.h"
#include "ui/app/actions/timeline_actions.h"
#include "ui/app/views/line_up.h"
#include "ui/app/views/moment.h"
#include "ui/app/window/application.h"
#include "ui/app/window/next_panel.h"
#include "ui/app/window/settings.h"
#include "ui/app/workspace/sweeping.h"
#include "ui/app/workspace/window_link.h"
#include "ui/panels/comparison/side_data.h"

namespace trainscope::ui {
namespace {

bool always(const Application&) {
  return true;
}

// ---- The timelines -----------------------------------------------------------------------------

TimeRange whole(const Application& app) {
  return axis_range(timeline_input(app.workspace(), app.attention()));
}

void zoom_by(Application& app, double factor) {
  TimelineState& timeline = app.attention().timeline;
  zoom(timeline, factor, (timeline.view.start + timeline.view.end) / 2);
}

// The nearest event of a side, in the playhead's own time.
Nanos event_near(const Workspace& workspace, std::size_t number, bool forward) {
  const IndexedTrace& view = *workspace.sides()[number].view;
  const Nanos here = playhead_of(workspace, number);
  const Nanos at = forward ? next_event(view, here) : previous_event(view, here);
  if (at == here) return workspace.playhead.time;
  const bool mapped = number > 0 && workspace.playhead.by_step && can_align_steps(workspace);
  const Nanos there = playhead_at(workspace, number, at);
  if (!mapped) return there;
  const Nanos now = workspace.playhead.time;
  // Times are whole: an event may be mapped upon where the playhead stands.
  return forward ? std::max(there, now + 1) : std::min(there, now - 1);
}

void step_playhead(Application& app, bool forward) {
  Workspace& workspace = app.workspace();
  const Nanos now = workspace.playhead.time;
  Nanos best = now;
  for (std::size_t i = 0; i < workspace.sides().size(); ++i) {
    if (!workspace.sides()[i].view) continue;
    const Nanos at = event_near(workspace, i, forward);
    if (at == now) continue;
    best = best == now ? at : forward ? std::min(best, at) : std::max(best, at);
  }
  workspace.playhead.time = std::clamp<Nanos>(best, 0, playhead_end(workspace));
}

void toggle_playing(Application& app) {
  Playhead& playhead = app.workspace().playhead;
  playhead.playing = !playhead.playing;
  if (!playhead.playing) return;
  const auto& range = app.attention().timeline.range;
  if (range && (playhead.time < range->start || playhead.time >= range->end))
    playhead.time = std::clamp<Nanos>(range->start, 0, playhead_end(app.workspace()));
  else if (playhead.time >= playhead_end(app.workspace()))
    playhead.time = 0;
}

void change_speed(Application& app) {
  double& seconds = app.workspace().playhead.seconds;
  seconds = seconds < 10 ? 20 : seconds < 40 ? 60 : 5;
}

// ---- Panels ------------------------------------------------------------------------------------

bool has_panels(const Application& app) {
  return app.workspace().screen() != Screen::kShelf;
}

bool has_pair(const Application& app) {
  return has_panels(app) && app.workspace().sides().size() == 2;
}

bool has_knobs(const Application& app) {
  const auto& sides = app.workspace().sides();
  const bool any = !std::all_of(sides.begin(), sides.end(), is_imported);
  return (has_pair(app) && any) || app.workspace().knobs_free();
}

void add_view_actions(std::vector<Binding>& table) {
  table.push_back({"view.fit", has_results,
                   [](Application& app) { fit(app.attention().timeline, whole(app)); }});
  table.push_back({"view.zoom_in", has_results, [](Application& app) { zoom_by(app, 0.5); }});
  table.push_back({"view.zoom_out", has_results, [](Application& app) { zoom_by(app, 2); }});
  table.push_back({"play.toggle", has_results, toggle_playing});
  table.push_back(
      {"play.next_event", has_results, [](Application& app) { step_playhead(app, true); }});
  table.push_back(
      {"play.previous_event", has_results, [](Application& app) { step_playhead(app, false); }});
  table.push_back(
      {"play.start", has_results, [](Application& app) { app.workspace().playhead.time = 0; }});
  table.push_back({"play.end", has_results, [](Application& app) {
                     app.workspace().playhead.time = playhead_end(app.workspace());
                   }});
  table.push_back({"play.speed", always, change_speed});
  table.push_back(
      {"play.align",
       [](const Application& app) { return has_results(app) && can_align_steps(app.workspace()); },
       [](Application& app) {
         Playhead& playhead = app.workspace().playhead;
         playhead.by_step = !playhead.by_step;
         playhead.time = std::min(playhead.time, playhead_end(app.workspace()));
       }});
  table.push_back({"run.cancel", [](const Application& app) { return app.workspace().busy(); },
                   [](Application& app) { app.workspace().cancel(); }});
  table.push_back({"run.measure",
                   [](const Application& app) { return app.workspace().can_measure(); },
                   [](Application& app) { app.workspace().measure(); }});
  table.push_back({"run.simulate",
                   [](const Application& app) { return app.workspace().can_simulate_again(); },
                   [](Application& app) { app.workspace().simulate_again(); }});
}

void add_panel_actions(std::vector<Binding>& table) {
  table.push_back({"machine.choose",
                   [](const Application& app) { return app.workspace().has_machines(); },
                   [](Application& app) { app.open_machines(-1); }});
  table.push_back({"knobs.reset",
                   [](const Application& app) { return app.workspace().knobs_changed(); },
                   [](Application& app) { app.workspace().reset_knobs(); }});
  table.push_back({"knobs.undo", [](const Application& app) { return app.workspace().can_undo(); },
                   [](Application& app) { app.workspace().undo(); }});
  table.push_back({"knobs.redo", [](const Application& app) { return app.workspace().can_redo(); },
                   [](Application& app) { app.workspace().redo(); }});
  table.push_back({"knobs.all", has_knobs, [](Application& app) {
                     app.attention().all_parameters = !app.attention().all_parameters;
                   }});
  table.push_back({"code.side", has_pair, [](Application& app) {
                     app.attention().code_side = 1 - app.attention().code_side;
                   }});
  table.push_back({"layout.next_panel", has_panels, [](Application&) { go_to_next_panel(); }});
  table.push_back({"layout.reset", has_panels, [](Application& app) { app.deck().reset(); }});
  table.push_back(
      {"layout.lesson", has_lesson, [](Application& app) { app.deck().toggle("lesson"); }});
  table.push_back(
      {"layout.timelines", has_panels, [](Application& app) { app.deck().toggle("timeline"); }});
  table.push_back({"layout.knobs", has_knobs, [](Application& app) {
                     // A run alone has no such panel: its knobs stand on a sheet.
                     has_pair(app) ? app.deck().toggle("knobs") : app.run("knobs.all");
                   }});
  table.push_back({"layout.code", has_panels, [](Application& app) { app.deck().toggle("code"); }});
  table.push_back({"layout.copy_path", has_panels,
                   [](Application& app) { app.deck().open_by_hand("copy-path"); }});
  table.push_back({"layout.loss", [](const Application& app) { return has_loss(app.workspace()); },
                   [](Application& app) { app.deck().open_by_hand("loss"); }});
  table.push_back({"layout.loss_scaling",
                   [](const Application& app) { return has_loss_scaling(app.workspace()); },
                   [](Application& app) { app.deck().open_by_hand("loss-scaling"); }});
  table.push_back({"layout.memory",
                   [](const Application& app) { return has_memory(app.workspace()); },
                   [](Application& app) { app.deck().open_by_hand("memory"); }});
  table.push_back({"layout.sm_array",
                   [](const Application& app) { return has_sm_array(app.workspace()); },
                   [](Application& app) { app.deck().open_by_hand("sm-array"); }});
  table.push_back({"layout.gradient_flow",
                   [](const Application& app) { return has_gradient_flow(app.workspace()); },
                   [](Application& app) { app.deck().open_by_hand("gradient-flow"); }});
  table.push_back({"layout.scaling",
                   [](const Application& app) { return has_gradient_flow(app.workspace()); },
                   [](Application& app) { app.deck().open_by_hand("scaling"); }});
  table.push_back({"layout.roofline",
                   [](const Application& app) { return has_roofline(app.workspace()); },
                   [](Application& app) { app.deck().open_by_hand("roofline"); }});
  table.push_back(
      {"view.memory_lanes", [](const Application& app) { return has_memory(app.workspace()); },
       [](Application& app) { app.attention().memory_lanes = !app.attention().memory_lanes; }});
  table.push_back(
      {"layout.compare", has_panels, [](Application& app) { app.deck().toggle("compare"); }});
}

bool has_two_timelines(const Application& app) {
  const auto& sides = app.workspace().sides();
  return has_results(app) && sides.size() == 2 && sides[0].view && sides[1].view;
}

void line_up(Application& app, LineUp how, const char* otherwise) {
  Workspace& workspace = app.workspace();
  const auto offset = offset_to_meet(how, *workspace.sides()[0].view, *workspace.sides()[1].view,
                                     workspace.playhead.time);
  if (offset)
    set_offset(workspace, *offset);
  else
    workspace.notice = otherwise;
}

void line_up_selection(Application& app) {
  Workspace& workspace = app.workspace();
  const SpanRef selected = app.attention().timeline.selected;
  const auto offset = offset_to_meet(*workspace.sides()[0].view, *workspace.sides()[1].view,
                                     selected.side == Side::kB, selected.span);
  if (offset)
    set_offset(workspace, *offset);
  else
    workspace.notice = "The other side has no span of that name in a lane of that name.";
}

void add_alignment_actions(std::vector<Binding>& table) {
  table.push_back({"align.start",
                   [](const Application& app) { return app.workspace().playhead.offset != 0; },
                   [](Application& app) { set_offset(app.workspace(), 0); }});
  table.push_back({"align.first_kernel", has_two_timelines, [](Application& app) {
                     line_up(app, LineUp::kFirstKernel, "One of the sides has no kernel.");
                   }});
  table.push_back(
      {"align.step",
       [](const Application& app) {
         return has_two_timelines(app) && can_align_steps(app.workspace());
       },
       [](Application& app) { line_up(app, LineUp::kStep, "B has fewer steps than that."); }});
  table.push_back({"align.selection",
                   [](const Application& app) {
                     return has_two_timelines(app) &&
                            app.attention().timeline.selected.span != trace::kNone;
                   },
                   line_up_selection});
}

void keep_run(Application& app, std::size_t side) {
  keep(app.workspace(), side);
  app.deck().open_by_hand("runs");
}

void add_kept_actions(std::vector<Binding>& table) {
  table.push_back({"runs.copy_beside",
                   [](const Application& app) { return app.workspace().can_copy_beside(); },
                   [](Application& app) { app.copy_beside(); }});
  table.push_back({"runs.what_if",
                   [](const Application& app) { return app.workspace().can_replay_beside(); },
                   [](Application& app) { app.replay_beside(); }});
  table.push_back({"runs.close_b",
                   [](const Application& app) { return app.workspace().can_close_beside(); },
                   [](Application& app) { app.close_beside(); }});
  table.push_back({"runs.keep_a",
                   [](const Application& app) { return can_keep(app.workspace(), 0); },
                   [](Application& app) { keep_run(app, 0); }});
  table.push_back({"runs.keep_b",
                   [](const Application& app) { return can_keep(app.workspace(), 1); },
                   [](Application& app) { keep_run(app, 1); }});
  table.push_back(
      {"layout.runs", has_results, [](Application& app) { app.deck().open_by_hand("runs"); }});
}

void add_comparison_actions(std::vector<Binding>& table) {
  add_alignment_actions(table);
  add_kept_actions(table);
  const auto has_any = [](const Application& app) { return has_operations(app.workspace()); };
  const auto compares = [](const Application& app) {
    return app.workspace().sides().size() == 2 && has_operations(app.workspace());
  };
  table.push_back({"layout.operations", has_any,
                   [](Application& app) { app.deck().open_by_hand("operations"); }});
  table.push_back({"compare.save_operations", compares,
                   [](Application& app) { app.exporter().ask_for_operations(); }});
  const auto sweeps = [](const Application& app) { return can_sweep(app.workspace()); };
  table.push_back({"sweep.knob", sweeps, [](Application& app) { app.sweep_knob(""); }});
  table.push_back({"sweep.cancel",
                   [](const Application& app) { return app.workspace().sweep.busy(); },
                   [](Application& app) { app.workspace().sweep.cancel(); }});
  table.push_back(
      {"layout.sweep", sweeps, [](Application& app) { app.deck().open_by_hand("sweep"); }});
}

void add_window_actions(std::vector<Binding>& table) {
  table.push_back({"find.action", always, [](Application& app) { app.open_palette(); }});
  for (const char* id : {"file.open", "file.open_trace"})
    table.push_back({id, always, [](Application& app) { app.files().ask(Place::kAlone); }});
  table.push_back({"file.open_beside",
                   [](const Application& app) { return app.workspace().can_open_beside(); },
                   [](Application& app) { app.files().ask(Place::kBeside); }});
  table.push_back({"link.copy", [](const Application& app) { return can_link(app.workspace()); },
                   [](Application& app) { app.copy_link(); }});
  table.push_back({"link.open", always, [](Application& app) { app.ask_for_link(); }});
  table.push_back(
      {"file.save_picture", always, [](Application& app) { app.exporter().ask_for_picture(); }});
  table.push_back(
      {"file.export", has_results, [](Application& app) { app.exporter().ask_for_export(); }});
  table.push_back({"theme.toggle", always, [](Application& app) {
                     app.set_theme(app.theme_mode() == ThemeMode::kDark ? ThemeMode::kLight
                                                                        : ThemeMode::kDark);
                   }});
  table.push_back(
      {"theme.dark", always, [](Application& app) { app.set_theme(ThemeMode::kDark); }});
  table.push_back(
      {"theme.light", always, [](Application& app) { app.set_theme(ThemeMode::kLight); }});
  table.push_back(
      {"theme.projector", always, [](Application& app) { app.set_theme(ThemeMode::kProjector); }});
  table.push_back({"scale.larger", [](const Application& app) { return app.zoom() < kMostZoom; },
                   [](Application& app) { app.set_zoom(larger_zoom(app.zoom())); }});
  table.push_back({"scale.smaller", [](const Application& app) { return app.zoom() > kLeastZoom; },
                   [](Application& app) { app.set_zoom(smaller_zoom(app.zoom())); }});
  table.push_back({"scale.reset", always, [](Application& app) { app.set_zoom(1); }});
  table.push_back(
      {"window.full_screen", [](const Application& app) { return !app.window().off_screen(); },
       [](Application& app) { app.window().set_full_screen(!app.window().full_screen()); }});
  table.push_back({"log.show", always, [](Application& app) { app.toggle_log(); }});
  table.push_back({"help.tour", always, [](Application& app) { app.show_tour(); }});
  table.push_back({"help.show", always, [](Application& app) { app.toggle_help(); }});
  table.push_back({"app.quit", always, [](Application& app) { app.window().close(); }});
}

}  // namespace

const std::vector<Binding>& bindings() {
  static const std::vector<Binding> table = [] {
    std::vector<Binding> all;
    add_lesson_actions(all);
    add_view_actions(all);
    add_timeline_actions(all);
    add_note_actions(all);
    add_panel_actions(all);
    add_comparison_actions(all);
    add_window_actions(all);
    return all;
  }();
  return table;
}

const Binding* find_binding(std::string_view id) {
  const auto& table = bindings();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [id](const Binding& binding) { return binding.id == id; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace trainscope::ui
