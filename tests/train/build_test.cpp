
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "support/built_program.h"

using namespace trainscope;
using program::Program;
using test::listing_of;
using test::program_of;

namespace {

template <typename Action>
int count(const Program& program, std::size_t thread = 0) {
  int found = 0;
  for (const auto& command : program.threads[thread].commands)
    found += std::holds_alternative<Action>(command.action) ? 1 : 0;
  return found;
}

}  // namespace

TEST_CASE("turning a knob changes the listing") {
  CHECK_THAT(listing_of(program_of({"workload=copy", "copy.memory=pinned"})),
             Catch::Contains("pin_memory=True"));
  CHECK_THAT(listing_of(program_of({"workload=copy"})), !Catch::Contains("pin_memory"));
  CHECK_THAT(listing_of(program_of({"workload=copy", "transfer.non_blocking=true"})),
             Catch::Contains("y.copy_(x, non_blocking=True)"));
  CHECK_THAT(listing_of(program_of({"loader.pin_memory=true"})),
             Catch::Contains("pin_memory=True"));
  CHECK_THAT(listing_of(program_of({"transfer.streams=2"})),
             Catch::Contains("torch.cuda.current_stream().wait_stream(copy_stream)"));
  CHECK_THAT(listing_of(program_of({"loop.item_every=10"})),
             Catch::Contains("if step % 10 == 9:") && Catch::Contains("print(loss.item())"));
  CHECK_THAT(listing_of(program_of({"batch_size=4096"})), Catch::Contains("batch_size=4096"));
  CHECK_THAT(
      listing_of(program_of({"workload=kernel", "kernel.streams=4", "kernel.shared_bytes=1024"})),
      Catch::Contains("kernel<<<1024, 256, 1024, streams[i % 4]>>>(x);"));
  CHECK_THAT(listing_of(program_of(
                 {"workload=kernel", "kernel.flops_per_thread=1", "kernel.footprint=4 MiB"})),
             Catch::Contains("// a thread: 32 registers, 1 fp32 operation, 16 bytes within 4 MiB"));
  CHECK_THAT(
      listing_of(program_of({"model.name=gpt-mini", "attention.kernel=flash", "precision=fp16"})),
      Catch::Contains("with torch.autocast(\"cuda\", dtype=torch.float16), "
                      "sdpa_kernel(SDPBackend.FLASH_ATTENTION):"));
  for (const char* without : {"precision=tf32", "machine=v100-sxm-1"})
    CHECK_THAT(listing_of(program_of({"model.name=gpt-mini", "attention.kernel=flash", without})),
               Catch::Contains("sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION)"));
  CHECK_THAT(listing_of(program_of({"workload=gemm", "gemm.m=100", "gemm.type=tf32"})),
             Catch::Contains("a = torch.randn(100, 4096, dtype=torch.float32") &&
                 Catch::Contains("allow_tf32 = True"));
  // What is set is written, also where there is nothing that heeds it.
  for (const char* where : {"machine=t4-1", "device=cpu"})
    CHECK_THAT(listing_of(program_of({where, "matmul.allow_tf32=true"})),
               Catch::Contains("matmul.allow_tf32 = True"));
}

TEST_CASE("a product in BF16 is refused where there are no units for it, TF32 computes in FP32") {
  CHECK_THROWS_WITH(program_of({"workload=gemm", "machine=v100-sxm-1", "gemm.type=bf16"}),
                    Catch::Contains("no units for BF16") && Catch::Contains("gemm.type = fp16"));
  const auto product = [](const char* type) {
    return program_of({"workload=gemm", "machine=t4-1", type}).operations.front();
  };
  CHECK(product("gemm.type=tf32").type == program::ElementType::kFp32);
  CHECK(product("gemm.type=tf32").kernel == product("gemm.type=fp32").kernel);
  CHECK(program_of({"workload=gemm", "machine=a100-sxm-1", "gemm.type=tf32"})
            .operations.front()
            .type == program::ElementType::kTf32);
}

