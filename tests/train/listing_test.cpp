// The listing of a training job: what PyTorch would run, and what the program does.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "train/build.h"

using namespace trainscope;
using Catch::Matchers::Contains;

namespace {

std::string listing(const std::vector<std::string>& settings) {
  program::Config config;
  for (const std::string& setting : settings) config.set_text(setting);
  std::string text;
  for (const std::string& line :
       train::build_program(config, train::machine_of(config)).listing.lines)
    text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("a loop that accumulates through several epochs begins each of them") {
  const std::vector<std::string> settings{"data.name=digits", "steps=30", "batch_size=1000",
                                          "accumulate_steps=4"};
  CHECK_THAT(listing(settings), Contains("def batches_of_epochs():\n"
                                         "    for epoch in range(12):\n"
                                         "        yield from loader\n"
                                         "\n"
                                         "batches = batches_of_epochs()\n"
                                         "for step in range(30):\n"));
  std::vector<std::string> ranks = settings;
  for (const char* more : {"machine=h200-8", "parallel.strategy=ddp", "parallel.world_size=2",
                           "steps=10", "loop.item_every=2"})
    ranks.emplace_back(more);
  CHECK_THAT(listing(ranks), Contains("    for epoch in range(8):\n"
                                      "        sampler.set_epoch(epoch)\n"
                                      "        yield from loader\n") &&
                                 !Contains("step = -1"));
  // Within one epoch the loader is enough.
  CHECK_THAT(listing({"data.name=digits", "steps=2", "batch_size=1000", "accumulate_steps=4"}),
             Contains("batches = iter(loader)\n"));
}

TEST_CASE("a range of files is no sampler that can be told the epoch") {
  const std::vector<std::string> settings{"machine=h200-8",   "parallel.strategy=ddp",
                                          "data.name=digits", "parallel.world_size=4",
                                          "batch_size=300",   "steps=40"};
  CHECK_THAT(listing(settings), Contains("sampler.set_epoch(epoch)"));
  std::vector<std::string> uneven = settings;
  uneven.emplace_back("uneven_batches=true");
  CHECK_THAT(listing(uneven), Contains("sampler = range(first[rank], last[rank])") &&
                                  !Contains("set_epoch") &&
                                  Contains("  # 40 steps in all, 39 of the last rank\n"));
  uneven.emplace_back("sampler.set_epoch=false");
  CHECK_THROWS_WITH(listing(uneven), Contains("with uneven_batches the files are cut by hand"));
}

TEST_CASE("how far each worker reads ahead stands in the loader's call where it is not PyTorch's") {
  CHECK_THAT(listing({"loader.num_workers=2", "loader.prefetch_factor=8"}),
             Contains(", prefetch_factor=8"));
  CHECK_THAT(listing({"loader.num_workers=2", "loader.prefetch_factor=2"}),
             !Contains("prefetch_factor"));
}
