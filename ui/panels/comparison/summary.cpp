#include "ui/panels/comparison/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/units.h"
#include "ui/app/views/left_out.h"
#include "ui/panels/comparison/waterfall.h"
#include "ui/panels/timelines/details.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

// Words keep clear of the ends of the toned rows.
constexpr int kTableFlags = int{ImGuiTableFlags_RowBg} | int{ImGuiTableFlags_PadOuterX};

// Smaller letters in the middle of the line that a larger name makes.
void lower_number(const Theme& theme) {
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + (theme.size.small - theme.size.label) / 2);
}

void pair_row(const Theme& theme, const std::string& key, const std::string& value,
              const std::string& help = {}) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  text(theme.font.text, theme.size.small, theme.muted, key);
  if (!help.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip("%s", help.c_str());
  ImGui::TableNextColumn();
  const float width = text_size(theme.font.mono, theme.size.label, value).x;
  const float room = ImGui::GetContentRegionAvail().x;
  if (width < room) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
  lower_number(theme);
  text(theme.font.mono, theme.size.label, theme.text,
       shortened(theme.font.mono, theme.size.label, value, room));
}

bool begin_pairs(const Theme& theme, const char* id) {
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(theme.px(6), theme.px(4)));
  if (ImGui::BeginTable(id, 2, kTableFlags)) {
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 1.2F);
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 1.0F);
    return true;
  }
  ImGui::PopStyleVar();
  return false;
}

void end_pairs() {
  ImGui::EndTable();
  ImGui::PopStyleVar();
}

void draw_origin(const Theme& theme, const trace::Trace& trace) {
  const trace::Origin& origin = trace.origin();
  text(theme.font.strong, theme.size.text, theme.text, origin.subject, true);
  if (!origin.detail.empty())
    text(theme.font.text, theme.size.small, theme.muted, origin.detail, true);
  ImGui::Dummy({0, theme.px(2)});
}

void number_cell(const Theme& theme, const std::string& words) {
  ImGui::TableNextColumn();
  const float width = text_size(theme.font.mono, theme.size.label, words).x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() +
                       std::max(ImGui::GetContentRegionAvail().x - width, 0.0F));
  lower_number(theme);
  text(theme.font.mono, theme.size.label, theme.text, words);
}

// Of a run alone the knobs stand on a sheet.
void draw_knobs_link(const PanelContext& context) {
  const Theme& theme = context.theme;
  ImGui::SetCursorPos({ImGui::GetCursorPosX() - theme.px(8), ImGui::GetCursorPosY() - theme.px(6)});
  if (button(theme, "Change knobs…", ButtonKind::kLink)) context.ask("knobs.all");
}

// Words with blanks between them in as many lines as they take; none is broken but after its "=".
std::vector<std::string> lines_of(const Theme& theme, const std::string& settings, float width) {
  const auto fits = [&](const std::string& line) {
    return text_size(theme.font.text, theme.size.label, line).x <= width;
  };
  std::vector<std::string> lines;
  std::istringstream words(settings);
  for (std::string word; words >> word;) {
    if (!lines.empty() && fits(lines.back() + " " + word)) {
      lines.back() += " " + word;
      continue;
    }
    const std::size_t value = word.find('=');
    if (fits(word) || value == std::string::npos) {
      lines.push_back(word);
    } else {
      lines.push_back(word.substr(0, value + 1));
      lines.push_back("    " + word.substr(value + 1));
    }
  }
  return lines;
}

void draw_trial(const Theme& theme, const analysis::Trial& trial, double untried) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const float width = ImGui::GetContentRegionAvail().x;
  for (const std::string& line : lines_of(theme, trial.settings, width))
    text(theme.font.text, theme.size.label, theme.text,
         shortened(theme.font.text, theme.size.label, line, width));
  if (trial.other_batch)
    text(theme.font.text, theme.size.label, theme.faint, "for as many samples", true);
  number_cell(theme, format_nanos(trial.nanos));
  number_cell(theme, fmt::format("{:+.0f} %", 100 * (trial.nanos / untried - 1)));
}

// A row a change: what a step takes with it, and how much less that is.
void draw_trials(const Theme& theme, const analysis::Finding& finding) {
  text(theme.font.text, theme.size.small, theme.muted,
       "Tried (SIMULATED), instead of " + format_nanos(finding.untried) + " a step:", true);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(theme.px(4), theme.px(3)));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, theme.px(2)));
  if (ImGui::BeginTable("##trials", 3, kTableFlags)) {
    ImGui::TableSetupColumn("change", ImGuiTableColumnFlags_WidthStretch);
    for (const char* column : {"time", "saved"})
      ImGui::TableSetupColumn(
          column, ImGuiTableColumnFlags_WidthFixed,
          text_size(theme.font.mono, theme.size.label, column[0] == 't' ? "99.9 ms" : "-99 %").x);
    for (const analysis::Trial& trial : finding.trials) draw_trial(theme, trial, finding.untried);
    ImGui::EndTable();
  }
  ImGui::PopStyleVar(2);
}

// Why, and what to try.
void draw_advice(const Theme& theme, const analysis::Finding& finding) {
  const auto say = [&](const std::string& words) {
    if (!words.empty()) text(theme.font.text, theme.size.small, theme.muted, words, true);
  };
  if (finding.trials.empty()) return say(analysis::sentence(finding));
  analysis::Finding why = finding;
  why.advice.clear();
  say(analysis::sentence(why));
  draw_trials(theme, finding);
  say(finding.beside.substr(
      std::min(finding.beside.find_first_not_of(' '), finding.beside.size())));
}

