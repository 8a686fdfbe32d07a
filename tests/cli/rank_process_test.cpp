// `trainscope run` as torchrun and Slurm start it.
#include "cli/rank_process.h"

#include <catch2/catch.hpp>

#include "cli/program.h"
#include "support/skip.h"

using namespace trainscope;
using namespace trainscope::test;
using Catch::Matchers::Contains;

TEST_CASE("a process sees the GPU of its local rank, of those that it may use") {
  CHECK(cli::visible_gpu(3, nullptr) == "3");
  CHECK(cli::visible_gpu(1, "4,5,6") == "5");
  CHECK(cli::visible_gpu(0, "GPU-8d4a,GPU-77aa") == "GPU-8d4a");
  CHECK(cli::visible_gpu(2, "0") == "0");  // the starter has chosen
  CHECK_THROWS_WITH(cli::visible_gpu(3, "0,1"),
                    Contains("names 2 GPUs") && Contains("local rank 3"));
}

namespace {

const std::string kTraining =
    "run --set workload=train --set parallel.strategy=ddp --executor cuda";
const std::string kPlace = "RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=1";

}  // namespace

TEST_CASE("what a starter says half is refused") {
  const Result half = run_in("RANK=1", kTraining);
  CHECK(half.code == 2);
  CHECK_THAT(half.err, Contains("WORLD_SIZE"));
}

TEST_CASE("without a GPU each process that a starter starts says so, but where it simulates") {
  // Simulated, a process is like any other.
  CHECK(run_in(kPlace, "run --set workload=launch").code == 0);
  if (run("run --set workload=launch --executor cuda").code == 0)
    TRAINSCOPE_SKIP("there is a GPU here");
  CHECK(run_in(kPlace, kTraining).code == 3);
}
