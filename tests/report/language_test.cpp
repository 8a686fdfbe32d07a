// A report in another language: all that it says of itself is in that, and its numbers are the
// same.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/causes/diagnosis.h"
#include "base/files.h"
#include "program/knobs.h"
#include "report/html.h"
#include "report/markup.h"
#include "report/page.h"
#include "report/page_data.h"
#include "report/runs.h"
#include "report/said_words.h"
#include "report/svg.h"
#include "report/words.h"
#include "scenario/translation.h"

using namespace trainscope;
using Catch::Contains;
using test::has;
namespace fs = std::filesystem;

namespace {

const Speech& german() {
  static const Speech speech = scenario::speech_in("de");
  return speech;
}

std::string report_in(const Speech& speech, const std::vector<const analysis::Run*>& runs) {
  report::ReportInput input;
  input.title = "T";
  input.version = "1";
  input.runs = runs;
  input.speech = speech;
  return report::html_report(input);
}

// The cells with numbers, one after another, with a point before tenths.
std::string figures_of(const std::string& html) {
  std::string cells;
  const std::string_view open = "<td class=\"number\">";
  for (std::size_t at = html.find(open); at != html.npos; at = html.find(open, at + 1)) {
    std::string cell = test::between(std::string_view(html).substr(at), open, "<");
    std::erase_if(cell, [](unsigned char letter) {
      return !std::isdigit(letter) && letter != '.' && letter != ',';
    });
    std::ranges::replace(cell, ',', '.');
    cells += cell + "\n";
  }
  return cells;
}

analysis::Run learning() {
  return test::simulated("B", {"workload=train", "model.name=mlp", "steps=5", "machine=h200-1",
                               "precision=fp16", "data.name=digits", "loop.evaluate=false"});
}

std::string without_comments(const std::string& code) {
  std::string text;
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t line = std::min(code.find('\n', at), code.size());
    const std::string one = code.substr(at, line - at);
    const std::size_t start = std::min(one.find_first_not_of(" \t"), one.size());
    if (one.compare(start, 2, "//") != 0) text += one + "\n";
    at = line + 1;
  }
  return text;
}

// The code of the program as one text, in which a literal that is written in parts is whole.
std::string program_text() {
  std::string all;
  for (const char* folder : {"src", "ui"})
    for (const auto& entry : fs::recursive_directory_iterator(home_folder() / folder)) {
      const std::string kind = entry.path().extension().string();
      if (kind == ".cpp" || kind == ".h" || kind == ".js" || kind == ".html")
        all += without_comments(read_file(entry.path(), 1 << 20));
    }
  std::string joined;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at] == '"' && (at == 0 || all[at - 1] != '\\')) {
      const std::size_t next = all.find_first_not_of(" \n", at + 1);
      if (next != all.npos && next > at + 1 && all[next] == '"') {
        at = next;
        continue;
      }
    }
    joined += all[at];
  }
  return joined;
}

std::string escaped(const std::string& words) {
  std::string text;
  for (const char letter : words)
    text += letter == '"' ? std::string("\\\"") : std::string(1, letter);
  return text;
}

}  // namespace

TEST_CASE("a German report says nothing of itself in English") {
  const analysis::Run a = test::straggling(), b = learning(), c = test::copies("A", "pageable");
  for (const auto& runs : {std::vector<const analysis::Run*>{&a, &b}, {&c}, {&a}}) {
    const std::string english = report_in({}, runs), other = report_in(german(), runs);
    CHECK(test::unbalanced(other) == "");
    for (const char* words : {"Summary",
                              "Timelines",
                              "Selected",
                              "Projector",
                              "Metrics",
                              "Notes",
                              "In this page",
                              "Dropped events",
                              "What the colours mean",
                              "What the metrics mean",
                              "step time",
                              ">host main<",
                              "host work",
                              "GPU idle",
                              "Written by",
                              "computed by",
                              "zooms",
                              "the default",
                              "does not apply",
                              "H2D copy engine",
                              "spans<"}) {
      CAPTURE(words);
      // In the embedded data and scripts the English words are the keys.
      CHECK_FALSE(has(other.substr(0, other.find("id=\"data\">")), words));
    }
    int explained = 0;
    for (const analysis::Metric& metric : analysis::metrics()) {
      CAPTURE(metric.name);
      if (german().say(metric.help) != metric.help && has(english, "title=\"" + metric.help)) {
        ++explained;
        CHECK_FALSE(has(other, metric.help));
      }
      // What is an identifier stays one.
      CHECK(has(other, "<code>" + metric.name + "</code>") ==
            has(english, "<code>" + metric.name + "</code>"));
    }
    CHECK(explained > 5);
    CHECK(has(other, "SIMULATED: berechnet vom Modell"));
  }
}

