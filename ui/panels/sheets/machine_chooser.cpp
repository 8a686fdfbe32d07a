#include "ui/panels/sheets/machine_chooser.h"

#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>
#include <array>

#include "ui/panels/sheets/sheet.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

const std::array<std::string, 3> kTargets{"A", "B", "both"};

// Where the columns of the list stand, from its left edge.
struct Columns {
  float side, id, gpu, memory, pcie, gpus;  // memory and gpus: right edges
};

Columns columns_of(const Theme& theme, float width) {
  Columns columns{};
  columns.side = theme.px(2);  // two marks before the id
  columns.id = theme.px(56);
  columns.gpus = width - theme.px(10);
  columns.pcie = columns.gpus - theme.px(104);
  columns.memory = columns.pcie - theme.px(14);
  columns.gpu = columns.id + theme.px(124);
  return columns;
}

void head_row(const Theme& theme, const Columns& columns) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = theme.px(22), middle = at.y + height / 2;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const auto word = [&](float x, const char* text, float align) {
    draw_text_middle(draw, theme.font.text, theme.size.label, at.x + x, middle, theme.faint, text,
                     align);
  };
  word(columns.id, "machine", 0);
  word(columns.gpu, "GPU", 0);
  word(columns.memory, "memory", 1);
  word(columns.pcie, "PCIe", 0);
  word(columns.gpus, "GPUs", 1);
  ImGui::Dummy({1, height});
}

// Which sides run on it now.
void side_marks(const PanelContext& context, const CatalogueEntry& entry, ImVec2 left_middle) {
  const auto& sides = context.workspace.sides();
  float x = left_middle.x;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    if (sides[i].config.word("machine") != entry.id) continue;
    x += draw_side_mark(ImGui::GetWindowDrawList(), context.theme, {x, left_middle.y},
                        i == 0 ? 'A' : 'B', i == 0) +
         context.theme.px(2);
  }
}

// "GeForce RTX 4090"; where that has no room "RTX 4090": the number tells them apart.
std::string model_within(const Theme& theme, const std::string& gpu, float room) {
  const std::size_t blank = gpu.find(' ');
  const bool whole = text_size(theme.font.text, theme.size.small, gpu).x <= room;
  return whole || blank == std::string::npos ? gpu : gpu.substr(blank + 1);
}

void draw_row_words(const PanelContext& context, const CatalogueEntry& entry, const Box& box,
                    const Columns& columns, bool allowed) {
  const Theme& theme = context.theme;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float middle = box.centre().y, left = box.min.x;
  const Color name = allowed ? theme.text : theme.faint;
  const Color more = allowed ? theme.muted : theme.faint;
  const auto word = [&](ImFont* face, float size, float x, float room, const std::string& words,
                        Color color) {
    draw_text_middle(draw, face, size, left + x, middle, color, shortened(face, size, words, room));
  };
  word(theme.font.mono, theme.size.label, columns.id, columns.gpu - columns.id - theme.px(8),
       entry.id, name);
  if (!entry.machine) {
    word(theme.font.text, theme.size.small, columns.gpu, columns.gpus - columns.gpu,
         "cannot be read", theme.bad);
    return;
  }
  const float memory = text_size(theme.font.mono, theme.size.label, entry.memory).x;
  const float gpu = columns.memory - memory - columns.gpu - theme.px(10);
  word(theme.font.text, theme.size.small, columns.gpu, gpu, model_within(theme, entry.gpu, gpu),
       name);
  word(theme.font.mono, theme.size.label, columns.memory - memory, memory + 1, entry.memory, more);
  word(theme.font.mono, theme.size.label, columns.pcie, theme.px(80), entry.pcie, more);
  draw_text_middle(draw, theme.font.mono, theme.size.label, left + columns.gpus, middle, more,
                   entry.gpus, 1);
}