TEST_CASE("copies are one step, and as many as are asked for") {
  CHECK(program_of({"workload=copy", "copy.count=3"}).steps == 1);
  const Program several = program_of({"workload=copy", "copy.count=3", "steps=4"});
  CHECK(several.steps == 4);
  CHECK(several.warmup_steps == 1);
  CHECK(count<program::Copy>(several) == 12);
  CHECK_THAT(listing_of(several),
             Catch::Contains("for step in range(4):\n    for i in range(3):\n"));
}

TEST_CASE("a model that is too large to compute beside the simulator is timing only") {
  const auto digits = "data.name=digits";
  CHECK(!program_of({digits}).timing_only);
  CHECK(!program_of({digits, "model.hidden=4096", "model.layers=4"}).timing_only);
  CHECK(program_of({digits, "model.hidden=65536", "model.layers=4"}).timing_only);
  CHECK(program_of({"model.name=gpt-mini", "model.width=8192", "batch_size=1"}).timing_only);
}

TEST_CASE("what has no CPU's program, or samples of another size, is refused") {
  for (const char* workload : {"copy", "gemm", "kernel", "launch"})
    CHECK_THROWS_WITH(program_of({(std::string("workload=") + workload).c_str(), "device=cpu"}),
                      Catch::Contains("leave device out"));
  CHECK_THROWS_WITH(program_of({"data.name=cifar10"}), Catch::Contains("set model.inputs = 3072"));
  CHECK(program_of({"data.name=cifar10", "model.inputs=3072"}).steps == 10);
  CHECK(program_of({"model.inputs=5"}).steps == 10);
}

TEST_CASE("every command of the training thread cites a line of the listing") {
  for (const char* workload :
       {"workload=copy", "workload=train", "workload=kernel", "workload=gemm"}) {
    const Program program = program_of({workload, "loader.num_workers=2", "transfer.streams=2"});
    REQUIRE(!program.threads[0].commands.empty());
    for (const auto& command : program.threads[0].commands) CHECK(command.line > 0);
  }
}

TEST_CASE("a blocking copy is a copy and a stream synchronisation, as PyTorch's .to() is") {
  CHECK(count<program::StreamSync>(program_of({"workload=copy", "copy.count=4"})) == 4);
  CHECK(count<program::StreamSync>(
            program_of({"workload=copy", "copy.count=4", "transfer.non_blocking=true"})) == 0);
}

TEST_CASE("workers take whole batches in turn, and each batch is taken once") {
  const Program program = program_of({"loader.num_workers=3", "steps=8", "loader.pin_memory=true"});
  REQUIRE(program.threads.size() == 6);  // and autograd's
  CHECK(count<program::HostWork>(program, 1) == 3);
  CHECK(count<program::HostWork>(program, 2) == 3);
  CHECK(count<program::HostWork>(program, 3) == 2);
  CHECK(count<program::HostCopy>(program, 4) == 8);
  CHECK(count<program::Take>(program) == 8);
  CHECK(count<program::Push>(program) == 8 + 8);  // index lists, backward
}

TEST_CASE("the step launches what PyTorch launches for this model") {
  const Program program = program_of({"steps=1"});
  CHECK(count<program::Launch>(program, 0) == 3 + 2 + 1);
  CHECK(count<program::Launch>(program, 1) == 1 + 8);  // the gradient of the loss is 1, then back
  CHECK(program.threads[1].role == program::ThreadRole::kAutograd);
  CHECK(program.parameters == 101770);
}

TEST_CASE("a graph that is cut behind its last hidden layer leaves nothing to train") {
  for (const char* cut : {"model.detach=3", "model.detach=1000"})
    CHECK_THROWS_WITH(program_of({"workload=train", "model.name=mlp", "model.layers=2", cut}),
                      Catch::Contains("after the last of 2 hidden layers") &&
                          Catch::Contains("set model.detach = 2 or less"));
  CHECK_NOTHROW(
      program_of({"workload=train", "model.name=mlp", "model.layers=2", "model.detach=2"}));
}

TEST_CASE("a run too long to be kept is refused with what to give instead") {
  CHECK_THROWS_WITH(program_of({"workload=copy", "copy.bytes=60 GiB", "copy.count=10000"}),
                    Catch::Contains("fewer steps or copies"));
}

