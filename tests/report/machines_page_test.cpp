#include "report/machines_page.h"

#include <catch2/catch.hpp>

#include "base/temporary_folder.h"
#include "machine/figures.h"
#include "report/markup.h"

using namespace trainscope;
using Catch::Matchers::Contains;

namespace {

std::vector<machine::Machine> all() {
  std::vector<machine::Machine> machines;
  for (const std::string& id : machine::machine_ids())
    machines.push_back(machine::load_machine(id));
  return machines;
}

}  // namespace

TEST_CASE("the page of the machines is well-formed and asks the network for nothing") {
  const std::string html = report::machines_html(all(), "1.2.3");
  CHECK(test::unbalanced(html) == "");
  for (const char* outside : {"http:", "https:", "src=", "<link", "<img", "@import", "fetch("}) {
    CAPTURE(outside);
    CHECK(html.find(outside) == html.npos);
  }
  for (std::size_t at = html.find("url("); at != html.npos; at = html.find("url(", at + 1))
    CHECK(html[at + 4] == '#');
  CHECK_THAT(html, Contains("default-src 'none'"));
  CHECK_THAT(html, Contains("Trainscope 1.2.3"));
  CHECK_THAT(html, Contains("prefers-color-scheme: dark"));
  CHECK(html == report::machines_html(all(), "1.2.3"));
}

TEST_CASE("every machine has a row, a sheet, and all its figures with source and note") {
  const auto machines = all();
  const std::string html = report::machines_html(machines, "");
  std::size_t figures = 0;
  for (const machine::Machine& machine : machines) {
    CAPTURE(machine.id);
    figures += machine::all_figures(machine).size();
    CHECK(test::count(html, "<a href=\"#" + machine.id + "\">") == 1);
    CHECK(test::count(html, "<details class=\"panel machine\" id=\"" + machine.id + "\"") == 1);
    CHECK(test::count(html, "<span class=\"foreign\">" + machine.name + "</span>") == 1);
  }
  const std::size_t legend = 3;
  CHECK(test::count(html, "<span class=\"source ") == figures + legend);
  CHECK(test::count(html, "<td class=\"small note foreign\">") == figures);
  CHECK_THAT(html, Contains("bandwidthTest log, DGX A100, 32 MB"));
  CHECK_THAT(html, Contains(std::to_string(machines.size()) + " machines"));
}

TEST_CASE("the table says how many GPUs there are, and what there is not") {
  const std::string html =
      report::machines_html({machine::load_machine("h200-8x2"), machine::load_machine("t4-1")}, "");
  const std::string nodes = test::between(html, "<tr data-search=\"h200-8x2", "</tr>");
  CHECK_THAT(nodes, Contains("data-value=\"16\">2 x 8</td>"));
  CHECK_THAT(nodes, Contains("data-value=\"400\">400</td>"));
  const std::string one = test::between(html, "<tr data-search=\"t4-1", "</tr>");
  CHECK(test::count(one, ">none</span>") == 2);  // a link between GPUs, a network
  CHECK_THAT(one, Contains("--share:"));
}

TEST_CASE("a single machine's sheet is open") {
  const std::string html = report::machines_html({machine::load_machine("t4-1")}, "");
  CHECK_THAT(html, Contains("1 machine<"));
  CHECK(test::count(html, " open><summary") == 1);
  CHECK_THAT(html, Contains("<title>t4-1 - Trainscope</title>"));
}

TEST_CASE("what a file of one's own says cannot break the page") {
  const test::TemporaryFolder folder;
  const auto file =
      folder.write("my.toml",
                   "base = \"t4-1\"\nname = \"1 x <script>alert(1)</script> {{table}}\"\n"
                   "[host]\ncores = { value = 4, source = \"fitted\", note = \"</td>&\\\"x\" }\n");
  const std::string html = report::machines_html({machine::load_machine(file.string())}, "");
  CHECK(html.find("<script>alert") == html.npos);
  CHECK_THAT(html, Contains("&lt;/td&gt;&amp;"));
  CHECK_THAT(html, Contains("{{table}}"));
  CHECK(test::unbalanced(html) == "");
}
