#include "base/rank_words.h"

#include <catch2/catch.hpp>

using namespace trainscope;

TEST_CASE("ranks in a sentence") {
  CHECK(rank_words({2}) == "rank 2");
  CHECK(rank_words({0, 1, 3}) == "ranks 0, 1 and 3");
  CHECK(range_words({0, 1}) == "ranks 0 and 1");
  CHECK(range_words({4, 5, 6, 7}) == "ranks 4 to 7");
  CHECK(range_words({0, 2, 3}) == "ranks 0, 2 and 3");
}

TEST_CASE("where ranks are is said node by node") {
  CHECK(node_words({"", ""}).empty());
  CHECK(node_words({"a", "a"}) == "on a");
  CHECK(node_words({"a", "a", "a", "a", "b", "b", "b", "b"}) ==
        "on 2 nodes, a (ranks 0 to 3) and b (ranks 4 to 7)");
  CHECK(node_words({"a", "b", "a", "c"}) ==
        "on 3 nodes, a (ranks 0 and 2), b (rank 1) and c (rank 3)");
  CHECK(node_words({"a", ""}) == "on 2 nodes, a (rank 0) and one without a name (rank 1)");
}