TEST_CASE("a program that does not fit the GPU is built: that it does not is for its run to say") {
  const Program program = program_of({"workload=copy", "copy.bytes=100 GiB", "machine=t4-1"});
  CHECK(program.buffers[1].bytes == std::int64_t{100} << 30);
}

TEST_CASE("a data set in one tensor has no loader, and its listing splits it into batches") {
  const Program program = program_of({"data.source=tensor", "steps=3", "loader.pin_memory=true"});
  CHECK(program.threads.size() == 2);  // no worker, no pin thread
  CHECK(count<program::HostWork>(program) == 0);
  CHECK(count<program::HostCopy>(program) == 0);
  CHECK(count<program::Copy>(program) == 6);
  CHECK(program.buffers[0].kind == program::MemoryKind::kPinned);
  CHECK_THAT(listing_of(program), Catch::Contains("for x, y in zip(X.split(64), Y.split(64)):") &&
                                      Catch::Contains("X.pin_memory()") &&
                                      !Catch::Contains("DataLoader"));
  CHECK_THROWS_WITH(program_of({"data.source=tensor", "loader.num_workers=2"}),
                    Catch::Contains("has no loader"));
}

TEST_CASE("a data set on the GPU is all samples, or the one batch that all steps train on") {
  const auto samples = [](const Program& program) {
    for (const program::Buffer& buffer : program.buffers)
      if (buffer.name == "Y on the GPU")
        return buffer.bytes / program::size_of(program::ElementType::kInt64);
    return std::int64_t{0};
  };
  const auto train = [](const char* more) {
    return program_of({"workload=train", "model.name=resnet50", "batch_size=32", "steps=3",
                       "data.location=device", more});
  };
  CHECK(samples(train("data.one_batch=false")) > 1'000'000);  // ImageNet's
  const Program one = train("data.one_batch=true");
  CHECK(samples(one) == 32);
  CHECK_THAT(listing_of(one), Catch::Contains("X, Y = X[:32].to(device), Y[:32].to(device)"));
}

TEST_CASE(
    "a data set is moved to the GPU before there is a model, and its batches are parts of it") {
  const Program program = program_of({"workload=train", "data.name=digits", "batch_size=100",
                                      "steps=2", "data.location=device", "loop.evaluate=true"});
  std::vector<std::string> allocated;
  for (const auto& command : program.threads[0].commands)
    if (const auto* alloc = std::get_if<program::Alloc>(&command.action))
      allocated.push_back(program.buffers[alloc->buffer].name);
  REQUIRE(allocated.size() > 3);
  CHECK(allocated[0] == "X on the GPU");
  CHECK(allocated[1] == "Y on the GPU");
  std::vector<std::string> views;
  for (const program::Buffer& buffer : program.buffers)
    if (buffer.is_view) views.push_back(buffer.name);
  CHECK(views == std::vector<std::string>{"x on the GPU", "y on the GPU"});
  // A batch of the test set is copied: it has memory of its own.
  CHECK(std::ranges::count(allocated, "x on the GPU, of the test set") == 1);
  for (const program::Buffer& buffer : program_of({"batch_size=64"}).buffers)
    CHECK_FALSE(buffer.is_view);
}

TEST_CASE("pinning in the loop copies each batch on the training thread, once") {
  const Program program =
      program_of({"data.source=tensor", "steps=3", "transfer.pin_in_loop=true"});
  CHECK(count<program::HostCopy>(program) == 6);
  CHECK_THAT(listing_of(program),
             Catch::Contains("x = x.pin_memory().to(device, non_blocking=False)"));
  std::int64_t pinned = -1;
  for (const auto& command : program.threads[0].commands) {
    if (const auto* pin = std::get_if<program::HostCopy>(&command.action)) pinned = pin->bytes;
    const auto* copy = std::get_if<program::Copy>(&command.action);
    if (!copy) continue;
    CHECK(copy->bytes == pinned);
    CHECK(program.buffers[copy->from].kind == program::MemoryKind::kPinned);
  }
  // pin_memory() of what is pinned returns it as it is.
  CHECK(count<program::HostCopy>(program_of(
            {"data.source=tensor", "loader.pin_memory=true", "transfer.pin_in_loop=true"})) == 0);
  CHECK_THROWS_WITH(program_of({"device=cpu", "transfer.pin_in_loop=true"}),
                    Catch::Contains("no meaning with device = cpu"));
}

