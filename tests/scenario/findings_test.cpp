// What several runs have in common is said once.
#include "scenario/findings.h"

#include <catch2/catch.hpp>

using namespace trainscope;
using scenario::Findings;

TEST_CASE("what is wrong in several runs alike is one finding, with where it is") {
  Findings findings;
  const SourcePlace place{"f.toml", 3, 1}, other{"f.toml", 9, 1};
  findings.add_on("a-1", place, "it fails", ": 1");
  findings.add(other, "once");
  findings.add_on("b-1", place, "it fails", ": 2");
  findings.add_on("b-1", other, "it fails", ": 3");
  findings.add(other, "once");
  const auto all = findings.take();
  REQUIRE(all.size() == 3);
  CHECK(all[0].sentence == "it fails on a-1 and b-1: 1");
  CHECK(all[1].sentence == "once");
  CHECK(all[2].sentence == "it fails on b-1: 3");
  CHECK(scenario::where_words({"a", "b", "c"}) == "a, b and c");
  CHECK(scenario::where_words({"a", "b", "c", "d"}) == "a and 3 more");
}

TEST_CASE("what one run gave can be taken back") {
  Findings findings;
  const SourcePlace place{"f.toml", 3, 1};
  findings.add_on("a-1", place, "it fails", ": out of memory");
  const std::size_t mark = findings.mark();
  CHECK(findings.first_with(mark, "memory") == nullptr);
  findings.add_on("b-1", {"f.toml", 5, 1}, "it fails", ": out of memory");
  REQUIRE(findings.first_with(mark, "memory"));
  CHECK(findings.first_with(mark, "memory")->line == 5);
  findings.take_back(mark);
  REQUIRE(findings.take().size() == 1);
  CHECK(findings.take()[0].sentence == "it fails on a-1: out of memory");
}
