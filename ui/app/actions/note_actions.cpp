#include "ui/app/actions/note_actions.h"

#include "ui/app/window/application.h"

namespace trainscope::ui {
namespace {

bool can_write(const Application& app) {
  return place_for_note(app.workspace(), app.attention()).has_value();
}

void write(Application& app) {
  app.show_panel("timeline");
  begin_note(app.workspace(), app.attention(), *place_for_note(app.workspace(), app.attention()));
}

bool has_notes(const Application& app) {
  return !notes_in_order(app.workspace()).empty();
}

bool is_selected(const Application& app) {
  return !app.attention().notes.open && selected_note(app.workspace(), app.attention().notes);
}

void step(Application& app, bool forward) {
  app.show_panel("timeline");
  step_note(app.workspace(), app.attention(), forward);
}

}  // namespace

void add_note_actions(std::vector<Binding>& table) {
  table.push_back({"note.write", can_write, write});
  table.push_back({"note.keep", [](const Application& app) { return app.attention().notes.open; },
                   [](Application& app) { keep_note(app.workspace(), app.attention()); }});
  table.push_back({"note.next", has_notes, [](Application& app) { step(app, true); }});
  table.push_back({"note.previous", has_notes, [](Application& app) { step(app, false); }});
  table.push_back({"note.edit", is_selected,
                   [](Application& app) { edit_note(app.workspace(), app.attention()); }});
  table.push_back({"note.delete", is_selected,
                   [](Application& app) { delete_note(app.workspace(), app.attention()); }});
}

}  // namespace trainscope::ui
