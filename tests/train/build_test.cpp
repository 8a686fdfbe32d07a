#include "train/build.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "train/mlp.h"

using namespace trainscope;
using program::Program;

namespace {

Program build(std::initializer_list<const char*> settings) {
  program::Config config;
  for (const char* setting : settings) config.set_text(setting);
  return train::build_program(config, machine::load_machine(config.word("machine")));
}

std::string text(const Program& program) {
  std::string all;
  for (const std::string& line : program.listing.lines) all += line + "\n";
  return all;
}

template <typename Action>
int count(const Program& program, std::size_t thread = 0) {
  int found = 0;
  for (const auto& command : program.threads[thread].commands)
    found += std::holds_alternative<Action>(command.action) ? 1 : 0;
  return found;
}

}  // namespace

TEST_CASE("turning a knob changes the listing") {
  CHECK_THAT(text(build({"workload=copy", "copy.memory=pinned"})),
             Catch::Contains("pin_memory=True"));
  CHECK_THAT(text(build({"workload=copy"})), !Catch::Contains("pin_memory"));
  CHECK_THAT(text(build({"workload=copy", "transfer.non_blocking=true"})),
             Catch::Contains("y.copy_(x, non_blocking=True)"));
  CHECK_THAT(text(build({"loader.pin_memory=true"})), Catch::Contains("pin_memory=True"));
  CHECK_THAT(text(build({"transfer.streams=2"})),
             Catch::Contains("torch.cuda.current_stream().wait_stream(copy_stream)"));
  CHECK_THAT(text(build({"loop.item_every=10"})),
             Catch::Contains("if step % 10 == 0:") && Catch::Contains("print(loss.item())"));
  CHECK_THAT(text(build({"batch_size=4096"})), Catch::Contains("batch_size=4096"));
}

TEST_CASE("every command of the training thread cites a line of the listing") {
  for (const char* workload : {"workload=copy", "workload=train"}) {
    const Program program = build({workload, "loader.num_workers=2", "transfer.streams=2"});
    for (const auto& command : program.threads[0].commands) CHECK(command.line > 0);
  }
}

TEST_CASE("a blocking copy is a copy and a stream synchronisation, as PyTorch's .to() is") {
  CHECK(count<program::StreamSync>(build({"workload=copy", "copy.count=4"})) == 4);
  CHECK(count<program::StreamSync>(
            build({"workload=copy", "copy.count=4", "transfer.non_blocking=true"})) == 0);
}

TEST_CASE("workers take whole batches in turn, and each batch is taken once") {
  const Program program = build({"loader.num_workers=3", "steps=8", "loader.pin_memory=true"});
  REQUIRE(program.threads.size() == 5);  // the training thread, three workers, the pin thread
  CHECK(count<program::HostWork>(program, 1) == 3);
  CHECK(count<program::HostWork>(program, 2) == 3);
  CHECK(count<program::HostWork>(program, 3) == 2);
  CHECK(count<program::HostCopy>(program, 4) == 8);
  CHECK(count<program::Take>(program) == 8);
  CHECK(count<program::Push>(program) == 8);  // index lists
}

TEST_CASE("the step launches what PyTorch launches for this model") {
  const Program program = build({"steps=1"});
  CHECK(count<program::Launch>(program) == 3 + 2 + 8 + 1);
  const train::MlpShape shape{64, 784, 128, 10};
  CHECK(shape.parameters() == 101770);
  CHECK(train::mlp_forward(shape)[0].flops == 2.0 * 64 * 128 * 784);
}

TEST_CASE("a run too long to be kept is refused with what to give instead") {
  CHECK_THROWS_WITH(build({"workload=copy", "copy.bytes=60 GiB", "copy.count=10000"}),
                    Catch::Contains("fewer steps or copies"));
}

TEST_CASE("a program that does not fit the GPU is refused with its size and the GPU's") {
  CHECK_THROWS_WITH(build({"workload=copy", "copy.bytes=100 GiB", "machine=t4-1"}),
                    Catch::Contains("needs 100 GiB of device memory") && Catch::Contains("T4"));
}