TEST_CASE("prefetching issues the next batch's copies before this step's kernels") {
  const Program program = program_of({"data.source=tensor", "steps=4", "transfer.prefetch=true",
                                      "transfer.streams=2", "transfer.non_blocking=true"});
  int step = -1;
  std::vector<int> copies_of_x(4, -9);  // in which step each was issued
  std::vector<program::Index> targets;
  int copied = 0;
  bool launched = false;
  for (const auto& command : program.threads[0].commands) {
    if (std::holds_alternative<program::BeginMark>(command.action)) {
      ++step;
      launched = false;
    }
    if (std::holds_alternative<program::Launch>(command.action)) launched = true;
    const auto* copy = std::get_if<program::Copy>(&command.action);
    if (!copy || copied++ % 2 != 0) continue;
    CHECK(!launched);
    CHECK(copy->stream == 1);
    copies_of_x[targets.size()] = step;
    targets.push_back(copy->to);
  }
  CHECK(copies_of_x == std::vector<int>{-1, 0, 1, 2});
  CHECK(targets[0] == targets[2]);  // two buffers, in turn
  CHECK(targets[0] != targets[1]);
  CHECK(count<program::RecordStream>(program) == 8);  // x and y of each step
  for (const auto& command : program.threads[0].commands)
    if (std::holds_alternative<program::RecordStream>(command.action))
      CHECK_THAT(program.listing.lines[command.line - 1u], Catch::Contains("record_stream"));
  CHECK_THAT(listing_of(program), Catch::Contains("following = fetch(next(batches, None))") &&
                                      Catch::Contains("record_stream"));
}

TEST_CASE("each step waits for its own batch, not for the one copied ahead") {
  const Program program = program_of({"data.source=tensor", "steps=3", "transfer.prefetch=true",
                                      "transfer.streams=2", "transfer.non_blocking=true"});
  // In each step: the event of the copy stream, the wait, then the copies.
  int waits = 0;
  bool copied_in_step = false;
  for (const auto& command : program.threads[0].commands) {
    if (std::holds_alternative<program::BeginMark>(command.action)) copied_in_step = false;
    if (std::holds_alternative<program::Copy>(command.action)) copied_in_step = true;
    if (!std::holds_alternative<program::RecordEvent>(command.action)) continue;
    ++waits;
    CHECK(!copied_in_step);
  }
  CHECK(waits == 3);
}

TEST_CASE("more hidden layers are more kernels, and backward is twice the work") {
  const Program one = program_of({"steps=1"});
  const Program three = program_of({"steps=1", "model.layers=3"});
  // A hidden layer adds two forward and four backward: two products, the bias, the ReLU.
  CHECK(count<program::Launch>(three, 0) == count<program::Launch>(one, 0) + 4);
  CHECK(count<program::Launch>(three, 1) == count<program::Launch>(one, 1) + 8);
  CHECK(three.parameters == 101770 + 2 * 129 * 128);
  double forward = 0, backward = 0;
  for (const program::Operation& op : three.operations)
    if (op.kind == program::OperationKind::kGemm) (op.is_gradient ? backward : forward) += op.flops;
  // But for the first layer's input, whose gradient nobody needs.
  CHECK(backward == 2 * forward - 2.0 * 64 * 784 * 128);
  CHECK_THAT(listing_of(program_of({"model.layers=3"})), Catch::Contains("for _ in range(2)"));
}

TEST_CASE("every command cites a line in each kind of loop") {
  for (const char* source : {"data.source=loader", "data.source=tensor"})
    for (const char* prefetch : {"transfer.prefetch=true", "transfer.prefetch=false"})
      for (const char* streams : {"transfer.streams=1", "transfer.streams=2"}) {
        const Program program =
            program_of({source, prefetch, streams, "loop.timer=true", "loop.item_every=2",
                        "loop.cold_start=true", "loop.sync_timing=true"});
        REQUIRE(!program.threads[0].commands.empty());
        for (const auto& command : program.threads[0].commands) CHECK(command.line > 0);
      }
}

