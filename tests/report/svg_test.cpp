#include "report/svg.h"

#include <catch2/catch.hpp>
#include <regex>

#include "report/markup.h"
#include "report/page.h"
#include "report/runs.h"

using namespace trainscope;
using test::count;
using test::has;

namespace {

report::ReportInput input_of(std::vector<const analysis::Run*> runs) {
  report::ReportInput input;
  input.title = "Pinned & pageable";
  input.runs = std::move(runs);
  return input;
}

}  // namespace

TEST_CASE("a drawing is a file of its own: well-formed, with its badge, legend and all colours") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  for (const auto theme : {report::SvgTheme::kLight, report::SvgTheme::kDark}) {
    const std::string svg = report::timelines_svg(input_of({&a, &b}), {}, theme);
    CHECK(has(svg, "xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(test::unbalanced(svg.substr(svg.find("<svg"))) == "");
    CHECK(has(svg, ">SIMULATED</text>"));
    CHECK(has(svg, ">Pinned &amp; pageable</text>"));
    CHECK(has(svg, ">copy H2D</text>"));
    CHECK_FALSE(has(svg, "var("));
    CHECK(svg == report::timelines_svg(input_of({&a, &b}), {}, theme));
    // Every lane that has spans is named.
    CHECK(has(svg, ">H2D copy engine</text>"));
  }
  CHECK(report::timelines_svg(input_of({&a}), {}, report::SvgTheme::kLight) !=
        report::timelines_svg(input_of({&a}), {}, report::SvgTheme::kDark));
}

TEST_CASE("words on a hatched bar stand on a plate of its own colour") {
  const analysis::Run a = test::copies("A", "pageable");
  const std::string svg = report::timelines_svg(input_of({&a}));
  const std::regex held("class=\"f-held\"/>\n<text [^>]*class=\"t-held\">");
  CHECK(std::regex_search(svg, held));
  CHECK(count(svg, "rx=\"2\" class=\"f-held\"") == count(svg, "class=\"t-held\""));
  CHECK(count(svg, "class=\"t-cuda-call\"") > 0);
  CHECK_FALSE(has(svg, "class=\"f-cuda-call\""));
}

TEST_CASE("a long title ends before the badges, and stands whole in what names the drawing") {
  const analysis::Run a = test::copies("A", "pageable");
  report::ReportInput input = input_of({&a});
  input.title = std::string(300, 'x');
  const std::string svg = report::timelines_svg(input, {}, report::SvgTheme::kLight);
  CHECK(has(svg, "<title>" + input.title + "</title>"));
  const auto drawn = svg.find("class=\"title\">") + 14;
  const std::string shown = svg.substr(drawn, svg.find('<', drawn) - drawn);
  CHECK(shown.ends_with("…"));
  CHECK(shown.size() < 160);
  CHECK(shown.size() > 40);
}

TEST_CASE("each theme's colours are those of the page") {
  for (const auto theme : {report::SvgTheme::kLight, report::SvgTheme::kDark}) {
    const auto values = report::theme_values(report::page_colors(), theme);
    const auto value = [&](const std::string& name) {
      for (const auto& [one, text] : values)
        if (one == name) return text;
      return std::string();
    };
    CHECK(value("c-forward") == "#4b9be6");
    CHECK(value("panel") == (theme == report::SvgTheme::kDark ? "#171b21" : "#ffffff"));
    // Whatever a drawing is styled by has a value.
    const std::string style(report::drawn_style());
    const std::regex variable("var\\(--([a-z0-9-]+)\\)");
    for (std::sregex_iterator at(style.begin(), style.end(), variable), end; at != end; ++at) {
      INFO((*at)[1].str());
      CHECK_FALSE(value((*at)[1].str()).empty());
    }
  }
}

TEST_CASE("nothing is drawn outside the drawing, also where a part of the time is shown") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  const Nanos end = a.trace->end();
  for (const auto& view : {report::PictureView{}, report::PictureView{end / 3, end / 2, {}, {}},
                           report::PictureView{-end, end / 2, {}, {0, end / 5}}}) {
    const std::string svg = report::timelines_svg(input_of({&a, &b}), view);
    const std::regex bar("M([0-9.-]+) [0-9.-]+h([0-9.-]+)v");
    std::size_t bars = 0;
    for (std::sregex_iterator at(svg.begin(), svg.end(), bar), last; at != last; ++at, ++bars) {
      const double x = std::stod((*at)[1]), width = std::stod((*at)[2]);
      REQUIRE(x >= 169.9);
      REQUIRE(x + width <= 1180.7);
    }
    CHECK(bars > 0);
  }
}

TEST_CASE("lanes that are hidden are left out of a drawing") {
  const analysis::Run a = test::copies("A", "pageable");
  report::PictureView view;
  view.hidden.emplace_back();
  const std::string all = report::timelines_svg(input_of({&a}));
  for (trace::LaneId lane = 0; lane < a.trace->lanes().size(); ++lane)
    if (a.trace->lanes()[lane].name == "H2D copy engine") view.hidden[0].push_back(lane);
  REQUIRE(view.hidden[0].size() == 1);
  const std::string fewer = report::timelines_svg(input_of({&a}), view);
  CHECK(count(all, ">H2D copy engine<") == 1);
  CHECK(count(fewer, ">H2D copy engine<") == 0);
}

TEST_CASE("notes have their numbers on the lanes and their words below, those in view alone") {
  analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  const trace::LaneId lane = b.trace->spans()[0].lane;
  const Nanos end = b.trace->end();
  a.notes = {{.lane = lane, .start = 0, .end = 1000, .text = "of A"}};
  b.notes = {{.lane = lane, .start = 0, .end = end / 4, .text = "early & <short>"},
             {.lane = lane, .start = end / 2, .end = end, .text = std::string(600, 'x')}};
  const std::string svg = report::timelines_svg(input_of({&a, &b}));
  CHECK(test::unbalanced(svg.substr(svg.find("<svg"))) == "");
  CHECK(count(svg, "class=\"note-number\"") == 3);
  CHECK(has(svg, ": early &amp; &lt;short&gt;</text>"));
  CHECK(has(svg, ">2  B, "));
  CHECK(has(svg, "xxx…</text>"));
  CHECK_FALSE(has(svg, std::string(300, 'x')));
  report::PictureView late;
  late.start = end / 2 + 1;
  late.end = end;
  const std::string part = report::timelines_svg(input_of({&a, &b}), late);
  CHECK(count(part, "class=\"note-number\"") == 1);
  CHECK(has(part, ">3  B, "));
}
