// The workload `gemm`: one matrix product a step.

#include <fmt/format.h>

#include "machine/gemm_tiles.h"
#include "trace/step_mark.h"
#include "train/build.h"
#include "train/kernels/cublas_workspaces.h"
#include "train/settings/precision_settings.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::ElementType;

struct Type {
  machine::GemmType gemm;
  ElementType element;
  const char* torch;
};

// A GPU without TF32 ignores the switch.
Type type_of(const std::string& name, const machine::Gpu& gpu) {
  if (name == "bf16") refuse_bf16_without_units(gpu, "gemm.type = fp16");
  if (name == "tf32" && gpu.tf32_flops_per_s > 0)
    return {machine::GemmType::kTf32, ElementType::kTf32, "torch.float32"};
  if (name == "fp16") return {machine::GemmType::kFp16, ElementType::kFp16, "torch.float16"};
  if (name == "bf16") return {machine::GemmType::kBf16, ElementType::kBf16, "torch.bfloat16"};
  return {machine::GemmType::kFp32, ElementType::kFp32, "torch.float32"};
}

struct Sides {
  std::int64_t m, n, k;
};

struct Lines {
  std::uint16_t loop = 0;
  std::uint16_t product = 0;
  std::uint16_t end = 0;
};

Lines write_listing(program::Listing& listing, const program::Config& config, const Sides& sides,
                    const Type& type) {
  listing.add("import torch");
  listing.add("");
  if (config.word("gemm.type") == "tf32")
    listing.add("torch.backends.cuda.matmul.allow_tf32 = True");
  const auto matrix = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    listing.add(fmt::format("{} = torch.randn({}, {}, dtype={}, device=\"cuda\")", name, rows,
                            columns, type.torch));
  };
  matrix("a", sides.m, sides.k);
  matrix("b", sides.k, sides.n);
  listing.add(fmt::format("c = torch.empty({}, {}, dtype={}, device=\"cuda\")", sides.m, sides.n,
                          type.torch));
  listing.add("");
  Lines lines;
  lines.loop = listing.add(fmt::format("for step in range({}):", config.whole("steps")));
  lines.product = listing.add("    torch.mm(a, b, out=c)");
  lines.end = listing.add("torch.cuda.synchronize()");
  return lines;
}

void add_operation(program::Program& program, const machine::GemmPlan& plan, const Sides& sides,
                   const Type& type) {
  program::BlockWork work;
  work.flops = plan.tile_flops / static_cast<double>(plan.parts);
  work.bytes = plan.bytes / static_cast<double>(plan.blocks());
  work.footprint = plan.bytes;
  work.math = plan.math;
  work.efficiency = plan.efficiency;
  work.registers = plan.registers;
  work.shared_bytes = plan.shared_bytes;
  program::Operation product;
  product.kernel = plan.kernel();
  product.framework = "aten::mm";
  product.kind = program::OperationKind::kGemm;
  product.type = type.element;
  product.m = sides.m;
  product.n = sides.n;
  product.k = sides.k;
  product.flops = plan.flops;
  product.bytes = plan.bytes;
  product.blocks = plan.blocks();
  product.threads = plan.threads;
  product.block_work = work;
  product.reads = {0, 1};
  product.writes = {2};
  program.operations.push_back(std::move(product));
}

void add_matrices(program::Program& program, const Sides& sides, ElementType type) {
  const auto matrix = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    const program::Index id = add_buffer(program, name, rows * columns * program::size_of(type),
                                         program::MemoryKind::kDevice, program::Role::kBatch);
    program.buffers[id].type = type;
    return id;
  };
  // A GPU multiplies zeros faster than numbers: they take less power.
  for (const program::Index id : {matrix("a", sides.m, sides.k), matrix("b", sides.k, sides.n)})
    program.buffers[id].initial = {program::Initial::Kind::kUniform, 1};
  matrix("c", sides.m, sides.n);
}

}  // namespace

program::Program build_gemm(const program::Config& config, const machine::Machine& machine) {
  const Sides sides{config.whole("gemm.m"), config.whole("gemm.n"), config.whole("gemm.k")};
  const Type type = type_of(config.word("gemm.type"), machine.gpu);
  const machine::GemmPlan plan =
      machine::plan_product(machine.gpu, sides.m, sides.n, sides.k, type.gemm);
  program::Program program;
  program.threads.push_back({"host main", program::ThreadRole::kMain, 0, {}});
  program.streams.push_back(compute_stream(config));
  add_matrices(program, sides, type.element);
  add_operation(program, plan, sides, type);
  const Lines lines = write_listing(program.listing, config, sides, type);
  ThreadWriter main(program, 0);
  for (std::int64_t step = 0; step < config.whole("steps"); ++step) {
    main.at(lines.loop).add(program::BeginMark{}, trace::step_mark(step));
    main.at(lines.product).add(program::Launch{0, 0});
    main.at(lines.loop).add(program::EndMark{});
  }
  main.at(lines.end).add(program::DeviceSync{});
  add_cublas_workspaces(program, machine.gpu);
  program.steps = static_cast<int>(config.whole("steps"));
  program.warmup_steps = program.steps > 1 ? 1 : 0;
  program.step_flops = program.model_flops = plan.flops;
  return program;
}

}  // namespace trainscope::train