TEST_CASE("the copies, waits and timers cite the lines that a reader would point at") {
  const Program program =
      program_of({"data.source=tensor", "steps=2", "transfer.prefetch=true", "transfer.streams=2",
                  "loop.timer=true", "loop.item_every=1"});
  const auto line = [&](const program::Command& command) {
    return program.listing.lines[command.line - 1u];
  };
  int waits = 0, copies = 0, marks = 0;
  for (const auto& command : program.threads[0].commands) {
    if (std::holds_alternative<program::RecordEvent>(command.action) ||
        std::holds_alternative<program::StreamWait>(command.action)) {
      ++waits;
      CHECK_THAT(line(command), Catch::Contains("wait_stream(copy_stream)"));
    }
    if (std::holds_alternative<program::Copy>(command.action)) {
      ++copies;
      CHECK_THAT(line(command), Catch::Contains(".to(device") || Catch::Contains("loss.item()"));
    }
    if (std::holds_alternative<program::BeginMark>(command.action)) {
      ++marks;
      CHECK_THAT(line(command), Catch::Contains("while") || Catch::Contains("perf_counter"));
    }
  }
  CHECK(waits > 0);
  CHECK(copies > 0);
  CHECK(marks > 0);
}

TEST_CASE("a cold process loads cuBLAS once, in its first step") {
  const Program warm = program_of({"data.source=tensor", "steps=3"});
  const Program cold = program_of(
      {"data.source=tensor", "steps=3", "loop.cold_start=true", "loop.cublas_load_ms=2"});
  CHECK(count<program::HostWork>(warm) == 0);
  CHECK(count<program::HostWork>(cold) == 1);
}

TEST_CASE("a pair of streams is the default one and one of the kind that is asked for") {
  const Program program = program_of(
      {"workload=launch", "launch.streams=2", "stream.kind=blocking", "launch.kernel_sms=16"});
  REQUIRE(program.streams.size() == 2);
  CHECK(program.streams[0].kind == program::StreamKind::kLegacyDefault);
  CHECK(program.streams[1].kind == program::StreamKind::kBlocking);
  CHECK(program.operations[0].blocks == 16);
  CHECK_THAT(listing_of(program), Catch::Contains("cudaStreamCreate(&side);") &&
                                      Catch::Contains("kernel_a<<<16, 256, 0, side>>>(x);"));
  CHECK_THAT(
      listing_of(program_of({"workload=launch", "launch.streams=2", "stream.kind=non_blocking"})),
      Catch::Contains("cudaStreamNonBlocking"));
  CHECK_THROWS_WITH(program_of({"workload=launch", "launch.streams=2"}),
                    Catch::Contains("set stream.kind"));
  CHECK_THROWS_WITH(program_of({"workload=launch", "launch.streams=2", "stream.kind=blocking",
                                "launch.graph=true"}),
                    Catch::Contains("launch.streams = 1"));
}

TEST_CASE("of several launch streams each but the default one runs kernel_a, in the order made") {
  const Program program = program_of({"workload=launch", "launch.streams=4",
                                      "stream.kind=non_blocking", "launch.count=3", "steps=1"});
  REQUIRE(program.streams.size() == 4);
  CHECK(program.streams[0].kind == program::StreamKind::kLegacyDefault);
  CHECK(program.streams[3].name == "stream 15");
  std::vector<program::Index> streams;
  for (const program::Command& command : program.threads[0].commands)
    if (const auto* launch = std::get_if<program::Launch>(&command.action)) {
      CHECK(program.operations[launch->operation].kernel ==
            (launch->stream == 0 ? "kernel_b" : "kernel_a"));
      CHECK(command.line > 0);
      streams.push_back(launch->stream);
    }
  CHECK(streams == std::vector<program::Index>{1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0});
  const std::string listing = listing_of(program);
  CHECK_THAT(listing, Catch::Contains("cudaStream_t sides[3];\nfor (cudaStream_t& side : sides) "
                                      "cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);") &&
                          Catch::Contains("for (cudaStream_t side : sides)\n      kernel_a<<<"));
}