TEST_CASE("a German report has the numbers of the English one") {
  const analysis::Run a = test::straggling(), b = learning();
  const std::string english = figures_of(report_in({}, {&a, &b}));
  CHECK(test::count(english, ".") > 20);
  CHECK(figures_of(report_in(german(), {&a, &b})) == english);
}

TEST_CASE("lanes, gaps and the axis of a drawing are told in the report's language") {
  const analysis::Run run = test::copies("A", "pageable");
  report::ReportInput input;
  input.runs = {&run};
  const std::string english = report::timelines_svg(input);
  input.speech = german();
  const std::string other = report::timelines_svg(input);
  for (const auto& [words, said] : {std::pair{"H2D copy engine", "Kopiereinheit\u00A0H2D"},
                                    {"host main", "Host-Hauptthread"},
                                    {"stream 7", "Stream 7"},
                                    {">GPU idle<", ">GPU untätig<"},
                                    {">held: staging<", ">festgehalten: Staging<"}}) {
    CAPTURE(words);
    CHECK((has(english, words) && has(other, said) && !has(other, words)));
  }
}

TEST_CASE("all that a report says has German words") {
  const std::set<std::string> said = report::said_words();
  CHECK(report::script_words(report::page_script()).size() > 30);
  for (const program::Knob& knob : program::knobs()) CHECK(said.contains(knob.help));
  for (const analysis::Metric& metric : analysis::metrics()) {
    CHECK(said.contains(metric.label));
    CHECK(said.contains(metric.help));
  }
  for (std::size_t i = 0; i < trace::kCategoryCount; ++i) {
    const auto category = static_cast<trace::Category>(i);
    CHECK(said.contains(std::string(trace::name_of(category))));
    CHECK(said.contains(std::string(report::meaning_of(category))));
  }
  for (std::size_t i = 0; i < analysis::kPartCount; ++i)
    CHECK(said.contains(std::string(analysis::name_of(static_cast<analysis::Part>(i)))));
  CHECK(said.contains("To the report"));
  for (const std::string& words : said) {
    CAPTURE(words);
    CHECK(german().words.contains(words));
  }
}

TEST_CASE("each of the German words is one that the program says") {
  const std::string program = program_text();
  for (const auto& [english, words] : german().words) {
    CAPTURE(english);
    // "stream {}" may be put together of "stream " and a number.
    const bool numbered = english.ends_with("{}");
    const std::string text = escaped(english);
    const bool there = has(program, "\"" + text + "\"") ||
                       has(program, "{{\"" + english + "\"}}") ||
                       (numbered && has(program, text.substr(0, text.size() - 2)));
    CHECK(there);
  }
}

TEST_CASE("what a run's time goes to is told in German, with the same numbers") {
  for (const char* more : {"precision=fp32", "loader.num_workers=4", "compile.fuse=true"}) {
    const analysis::Run run =
        test::simulated("A", {"workload=train", "model.name=resnet18", "steps=3", more});
    const auto english = analysis::diagnose(run), other = analysis::diagnose(run, german());
    REQUIRE(!english.empty());
    REQUIRE(english.size() == other.size());
    for (std::size_t i = 0; i < english.size(); ++i) {
      const std::string words = analysis::sentence(other[i]);
      CAPTURE(analysis::sentence(english[i]), words);
      CHECK(english[i].nanos == other[i].nanos);
      for (const char* left : {" the ", " and ", "Try ", "Look ", " with "})
        CHECK_FALSE(has(words, left));
      CHECK_THAT(analysis::headline(other[i], german()), Contains(" von "));
    }
  }
}

TEST_CASE("why a run ends is told in the report's language") {
  const analysis::Run full = test::simulated(
      "A", {"workload=train", "model.name=gpt2-large", "batch_size=512", "machine=t4-1"});
  REQUIRE(full.ending);
  const std::string other = report_in(german(), {&full});
  CHECK_THAT(other, Contains("<strong>Zu wenig Speicher.</strong>") &&
                        Contains(" hat zu wenig Speicher in Zeile ") && !Contains("asks for") &&
                        !Contains("what is shown"));
  sim::Deadlock stuck;
  stuck.line = 21;
  stuck.call = "loss.backward()";
  stuck.collective = "all_reduce";
  stuck.group = "default process group";
  stuck.sequence = 5;
  stuck.waiting = {0, 1};
  stuck.missing = {2};
  CHECK_THAT(sim::sentence_below_title(stuck, german()),
             Catch::StartsWith("Ränge 0 und 1 warten in Zeile 21 (loss.backward()) im Kollektiv 5 "
                               "(all_reduce) der Standard-Prozessgruppe auf Rang\u00A02, wo das "
                               "Programm zu Ende ist"));
}
