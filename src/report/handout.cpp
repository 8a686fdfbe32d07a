#include "report/handout.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/metrics/metrics.h"
#include "report/comparison.h"
#include "report/escape.h"
#include "report/html.h"
#include "report/loss_chart.h"
#include "report/page.h"
#include "report/paper_view.h"
#include "report/sections.h"
#include "report/solution_table.h"
#include "report/template.h"

namespace trainscope::report {
namespace {

using analysis::LessonSheet;
using analysis::SheetAnswer;
using analysis::SheetStep;

// A sheet of paper shows less of a trace than a screen that zooms does.
constexpr double kPaperWidth = 820;  // of the drawing: its letters are read on A4
constexpr PageLimits kPaper = {20'000, 24, 400, 400};

// Paragraphs of a lesson's Markdown; a line alone goes on in the next one.
std::string paragraphs(const std::string& text, const char* kind = "foreign") {
  std::string html;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find("\n\n", at), text.size());
    const std::string one = text.substr(at, end - at);
    if (one.find_first_not_of(" \n") != one.npos)
      html += fmt::format("<p class=\"{}\">{}</p>\n", kind, html_prose(one));
    at = end + 2;
  }
  return html;
}

Speech speech_of(const LessonSheet& sheet) {
  return {sheet.language == "en" ? Speech{}.words : sheet.words};
}

class Sheet {
 public:
  explicit Sheet(const HandoutInput& input) : input_(input), sheet_(input.sheet) {}

  std::string say(const char* english) const { return html_text(sheet_.say(english)); }

  // The track, and the topic where it is another word.
  std::string course() const {
    const std::string track = say(sheet_.track.c_str());
    return sheet_.topic == sheet_.track ? track : track + ": " + html_text(sheet_.topic);
  }

  // One that all runs have; else each with its run, "A: 2 x TITAN RTX, NVLink; B: 1 x T4".
  std::string machines() const {
    const auto name_of = [](const analysis::Run* run) { return run->trace->origin().subject; };
    const auto& runs = input_.runs;
    if (runs.empty()) return "";
    const std::string first = name_of(runs.front());
    if (std::ranges::all_of(runs, [&](const auto* run) { return name_of(run) == first; }))
      return first;
    std::string words;
    for (const analysis::Run* run : runs)
      words += (words.empty() ? "" : "; ") + run->label + ": " + name_of(run);
    return words;
  }

  std::string facts() const {
    std::string html =
        fmt::format("{} · {} {}", say(sheet_.level.c_str()), sheet_.minutes, say("minutes"));
    if (const std::string where = machines(); !where.empty()) html += " · " + html_text(where);
    if (!input_.runs.empty())
      html += " · " + say("seed") + " " +
              html_text(program::spell(input_.runs.front()->config.value("seed")));
    return html;
  }

  std::string name_line() const {
    const std::string& student = input_.student;
    const std::string name = student.empty() ? "" : ": <b>" + html_text(student) + "</b>";
    return std::string("<p class=\"who") + (student.empty() ? " only-print" : "") + "\"><span>" +
           say("Name") + name + "</span><span>" + say("Date") + "</span></p>";
  }

  std::string caveat() const { return caveat_html(sheet_.caveat); }

  std::string heard() const {
    if (sheet_.heard.empty()) return "";
    return "<div class=\"heard\"><p class=\"muted small\">" + say("What you may have heard") +
           "</p><p class=\"foreign\">" + html_prose(sheet_.heard) + "</p></div>";
  }

  std::string cards(bool before_run) const {
    std::string html;
    for (const SheetStep& step : sheet_.steps)
      if (step.before_run == before_run && step.kind != "run") html += card(step);
    return html;
  }

  // What the run step says, under the title of what happened.
  std::string run_words() const {
    std::string html;
    if (input_.answers && input_.runs.size() == 2) {
      const std::string words = headline(*input_.runs[0], *input_.runs[1], speech_of(sheet_));
      if (!words.empty()) html += "<p class=\"headline\">" + html_text(words) + "</p>";
    }
    for (const SheetStep& step : sheet_.steps)
      if (step.kind == "run") html += paragraphs(step.text, "foreign muted");
    // Said again here, where the answers begin.
    html += caveat();
    return html.empty() ? "" : "<div class=\"run-words\">" + html + "</div>";
  }

