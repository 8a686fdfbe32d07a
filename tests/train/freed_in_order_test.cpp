// A GPU gives memory back when the stream is there that it was allocated for: other streams' work
// on it is done by then, whatever a strategy sends beside what it computes.
#include "support/freed_in_order.h"

#include <catch2/catch.hpp>

#include "support/config.h"
#include "train/build.h"

using namespace trainscope;
using test::Settings;

TEST_CASE("memory is given back behind all that uses it, on whichever stream") {
  const Settings fsdp{"parallel.strategy=fsdp", "parallel.world_size=4"};
  const Settings tensor{"parallel.strategy=tensor", "parallel.world_size=2"};
  const Settings mesh{"parallel.strategy=tensor", "parallel.world_size=4", "tensor.degree=2"};
  const Settings sharded{"parallel.strategy=fsdp", "parallel.world_size=4", "tensor.degree=2"};
  const Settings pipeline{"parallel.strategy=pipeline", "parallel.world_size=2",
                          "pipeline.microbatches=4", "batch_size=4"};
  for (const auto& [strategy, more] : std::vector<std::pair<Settings, Settings>>{
           {fsdp, {}},
           {fsdp, {"fsdp.param_dtype=bf16"}},
           {fsdp, {"fsdp.shard_degree=2"}},
           {fsdp, {"fsdp.shard_degree=2", "fsdp.param_dtype=bf16"}},
           {fsdp, {"fsdp.shard_degree=2", "fsdp.param_dtype=bf16", "fsdp.reduce_dtype=fp32"}},
           {fsdp, {"fsdp.shard_degree=1", "fsdp.param_dtype=bf16", "accumulate_steps=2"}},
           {fsdp,
            {"fsdp.shard_degree=2", "fsdp.param_dtype=bf16", "accumulate_steps=2",
             "fsdp.gradient_sync=last"}},
           {tensor, {}},
           {tensor, {"tensor.sequence_parallel=true"}},
           {mesh, {}},
           {mesh, {"tensor.sequence_parallel=true", "accumulate_steps=2"}},
           {tensor, {"tensor.sequence_parallel=true", "precision=bf16"}},
           {sharded, {}},
           {sharded, {"tensor.sequence_parallel=true", "tensor.loss_parallel=true"}},
           {sharded, {"tensor.sequence_parallel=true", "fsdp.param_dtype=bf16"}},
           {sharded,
            {"tensor.sequence_parallel=true", "accumulate_steps=2", "fsdp.gradient_sync=last"}},
           {sharded, {"accumulate_steps=2", "fsdp.reshard_after_forward=false"}},
           {pipeline, {"pipeline.schedule=1f1b"}},
           {pipeline, {"pipeline.schedule=interleaved_1f1b"}},
           {pipeline, {"pipeline.schedule=interleaved_1f1b", "pipeline.batch_p2p_comm=false"}},
           {pipeline, {"parallel.world_size=4", "pipeline.degree=2"}},
           {pipeline,
            {"pipeline.schedule=interleaved_1f1b", "parallel.world_size=4", "pipeline.degree=2",
             "ddp.bucket_cap_mb=0.01"}}}) {
    Settings all{"model.name=gpt-mini", "data.name=text",     "model.width=24", "model.blocks=4",
                 "model.heads=2",       "model.seq_len=16",   "steps=3",        "machine=h200-8",
                 "batch_size=2",        "loop.evaluate=false"};
    all.insert(all.end(), strategy.begin(), strategy.end());
    all.insert(all.end(), more.begin(), more.end());
    INFO(strategy.front() << " " << (more.empty() ? "" : more.front()) << " "
                          << (more.size() < 2 ? "" : more[1]));
    const program::Config config = test::config_of(all);
    const program::Program program = train::build_program(config, train::machine_of(config));
    const test::FreedInOrder freed(program);
    CHECK(freed.too_early() == std::set<std::string>{});
    CHECK(freed.frees() > 100);
  }
}
