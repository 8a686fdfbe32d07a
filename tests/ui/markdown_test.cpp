#include "ui/panels/lesson/markdown.h"

#include <catch2/catch.hpp>

using namespace trainscope::ui;

TEST_CASE("bold, emphasis and code become runs of their own") {
  const auto blocks = parse_markdown("Press **Run** in *Code* with `x = 1`.");
  REQUIRE(blocks.size() == 1);
  const auto& runs = blocks[0].runs;
  REQUIRE(runs.size() == 7);
  CHECK(runs[1].strong);
  CHECK(runs[1].text == "Run");
  CHECK(runs[3].emphasis);
  CHECK(runs[5].code);
  CHECK(runs[5].text == "x = 1");
}

TEST_CASE("paragraphs and lists become blocks") {
  const auto blocks = parse_markdown("One\nline.\n\n- first\n- second\n\n1. a\n2. b\n");
  REQUIRE(blocks.size() == 5);
  CHECK(blocks[0].runs.size() == 3);
  CHECK(blocks[0].runs[1].text == " ");
  CHECK(blocks[1].bullet == "•");
  CHECK(blocks[1].indent == 1);
  CHECK(blocks[4].bullet == "2.");
}

TEST_CASE("a term is marked where the text says it first, outside code") {
  trainscope::scenario::Term engine, stream;
  engine.name = "copy engine";
  stream.name = "stream";
  const std::vector<trainscope::scenario::Term> terms{engine, stream};
  auto blocks =
      parse_markdown("Two `stream`s: **streams** share a copy\nengine, a stream does not.");
  mark_terms(blocks, terms);
  REQUIRE(blocks.size() == 1);
  std::vector<std::string> said;
  for (const TextRun& run : blocks[0].runs)
    if (run.term) said.push_back(run.text);
  CHECK(said == std::vector<std::string>{"streams", "copy engine"});
}

TEST_CASE("nothing and broken Markdown are no trouble") {
  CHECK(parse_markdown("").empty());
  CHECK_FALSE(parse_markdown("**never closed `either").empty());
}