  // What the drawing's axis is of.
  std::string axis_words(const PaperView& paper) const {
    if (paper.steps == 0) return say("one axis for both sides, each from its own start");
    if (paper.steps == 1)
      return say("one axis for both sides: the measured step, and what comes just before");
    return html_text(told(speech_of(sheet_),
                          "one axis for both sides: {} measured steps, and what comes just before",
                          paper.steps));
  }

  std::string lanes_left_out(const PaperView& paper) const {
    if (paper.left_out == 0) return "";
    return "<p class=\"muted small left-out\">" +
           html_text(told(speech_of(sheet_), "{} of {} lanes are left out here.", paper.left_out,
                          paper.lanes)) +
           "</p>\n";
  }

  // The lesson's metrics with a cell for each side, to be filled in.
  std::string table_to_fill() const {
    std::string rows;
    for (const std::string& name : sheet_.metrics) {
      rows += "<tr><th scope=\"row\">" + say(analysis::find_metric(name).label.c_str()) + "</th>";
      for (std::size_t i = 0; i < input_.runs.size(); ++i) rows += "<td class=\"number\"></td>";
      rows += "</tr>\n";
    }
    if (rows.empty()) return "";
    std::string head = "<th scope=\"col\">" + say("metric") + "</th>";
    for (const analysis::Run* run : input_.runs)
      head += "<th scope=\"col\" class=\"number\">" + html_text(run->label) + "</th>";
    return panel("compare", say("Compare"),
                 "<p class=\"muted\">" + say("To be filled in: what you read of the runs.") +
                     "</p>\n<table class=\"metrics to-fill\"><thead><tr>" + head +
                     "</tr></thead><tbody>\n" + rows + "</tbody></table>\n");
  }

  std::string terms() const {
    std::string html;
    for (const auto& [word, text] : sheet_.terms)
      html += fmt::format("<div><dt class=\"foreign\">{}</dt><dd class=\"foreign\">{}</dd></div>\n",
                          html_text(word), html_prose(text));
    if (html.empty()) return "";
    return panel("terms", say("Terms"), "<dl class=\"words\">" + html + "</dl>");
  }

  std::string ending() const {
    return panel("limits", say("What the model leaves out"), paragraphs(sheet_.limits)) +
           (input_.answers ? panel("notes", say("For whoever teaches it"), paragraphs(sheet_.notes))
                           : "");
  }

 private:
  std::string panel(const char* id, const std::string& title, const std::string& body) const {
    if (body.empty()) return "";
    return fmt::format(
        "<section class=\"panel\" aria-labelledby=\"{0}-title\">\n<div class=\"head\">"
        "<h2 id=\"{0}-title\">{1}</h2></div>\n<div class=\"body\">{2}</div>\n</section>\n",
        id, title, body);
  }

  std::string card(const SheetStep& step) const {
    // Without answers an explanation is for whoever reads to write.
    const bool told = input_.answers || step.kind != "explain";
    std::string html =
        "<section class=\"panel card\">\n<p class=\"kind\">" + say(step.title.c_str()) + "</p>\n";
    html += told ? paragraphs(input_.answers ? step.text : step.asked)
                 : "<p>" + say("Say in your own words why the runs differ here.") + "</p>";
    html += options(step);
    // Where there is an answer it says more than the hint, which is of the window.
    if (input_.answers && !step.hint.empty() && step.asks == SheetAnswer::kNone)
      html += "<div class=\"hint\"><span class=\"label\">" + say("Hint") + "</span>" +
              paragraphs(step.hint) + "</div>";
    html += room(step, told) + answer(step);
    return html + "</section>\n";
  }

  std::string options(const SheetStep& step) const {
    if (step.options.empty()) return "";
    // Before the run nothing is told: the answer stands among what comes after it.
    const bool told = input_.answers && !step.before_run;
    std::string html = "<ol class=\"options\">\n";
    for (const analysis::SheetOption& option : step.options) html += item(option, told);
    return html + "</ol>\n";
  }

  std::string item(const analysis::SheetOption& option, bool told) const {
    std::string html =
        fmt::format("<li{}><span class=\"box\"></span><span class=\"foreign\">{}</span>",
                    told && option.right ? " class=\"right\"" : "", html_prose(option.text));
    if (told && option.right) html += "<span class=\"why\"><b>" + say("Right.") + "</b></span>";
    if (told && !option.right && !option.why.empty())
      html += "<span class=\"why foreign\">" + html_prose(option.why) + "</span>";
    return html + "</li>\n";
  }