// True when it was clicked.
bool machine_row(const PanelContext& context, const MachineChooser& chooser,
                 const CatalogueEntry& entry, const Columns& columns) {
  const Theme& theme = context.theme;
  const float height = theme.px(30), width = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool pressed = ImGui::InvisibleButton(entry.id.c_str(), {width, height});
  const std::string refusal = context.workspace.machine_refusal(entry.id);
  const Box box{at, {at.x + width, at.y + height}};
  const bool lit = entry.id == chooser.highlighted, hovered = ImGui::IsItemHovered();
  if (lit || hovered)
    ImGui::GetWindowDrawList()->AddRectFilled(
        box.min, box.max, lit ? theme.accent_soft : mixed(theme.panel, theme.text, 0.05F),
        theme.size.corner);
  if (lit && chooser.moved) ImGui::SetScrollHereY(0.5F);
  side_marks(context, entry, {at.x + columns.side, box.centre().y});
  draw_row_words(context, entry, box, columns, refusal.empty());
  if (!refusal.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip("%s", refusal.c_str());
  return pressed;
}

// ---- The data sheet ----------------------------------------------------------------------------

struct Chip {
  Color fill, text;
};

Chip chip_of(const Theme& theme, machine::Provenance provenance) {
  switch (provenance) {
    case machine::Provenance::kDatasheet:
      return {theme.accent_soft, theme.accent};
    case machine::Provenance::kMeasured:
      return {theme.good_soft, theme.good};
    case machine::Provenance::kFitted:
      return {theme.warn_soft, theme.copy_text};
  }
  return {theme.card, theme.muted};
}

void figure_row(const Theme& theme, const FigureRow& row) {
  const float width = ImGui::GetContentRegionAvail().x, height = theme.px(24);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float middle = at.y + height / 2, chip = theme.px(84);
  const float value = text_size(theme.font.mono, theme.size.label, row.value).x;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float right = at.x + width - chip - theme.px(10);
  draw_text_middle(
      draw, theme.font.text, theme.size.small, at.x, middle, theme.text,
      shortened(theme.font.text, theme.size.small, row.name, right - value - theme.px(12) - at.x));
  draw_text_middle(draw, theme.font.mono, theme.size.label, right, middle, theme.text, row.value,
                   1);
  const Chip look = chip_of(theme, row.provenance);
  ImGui::SetCursorScreenPos({right + theme.px(10), middle - theme.px(10)});
  pill(theme, machine::name_of(row.provenance), look.fill, look.text);
  ImGui::SetCursorScreenPos({at.x, at.y + height});
  std::string note = row.note;
  std::erase(note, '`');  // notes are Markdown
  if (!note.empty()) text(theme.font.text, theme.size.label, theme.muted, note, true);
  ImGui::Dummy({width, theme.px(3)});
}

void draw_sheet_of(const Theme& theme, const CatalogueEntry& entry) {
  text(theme.font.strong, theme.size.text, theme.text, entry.name, true);
  text(theme.font.mono, theme.size.label, theme.muted, entry.id);
  if (!entry.machine) {
    notice_card(theme, Tone::kBad, "This machine cannot be read", entry.fault);
    return;
  }
  for (const FigureGroup& group : figure_groups(*entry.machine)) {
    ImGui::Dummy({0, theme.px(6)});
    text(theme.font.strong, theme.size.small, theme.accent, group.title, true);
    for (const FigureRow& row : group.rows) figure_row(theme, row);
  }
}

// ---- The list and its keys ---------------------------------------------------------------------

void take_keys(MachineChooser& chooser, const std::vector<std::size_t>& shown) {
  chooser.moved = false;
  if (shown.empty()) return;
  const auto at = std::find_if(shown.begin(), shown.end(), [&](std::size_t i) {
    return chooser.catalogue[i].id == chooser.highlighted;
  });
  int place = at == shown.end() ? 0 : static_cast<int>(at - shown.begin());
  const int before = at == shown.end() ? -1 : place;
  place += steps_by_arrows();
  if (ImGui::IsKeyPressed(ImGuiKey_PageDown)) place += 8;
  if (ImGui::IsKeyPressed(ImGuiKey_PageUp)) place -= 8;
  place = std::clamp(place, 0, static_cast<int>(shown.size()) - 1);
  chooser.moved = place != before || chooser.just_opened;
  chooser.highlighted = chooser.catalogue[shown[static_cast<std::size_t>(place)]].id;
}

const CatalogueEntry* highlighted(const MachineChooser& chooser) {
  for (const CatalogueEntry& entry : chooser.catalogue)
    if (entry.id == chooser.highlighted) return &entry;
  return nullptr;
}

std::vector<std::size_t> draw_search(MachineChooser& chooser, float width) {
  if (chooser.just_opened) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(width);
  ImGui::InputTextWithHint("##words", "Search: h100, 80gb, x8, pcie 5", &chooser.words);
  const auto shown = matching_machines(chooser.catalogue, chooser.words);
  take_keys(chooser, shown);
  chooser.just_opened = false;
  return shown;
}

void draw_list(const PanelContext& context, MachineChooser& chooser,
               const std::vector<std::size_t>& shown, ImVec2 size) {
  const Theme& theme = context.theme;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  const Columns columns = columns_of(theme, size.x - theme.px(12));
  head_row(theme, columns);
  ImGui::BeginChild("##machines", {size.x, size.y - theme.px(22)}, ImGuiChildFlags_NavFlattened);
  if (shown.empty())
    text(theme.font.text, theme.size.small, theme.muted, "No machine fits these words.");
  for (const std::size_t i : shown)
    if (machine_row(context, chooser, chooser.catalogue[i], columns))
      chooser.highlighted = chooser.catalogue[i].id;
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

// ---- The foot ----------------------------------------------------------------------------------

std::string verb_of(const MachineChooser& chooser, bool pair) {
  if (!pair) return "Run on it";
  switch (chooser.target) {
    case MachineTarget::kA:
      return "Run A on it";
    case MachineTarget::kB:
      return "Run B on it";
    case MachineTarget::kBoth:
      break;
  }
  return "Run both on it";
}

// Why not, or what it will mean.
std::string remark_on(const Workspace& workspace, const CatalogueEntry* entry,
                      const std::string& refusal) {
  if (!entry) return "";
  if (!entry->machine) return entry->fault;
  if (!refusal.empty()) return refusal;
  if (workspace.lesson() && !workspace.forked())
    return "The lesson waits; Escape brings it back as it is now.";
  return "";
}

void choose(const PanelContext& context, MachineChooser& chooser) {
  const std::vector<std::size_t> own = context.workspace.sides_with_knobs();
  static constexpr const char* kSides[] = {"A", "B", "AB"};
  const char* sides =
      own.size() == 1 ? kSides[own.front()] : kSides[static_cast<std::size_t>(chooser.target)];
  context.ask(std::string("choose-machine ") + sides + " " + chooser.highlighted);
  chooser.open = false;
}

void draw_foot(const PanelContext& context, MachineChooser& chooser) {
  const Theme& theme = context.theme;
  const bool pair = context.workspace.sides_with_knobs().size() == 2;
  const CatalogueEntry* entry = highlighted(chooser);
  const std::string refusal =
      entry ? context.workspace.machine_refusal(entry->id) : std::string("-");
  const bool allowed = entry && entry->machine && refusal.empty();
  if (pair) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos({at.x, at.y + (theme.size.button - theme.px(24)) / 2});
    std::string chosen = kTargets[static_cast<std::size_t>(chooser.target)];
    if (segments(theme, "##target", theme.px(150), kTargets, kTargets, chosen))
      chooser.target = static_cast<MachineTarget>(
          std::find(kTargets.begin(), kTargets.end(), chosen) - kTargets.begin());
    ImGui::SetCursorScreenPos({at.x + theme.px(164), at.y});
  }
  const std::string verb = verb_of(chooser, pair);
  const bool pressed = button(theme, verb.c_str(), ButtonKind::kPrimary, theme.px(128), allowed);
  const bool enter =
      ImGui::IsKeyPressed(ImGuiKey_Enter) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter);
  ImGui::SameLine(0, theme.px(14));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::BeginChild("##remark", {0, theme.size.button}, ImGuiChildFlags_None,
                    ImGuiWindowFlags_NoScrollbar);
  const std::string remark = remark_on(context.workspace, entry, refusal);
  const float room = ImGui::GetContentRegionAvail().x;
  const bool one_line = text_size(theme.font.text, theme.size.small, remark).x <= room;
  if (one_line)
    ImGui::SetCursorScreenPos({at.x, at.y + (theme.size.button - theme.size.small) / 2});
  text(theme.font.text, theme.size.small, allowed ? theme.muted : theme.copy_text, remark, true);
  ImGui::EndChild();
  if (allowed && (pressed || enter)) choose(context, chooser);
}

}  // namespace

