#include "base/suggest.h"

#include <catch2/catch.hpp>

using namespace trainscope;

namespace {

const std::vector<std::string> kKnobs{"loader.pin_memory", "loader.num_workers", "batch_size",
                                      "steps"};

}  // namespace

TEST_CASE("a slip of the hand finds the name that was meant") {
  CHECK(nearest_name("bath_size", kKnobs) == "batch_size");
  CHECK(nearest_name("batch_sizes", kKnobs) == "batch_size");
  CHECK(nearest_name("setps", kKnobs) == "steps");
  CHECK(nearest_name("BATCH_SIZE", kKnobs) == "batch_size");
  CHECK(did_you_mean("bath_size", kKnobs) == " (did you mean batch_size?)");
}

TEST_CASE("the last word of a dotted name is enough") {
  CHECK(nearest_name("pin_memory", kKnobs) == "loader.pin_memory");
  CHECK(nearest_name("pin_memry", kKnobs) == "loader.pin_memory");
}

TEST_CASE("what is near to nothing gets no suggestion") {
  CHECK(nearest_name("photosynthesis", kKnobs).empty());
  CHECK(nearest_name("", kKnobs).empty());
  CHECK(nearest_name("steps", {}).empty());
  CHECK(nearest_name(std::string(1'000'000, 's'), kKnobs).empty());
  CHECK(did_you_mean("photosynthesis", kKnobs).empty());
  CHECK(nearest_name("xx", {"en", "de"}).empty());
  CHECK(nearest_name("dn", {"en", "de"}) == "en");
}

TEST_CASE("of two names the nearer one is meant") {
  CHECK(nearest_name("h100-2", {"h100-1", "h200-2", "t4-1"}) == "h100-1");
  CHECK(nearest_name("h200-1", {"h100-1", "h200-1"}) == "h200-1");
}

TEST_CASE("of the beginning of a few names all are meant, and of many none") {
  const std::vector<std::string> machines{"a100-sxm-1", "h100-pcie-1", "h100-sxm-1", "h100-sxm-8"};
  CHECK(did_you_mean("h100", machines) == " (did you mean h100-pcie-1, h100-sxm-1 or h100-sxm-8?)");
  CHECK(did_you_mean("A100", machines) == " (did you mean a100-sxm-1?)");
  CHECK(did_you_mean("h10", machines).empty());
  CHECK(did_you_mean("memory", {"memory.peak_a", "memory.peak_b", "memory.peak_c", "memory.peak_d",
                                "memory.peak_e", "memory.peak_f"})
            .empty());
}

TEST_CASE("a name but for its capitals comes first, then what goes on behind it, then a near one") {
  const std::vector<std::string> optimizers{"sgd", "adam", "adamw"};
  CHECK(did_you_mean("AdamW", optimizers) == " (did you mean adamw?)");
  CHECK(nearest_name("AdamW", optimizers) == "adamw");
  const std::vector<std::string> knobs{"optimizer.name", "optimizer.lr", "checkpoint.enabled",
                                       "clip_grad_norm"};
  CHECK(did_you_mean("optimizer", knobs) == " (did you mean optimizer.name or optimizer.lr?)");
  CHECK(did_you_mean("gradient_checkpointing", knobs) == " (did you mean checkpoint.enabled?)");
  CHECK(did_you_mean("checkpoint.enable", knobs) == " (did you mean checkpoint.enabled?)");
}
