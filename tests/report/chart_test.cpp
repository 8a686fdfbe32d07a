#include "report/chart.h"

#include <catch2/catch.hpp>

#include "base/files.h"
#include "base/toml.h"
#include "report/html.h"
#include "report/markup.h"
#include "report/runs.h"

using namespace trainscope;
using test::has;

TEST_CASE("values beyond a scale's ends stand at them, whichever end is the larger") {
  const report::Scale up{0, 10, 100, 20};
  CHECK(up.at(0) == 100);
  CHECK(up.at(5) == 60);
  CHECK(up.at(10) == 20);
  CHECK(up.at(-3) == 100);
  CHECK(up.at(30) == 20);
  CHECK(report::Scale{5, 5, 1, 2}.at(5) == 1);
}

TEST_CASE("names in a table of figures stay names, and a run without a figure has a dash") {
  const std::string html = report::figures_html("<i>", {"A", "<b>"}, {{"<u>", {"", "&"}}});
  CHECK(test::unbalanced(html) == "");
  CHECK_FALSE(has(html, "<u>"));
  CHECK(has(html, "&lt;u&gt;"));
  CHECK(has(html, ">-</td>"));
  CHECK(has(html, ">&amp;</td>"));
}

TEST_CASE("a sentence is told in the page's language, with its places filled in") {
  CHECK(report::told({}, "peak {} of {}", "1 GiB", 2) == "peak 1 GiB of 2");
  const Speech german{{{"peak {} of {}", "Spitze {} von {}"}}};
  CHECK(report::told(german, "peak {} of {}", "1 GiB", 2) == "Spitze 1 GiB von 2");
}

TEST_CASE(
    "German words have as many places as the English ones, and the views of a report use them") {
  Speech german;
  for (const auto& [key, node] : read_toml(home_folder() / "assets" / "words.de.toml")) {
    const std::string english(key.str()), words = node.value<std::string>().value();
    CAPTURE(english);
    CHECK(test::count(english, "{}") == test::count(words, "{}"));
    german.words.emplace(english, words);
  }
  const analysis::Run a = test::straggling();
  const analysis::Run b =
      test::simulated("B", {"workload=train", "model.name=mlp", "steps=5", "machine=h200-1",
                            "precision=fp16", "data.name=digits", "loop.evaluate=false"});
  report::ReportInput input;
  input.runs = {&a, &b};
  const auto views = [&] {
    const std::string html = report::html_report(input);
    const std::size_t first = html.find("class=\"panel view\"");
    return html.substr(first, html.find("class=\"panel compare\"") - first);
  };
  const std::string english = views();
  input.speech = german;
  const std::string other = views();
  for (const char* title : {"Memory", "Loss scaling", "SM waves and occupancy", "Gradient flow"}) {
    CHECK(has(english, ">" + std::string(title) + "</h2>"));
    CHECK(has(other, ">" + german.say(title) + "</h2>"));
  }
  int said = 0;
  for (const auto& [words, translated] : german.words) {
    CAPTURE(words);
    if (words == translated || !has(english, ">" + words + "<")) continue;
    ++said;
    CHECK_FALSE(has(other, ">" + words + "<"));
  }
  CHECK(said > 10);
}