// What takes the time, each with a bar of its share, and what to try.
void draw_findings(const Theme& theme, const std::vector<analysis::Finding>& findings) {
  for (const analysis::Finding& one : findings) {
    const float width = ImGui::GetContentRegionAvail().x, height = theme.px(4);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const Color color = part_style(theme, one.part).fill;
    draw->AddRectFilled(at, {at.x + width, at.y + height}, faded(theme.text, 0.08F), theme.px(2));
    draw->AddRectFilled(at, {at.x + width * static_cast<float>(one.share), at.y + height}, color,
                        theme.px(2));
    ImGui::Dummy({width, height + theme.px(2)});
    text(theme.font.strong, theme.size.small, theme.text, analysis::headline(one), true);
    ImGui::PushID(static_cast<int>(&one - findings.data()));
    draw_advice(theme, one);
    ImGui::PopID();
    ImGui::Dummy({0, theme.px(6)});
  }
}

void ask_for_findings(SummaryPanel& panel, std::shared_ptr<analysis::WhatIf> asked) {
  panel.diagnosed_by = asked;
  panel.diagnosis.start([run = panel.run, asked = std::move(asked)](const auto&) {
    return std::make_shared<std::vector<analysis::Finding>>(
        analysis::diagnose(*run, {}, asked.get()));
  });
}

// Those that are there stay until there are better ones.
void draw_diagnosis(const PanelContext& context, SummaryPanel& panel) {
  const std::shared_ptr<analysis::WhatIf>& asked = panel.what_if.found.get();
  if (asked && asked != panel.diagnosed_by && panel.what_if.run == panel.run)
    ask_for_findings(panel, asked);
  if (panel.diagnosis.busy()) context.ask("animate");
  if (panel.diagnosis.get()) panel.findings = panel.diagnosis.get();
  if (panel.findings) draw_findings(context.theme, *panel.findings);
  if (const std::string& error = panel.diagnosis.error(); !error.empty())
    notice_card(context.theme, Tone::kBad, "What takes the time could not be found", error);
}

void draw_dropped(const Theme& theme, const trace::Trace& trace) {
  const std::string reasons = left_out(trace);
  if (reasons.empty())
    text(theme.font.text, theme.size.label, theme.faint, "No event was left out.", true);
  else
    notice_card(theme, Tone::kPlain, "Left out", reasons);
}

void head_cell(const Theme& theme, const char* words, bool right) {
  ImGui::TableNextColumn();
  const float width = text_size(theme.font.text, theme.size.label, words).x;
  if (right)
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() +
                         std::max(ImGui::GetContentRegionAvail().x - width, 0.0F));
  text(theme.font.text, theme.size.label, theme.faint, words);
}

// Who waits for whom, a step.
void draw_ranks(const Theme& theme, const analysis::Run& run) {
  if (run.ranks.empty()) return;
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(theme.px(6), theme.px(4)));
  if (ImGui::BeginTable("##ranks", 3, kTableFlags)) {
    ImGui::TableNextRow();
    head_cell(theme, "rank", false);
    head_cell(theme, "GPU busy", true);
    head_cell(theme, "waits for others", true);
    for (const analysis::RankTimes& one : run.ranks) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      text(theme.font.text, theme.size.small, theme.muted, std::to_string(one.rank));
      number_cell(theme, format_nanos(one.busy));
      number_cell(theme, format_nanos(one.idle));
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
  ImGui::Dummy({0, theme.px(4)});
}

}  // namespace

void draw_summary(const PanelContext& context, SummaryPanel& panel, const char* name, bool* open) {
  const Theme& theme = context.theme;
  const SideModel& side = context.workspace.sides().front();
  if (panel.run != side.run) {
    panel.run = side.run;
    panel.rows = side.run ? summarise(*side.run) : std::vector<SummaryRow>();
    panel.findings = nullptr;
    panel.diagnosis.drop();
    if (side.run) ask_for_findings(panel, nullptr);
  }
  PanelOptions options;
  options.open = open;
  if (begin_panel(context, name, options)) {
    if (panel.run) {
      draw_origin(theme, *panel.run->trace);
      if (context.can("knobs.all") && !is_imported(side)) draw_knobs_link(context);
      // Few stand where they are seen at once.
      constexpr std::size_t kFewRanks = 8;
      const bool few = panel.run->ranks.size() <= kFewRanks;
      draw_diagnosis(context, panel);
      draw_what_if(context, panel.what_if, panel.run);
      if (few) draw_ranks(theme, *panel.run);
      if (begin_pairs(theme, "##metrics")) {
        for (const SummaryRow& row : panel.rows)
          pair_row(theme, row.metric->label, row.value, row.metric->name + ": " + row.metric->help);
        end_pairs();
      }
      if (panel.run->ending)
        text(theme.font.text, theme.size.label, theme.faint, brackets_words({panel.run.get()}),
             true);
      if (!few) draw_ranks(theme, *panel.run);
      ImGui::Dummy({0, theme.px(4)});
      draw_dropped(theme, *panel.run->trace);
    } else {
      text(theme.font.text, theme.size.small, theme.muted,
           side.busy ? "Reading the file." : "There is nothing to sum up.", true);
    }
  }
  end_panel();
}

void draw_details_panel(const PanelContext& context, const char* name, bool* open) {
  PanelOptions options;
  options.open = open;
  if (begin_panel(context, name, options)) draw_details(context, DetailsRoom::kTall);
  end_panel();
}

}  // namespace trainscope::ui