void open_machine_chooser(MachineChooser& chooser, const Workspace& workspace, int side) {
  chooser = {};
  chooser.open = chooser.just_opened = true;
  const auto& sides = workspace.sides();
  std::vector<std::string> own;
  for (const SideModel& each : sides) own.push_back(each.config.word("machine"));
  chooser.catalogue = read_catalogue(own);
  if (side >= 0) chooser.target = side == 0 ? MachineTarget::kA : MachineTarget::kB;
  const auto shown = static_cast<std::size_t>(std::max(side, 0));
  if (shown < own.size()) chooser.highlighted = own[shown];
}

void draw_machine_chooser(const PanelContext& context, MachineChooser& chooser) {
  const Theme& theme = context.theme;
  if (!begin_sheet(theme, "Machines##sheet", chooser.open, {1080, 660})) return;
  const float foot = theme.size.button + theme.px(14), apart = theme.px(20);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float list = std::min(theme.px(530), room.x * 0.55F), height = room.y - foot;
  const auto shown = draw_search(chooser, list);
  const float field = ImGui::GetCursorScreenPos().y - at.y;
  draw_list(context, chooser, shown, {list, height - field});
  ImGui::SetCursorScreenPos({at.x + list + apart, at.y});
  ImGui::BeginChild("##sheet", {room.x - list - apart, height});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(theme.px(8), theme.px(3)));
  if (const CatalogueEntry* entry = highlighted(chooser)) draw_sheet_of(theme, *entry);
  ImGui::PopStyleVar();
  ImGui::EndChild();
  ImGui::SetCursorScreenPos({at.x, at.y + room.y - theme.size.button});
  draw_foot(context, chooser);
  if (!chooser.open) ImGui::CloseCurrentPopup();
  end_sheet();
}

}  // namespace trainscope::ui
