// Ranks that wait for one that never comes, as a person sees it: a result like any other.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/program.h"

using nlohmann::json;
using namespace trainscope::test;

namespace {

const std::string kUneven =
    "run --machine h100-sxm-8 --steps 3 --set workload=train --set parallel.strategy=ddp --set "
    "parallel.world_size=4 --set uneven_batches=true ";

}  // namespace

TEST_CASE("a deadlock ends a run well, and says who waits for whom and at which line") {
  const Result ran = run(kUneven);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Catch::Contains("deadlock: ranks 0, 1 and 2 wait at line ") &&
                          Catch::Contains("(loss.backward()) in collective ") &&
                          Catch::Contains("for rank 3, which has come to the end of its program"));
  const json one = json::parse(run(kUneven + "--json").out)["runs"]["A"];
  CHECK(one["deadlock"]["waiting"] == json({0, 1, 2}));
  CHECK(one["deadlock"]["missing"] == json({3}));
  CHECK(one["deadlock"]["collective"] == "all_reduce");
  CHECK(one["metrics"]["comm.stuck"]["value"] == 3);
}

TEST_CASE("a deadlock is saved, opened and drawn like a run that came to its end") {
  const Folder folder;
  saved_and_opened(kUneven, folder.file("stuck.tsrun"));
}

TEST_CASE("DataParallel is a strategy, and its refusals say what to write") {
  const std::string dp =
      "run --machine h100-sxm-8 --steps 2 --set workload=train --set parallel.strategy=dp --set "
      "parallel.world_size=";
  CHECK(run(dp + "4").code == 0);
  const Result many = run(dp + "9");
  CHECK(many.code == 2);
  CHECK_THAT(many.err, Catch::Contains("write at most that, or choose a larger machine"));
  CHECK(run(dp + "0").code == 2);
}
