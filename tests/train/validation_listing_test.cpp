// How a script with a validation reads, and what a validation is not built for.

#include <catch2/catch.hpp>
#include <string>

#include "support/built_program.h"

using namespace trainscope;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using test::listing_of;
using test::program_of;
using test::Settings;
using test::with;

namespace {

const char* const kThree = "validation.batches=3";
const char* const kRecords = "validation.no_grad=false";

}  // namespace

TEST_CASE("a validation's listing says what it does") {
  const auto listing = [](const Settings& settings) { return listing_of(program_of(settings)); };
  const Settings every{"steps=20", "data.name=digits", "batch_size=32", "validation.batches=8",
                       "validation.every=10"};
  CHECK_THAT(listing(every), Contains("val_loader = DataLoader(val_data, batch_size=32)\n"
                                      "val_losses = []\n"
                                      "def validate():\n"
                                      "    model.eval()\n"
                                      "    with torch.no_grad():\n"
                                      "        for x, y in itertools.islice(val_loader, 8):\n"
                                      "            x, y = x.to(device), y.to(device)\n"
                                      "            out = model(x)\n"
                                      "            loss = F.cross_entropy(out, y)\n"
                                      "            val_losses.append(loss.item())\n"
                                      "    model.train()\n"
                                      "\n"
                                      "for step, (x, y) in enumerate(loader):\n") &&
                                 Contains("    optimizer.step()\n"
                                          "    if step % 10 == 9: validate()\n"));
  CHECK_THAT(listing({"data.source=tensor", "model.name=gpt-mini", "precision=bf16",
                      "attention.kernel=flash", "validation.batches=2", kRecords,
                      "validation.keep=output", "loop.keep_losses=tensor", "batch_size=4"}),
             Contains("losses = []\n"
                      "X_val, Y_val = load_validation_tensors()\n"
                      "outputs = []\n"
                      "def validate():\n"
                      "    model.eval()\n"
                      "    for x, y in itertools.islice(zip(X_val.split(4), Y_val.split(4)), 2):\n"
                      "        x, y = x.to(device), y.to(device)\n"
                      "        with torch.autocast(\"cuda\", dtype=torch.bfloat16), "
                      "sdpa_kernel(SDPBackend.FLASH_ATTENTION):\n"
                      "            out = model(x)\n"
                      "            loss = F.cross_entropy(out.flatten(0, 1), y.flatten())\n"
                      "        outputs.append(out)\n"
                      "    model.train()\n") &&
                 Contains("    optimizer.step()\n"
                          "    losses.append(loss)\n"
                          "    validate()\n"));
  CHECK_THAT(listing({"loop.keep_losses=item"}), Contains("    losses.append(loss.item())\n"));
  CHECK_THAT(listing({}), !Contains("val") && !Contains("losses"));
}

TEST_CASE("what a validation is not built for is refused in a sentence") {
  const auto refused = [](const Settings& more, const char* sentence) {
    INFO(more.front());
    CHECK_THROWS_WITH(program_of(with({"machine=h200-8", kThree}, more)), Equals(sentence));
  };
  for (const char* strategy : {"dp", "fsdp", "tensor", "pipeline"}) {
    const std::string sentence =
        "validation.batches is not built for parallel.strategy = " + std::string(strategy) +
        "; set it to 0, or parallel.strategy = ddp";
    refused({"parallel.strategy=" + std::string(strategy), "parallel.world_size=2"},
            sentence.c_str());
  }
  refused({"device=cpu"}, "validation.batches is built for the GPU; set it to 0, or device = cuda");
  refused({"compile.fuse=true"},
          "compile.fuse is not built beside validation.batches; set one of the two back");
  refused({"compile.cuda_graph=true"},
          "compile.cuda_graph is not built beside validation.batches; set one of the two back");
  refused({"data.image_sizes=2", "model.name=resnet18"},
          "data.image_sizes is not built beside validation.batches; set one of the two back");
  refused({"data.location=device"},
          "data.location = device is not built beside validation.batches, whose batches are "
          "loaded; set one of the two back");
  CHECK_THROWS_WITH(program_of({"machine=h200-8", "parallel.strategy=pipeline",
                                "parallel.world_size=2", "loop.keep_losses=item"}),
                    Contains("loop.keep_losses is not built for parallel.strategy = pipeline"));
}
