#include "cuda/sm_load.h"

#include <catch2/catch.hpp>

using namespace trainscope;
using namespace trainscope::cuda;

TEST_CASE("what SMs hold is counted once an SM, and for every block of it") {
  // Two on SM 0 that overlap, one on SM 1; the device's clock is 5,000 ahead.
  const std::vector<BlockRecord> blocks = {
      {5'000, 5'060, 0, 0}, {5'020, 5'100, 0, 0}, {5'040, 5'080, 1, 0}};
  CHECK(sm_load({{100, 200, 8, blocks}}) ==
        std::vector<SmLoad>{
            {100, 1, 8}, {120, 1, 16}, {140, 2, 24}, {160, 2, 16}, {180, 1, 8}, {200, 0, 0}});
}

TEST_CASE("a launch's blocks fill the time in which the tracer saw it") {
  // A clock that steps by 1,024 told a longer time than the 500 that it took.
  const std::vector<BlockRecord> blocks = {{2'048, 3'072, 0, 0}, {3'072, 4'096, 0, 0}};
  CHECK(sm_load({{1'000, 1'500, 4, blocks}}) ==
        std::vector<SmLoad>{{1'000, 1, 4}, {1'250, 1, 4}, {1'500, 0, 0}});
}

TEST_CASE("blocks that a coarse clock saw begin and end at once hold nothing") {
  const std::vector<BlockRecord> blocks = {{1'024, 1'024, 0, 0}, {1'024, 1'024, 7, 0}};
  CHECK(sm_load({{300, 400, 4, blocks}}) == std::vector<SmLoad>{{300, 0, 0}});
  // An end before its start, on two counters that are not quite in step.
  const std::vector<BlockRecord> backwards = {{1'024, 2'048, 0, 0}, {1'536, 1'500, 1, 0}};
  CHECK(sm_load({{0, 1'024, 2, backwards}}) ==
        std::vector<SmLoad>{{0, 1, 2}, {512, 1, 2}, {1'024, 0, 0}});
}

TEST_CASE("launches on several streams share the SMs") {
  const std::vector<BlockRecord> one = {{0, 100, 0, 0}, {0, 100, 1, 0}};
  const std::vector<BlockRecord> other = {{900'050, 900'150, 1, 0}};
  CHECK(sm_load({{0, 100, 8, one}, {50, 150, 2, other}}) ==
        std::vector<SmLoad>{{0, 2, 16}, {50, 2, 18}, {100, 1, 2}, {150, 0, 0}});
  CHECK(sm_load({}).empty());
  CHECK(sm_load({{0, 100, 8, {}}}).empty());
}