  std::string room(const SheetStep& step, bool told) const {
    int lines = 0;
    std::string words;
    if (step.asks == SheetAnswer::kChoice) {
      lines = step.before_run ? 3 : 1;
      words = say("Your reason");
    } else if (step.asks != SheetAnswer::kNone) {
      lines = step.asks == SheetAnswer::kWords ? 3 : 2;
      words = say("Your answer");
    } else if (!told || step.kind == "vary") {
      lines = 3;
      words = step.kind == "vary" ? say("What you found") : "";
    }
    if (lines == 0 || (input_.answers && !step.before_run)) return "";
    std::string html = "<div class=\"room\" aria-hidden=\"true\"><span>" + words + "</span>";
    for (int i = 0; i < lines; ++i) html += "<i></i>";
    return html + "</div>\n";
  }

  std::string labelled(const char* label, const std::string& text) const {
    if (text.empty()) return "";
    return "<div class=\"answer\"><span class=\"label\">" + say(label) + "</span>" +
           paragraphs(text) + "</div>\n";
  }

  std::string undecided(const SheetStep& step) const {
    if (step.decided) return "";
    return "<p class=\"muted\">" + say(analysis::kUndecided) + "</p>\n";
  }

  std::string answer(const SheetStep& step) const {
    if (!input_.answers || step.before_run) return "";
    return undecided(step) + labelled("Answer", step.answer) +
           labelled("What decides", step.depends) + solution(step) + labelled("Why", step.explain) +
           own_run(step);
  }

  std::string solution(const SheetStep& step) const {
    return step.solution ? solution_html(*step.solution, speech_of(sheet_)) : "";
  }

  std::string own_run(const SheetStep& step) const {
    if (!step.of_own_run) return "";
    return "<p class=\"muted small\">" + say("The numbers are those of one's own run.") + "</p>\n";
  }

 public:
  // The questions asked before the run, looked back at with what came of them.
  std::string looked_back() const {
    if (!input_.answers) return "";
    std::string html;
    for (const SheetStep& step : sheet_.looked_back) html += card(step);
    return html;
  }

 private:
  const HandoutInput& input_;
  const LessonSheet& sheet_;
};

}  // namespace

std::string handout_html(const HandoutInput& input) {
  const std::vector<RunView> views = view_runs(input.runs, kPaper);
  const Sheet sheet(input);
  ReportInput report;
  report.runs = input.runs;
  report.version = input.version;
  report.speech = speech_of(input.sheet);
  report.first_metrics = input.sheet.metrics;
  if (!input.sheet.metrics.empty()) report.rest_told_by = "trainscope run " + input.sheet.id;
  Parts parts;
  parts["language"] = html_text(input.sheet.language);
  parts["title"] = html_text(input.sheet.title);
  parts["style"] = std::string(page_style()) + std::string(handout_style());
  parts["course"] = sheet.course();
  parts["badges"] = badges_html(views, report.speech);
  parts["facts"] = sheet.facts();
  parts["name_line"] = sheet.name_line();
  parts["caveat"] = sheet.caveat();
  parts["heard"] = sheet.heard();
  parts["before"] = sheet.cards(true);
  parts["code"] = listing_html(views, report.speech);
  parts["run_title"] = sheet.say("What happened");
  PaperView paper = paper_view(views, input.sheet, report.speech);
  paper.picture.width = kPaperWidth;
  paper.picture.told = input.answers;
  parts["run_aside"] = sheet.axis_words(paper);
  parts["run_words"] = sheet.run_words();
  parts["picture"] = picture_svg(views, report.speech, paper.picture);
  parts["legend"] = legend_html(views, report.speech) + sheet.lanes_left_out(paper);
  parts["loss"] = loss_html(views, report.speech, input.answers);
  // What is to be filled in stands among the tasks: on paper side by side with them.
  parts["compare"] = input.answers ? compare_html(report, views) : "";
  parts["after"] =
      (input.answers ? sheet.looked_back() : sheet.table_to_fill()) + sheet.cards(false);
  parts["terms"] = sheet.terms();
  parts["ending"] = sheet.ending();
  parts["footer"] = footer_html(report, views);
  return filled(handout_template(), parts, report.speech);
}

}  // namespace trainscope::report
