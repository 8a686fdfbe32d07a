// `trainscope run` as torchrun and Slurm start it.
#include "cli/rank_process.h"

#include <catch2/catch.hpp>

#include "cli/program.h"

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

TEST_CASE("what a starter says half is refused, and without a GPU each process says why") {
  const std::string what = "run --set workload=train --set parallel.strategy=ddp --executor cuda";
  const std::string place = "RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=1";
  const Result half = run_in("RANK=1", what);
  CHECK(half.code == 2);
  CHECK_THAT(half.err, Contains("WORLD_SIZE"));
  if (run("run --set workload=launch --executor cuda").code == 0) return;  // there is a GPU
  CHECK(run_in(place, what).code == 3);
  // Simulated, a process is like any other.
  CHECK(run_in(place, "run --set workload=launch").code == 0);
}
