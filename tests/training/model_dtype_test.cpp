// model.to(torch.bfloat16) and model.to(torch.float16), without autocast: what has which type, what
// is cast, and what becomes of numbers that are rounded where they are kept.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/error.h"
#include "host/cast.h"
#include "support/built_program.h"
#include "training/training_run.h"

using namespace trainscope;
using Catch::Matchers::Contains;
using program::ElementType;
using program::Index;
using program::Operation;
using program::Program;
using program::Role;
using test::Settings;
using test::TrainingRun;
using test::with;

namespace {

const Settings kMlp{"model.name=mlp", "data.name=digits", "model.hidden=32",
                    "batch_size=32",  "steps=6",          "loop.evaluate=false"};
const Settings kCnn{"model.name=cnn", "data.name=digits", "batch_size=8", "steps=3",
                    "loop.evaluate=false"};
const Settings kGpt{"model.name=gpt-mini", "data.name=text", "model.width=32",   "model.seq_len=16",
                    "batch_size=4",        "steps=3",        "model.dropout=0.1"};
const Settings kBf16{"model.dtype=bf16"}, kFp16{"model.dtype=fp16"};

Program build(const Settings& settings) {
  return test::program_of(settings);
}

std::string refusal(const Settings& settings) {
  try {
    build(settings);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool is_whole(ElementType type) {
  return type == ElementType::kInt64;
}

// What stays FP32 beside narrow numbers: the moments and sums that backward reads, as PyTorch
// keeps them, and the count of Adam's steps.
bool stays_wide(const program::Buffer& buffer) {
  const auto ends = [&](const char* words) { return buffer.name.ends_with(words); };
  return ends(": mean") || ends(": reciprocal deviation") || ends(": sums of rows") ||
         buffer.name == "optimizer's steps" || buffer.name.find("as it was copied") < 99;
}

// What a library works in holds numbers of no type.
bool is_of_library(const program::Buffer& buffer) {
  return buffer.name == "cuDNN workspace" || buffer.name.starts_with("cuBLAS: ");
}

std::int64_t bytes_of(const Program& program, Role role) {
  std::int64_t bytes = 0;
  for (const program::Buffer& buffer : program.buffers)
    if (buffer.role == role) bytes += buffer.bytes;
  return bytes;
}

template <typename Function>
std::vector<const Operation*> all_of(const Program& program) {
  std::vector<const Operation*> found;
  for (const Operation& operation : program.operations)
    if (std::holds_alternative<Function>(operation.function)) found.push_back(&operation);
  return found;
}

bool holds(ElementType type, const std::vector<float>& values) {
  std::vector<float> rounded = values;
  host::cast(host::format_of(type), rounded);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (rounded[i] != values[i] && !std::isnan(values[i])) return false;
  return true;
}

std::size_t changed(const std::vector<float>& a, const std::vector<float>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("weights, gradients, state and activations have the model's type") {
  for (const auto& [knob, type] :
       {std::pair{kBf16, ElementType::kBf16}, {kFp16, ElementType::kFp16}})
    for (const Settings& model : {kMlp, kCnn, kGpt, with(kGpt, {"attention.kernel=flash"})}) {
      const Program program = build(with(with(model, knob), {"optimizer.name=adamw"}));
      std::set<Role> seen;
      for (const program::Buffer& buffer : program.buffers) {
        if (buffer.kind != program::MemoryKind::kDevice || is_whole(buffer.type)) continue;
        if (is_of_library(buffer) || buffer.type == ElementType::kBool) continue;
        INFO(model[0] << ": " << buffer.name);
        CHECK(buffer.type == (stays_wide(buffer) ? ElementType::kFp32 : type));
        seen.insert(buffer.role);
      }
      CHECK(seen.size() >= 5);
    }
}

TEST_CASE("parameters, gradients and Adam's moments take half the bytes") {
  for (const Settings& model : {kMlp, kCnn, kGpt})
    for (const Settings& knob : {kBf16, kFp16}) {
      const Settings adam = with(model, {"optimizer.name=adam"});
      const Program wide = build(adam), narrow = build(with(adam, knob));
      for (const Role role : {Role::kParameter, Role::kGradient})
        CHECK(2 * bytes_of(narrow, role) == bytes_of(wide, role));
      constexpr std::int64_t kSteps = 4;  // their count stays as it is
      CHECK(2 * (bytes_of(narrow, Role::kOptimizerState) - kSteps) ==
            bytes_of(wide, Role::kOptimizerState) - kSteps);
      CHECK(narrow.parameters == wide.parameters);
    }
}

TEST_CASE("only the batch is cast, and not each layer's operands, as autocast does") {
  CHECK(all_of<program::Cast>(build(with(kMlp, kBf16))).size() == 1);
  CHECK(all_of<program::Cast>(build(with(kCnn, kFp16))).size() == 1);
  CHECK(all_of<program::Cast>(build(with(kGpt, kBf16))).empty());  // tokens stay whole
  CHECK(all_of<program::Cast>(build(with(kGpt, {"precision=bf16"}))).size() > 10);
  const Program program = build(with(kMlp, kBf16));
  const Operation& cast = *all_of<program::Cast>(program).front();
  CHECK(program.buffers[cast.reads[0]].bytes == 4 * 32 * 784);
  CHECK(program.buffers[cast.writes[0]].bytes == 2 * 32 * 784);
  CHECK(cast.bytes == 6 * 32 * 784);
}

TEST_CASE("a batch travels as FP32 and is cast behind its copy, on the same stream") {
  const Program program =
      build(with(kMlp, with(kBf16, {"transfer.streams=2", "transfer.prefetch=true"})));
  Index stream = program::kNoIndex, copied = program::kNoIndex;
  int casts = 0;
  for (const program::Command& command : program.threads[0].commands) {
    if (const auto* copy = std::get_if<program::Copy>(&command.action))
      if (program.buffers[copy->from].name == "x") {
        copied = copy->to;
        stream = copy->stream;
        CHECK(copy->bytes == 4 * 32 * 784);
      }
    const auto* launch = std::get_if<program::Launch>(&command.action);
    if (!launch) continue;
    const Operation& operation = program.operations[launch->operation];
    if (!std::holds_alternative<program::Cast>(operation.function)) continue;
    CHECK(operation.reads[0] == copied);
    CHECK(launch->stream == stream);
    ++casts;
  }
  CHECK(casts == 6);
}

TEST_CASE("kernels move two bytes a number, and products are the type's") {
  const Settings adam = with(kMlp, {"optimizer.name=adam"});
  const Program wide = build(adam), narrow = build(with(adam, kBf16));
  const auto wide_products = all_of<program::Linear>(wide);
  const auto narrow_products = all_of<program::Linear>(narrow);
  REQUIRE(wide_products.size() == narrow_products.size());
  for (std::size_t i = 0; i < wide_products.size(); ++i) {
    CHECK(narrow_products[i]->type == ElementType::kBf16);
    CHECK(2 * narrow_products[i]->bytes == wide_products[i]->bytes);
    CHECK(narrow_products[i]->flops == wide_products[i]->flops);
  }
  double wide_bytes = 0, narrow_bytes = 0;
  for (const auto& [program, sum] : {std::pair{&wide, &wide_bytes}, {&narrow, &narrow_bytes}})
    for (const Operation& operation : program->operations)
      if (operation.framework.starts_with("aten::_foreach_")) *sum += operation.bytes;
  CHECK(2 * narrow_bytes == wide_bytes);
  // Its optimizer launches the same kernels.
  CHECK(narrow.operations.size() == wide.operations.size() + 1);
}

TEST_CASE("all that a narrow training keeps are numbers of its type") {
  for (const auto& [knob, type] :
       {std::pair{kBf16, ElementType::kBf16}, {kFp16, ElementType::kFp16}})
    for (const Settings& model :
         {with(kMlp, {"clip_grad_norm=0.5"}), with(kCnn, {"accumulate_steps=2"}), kGpt}) {
      INFO(model[0]);
      const Settings settings = with(model, {"optimizer.lr=0.01", "optimizer.momentum=0.9"});
      TrainingRun wide(settings), run(with(settings, knob));
      const std::vector<float> before = run.weights();
      CHECK(holds(type, before));
      CHECK(holds(type, run.finish().weights()));
      CHECK(changed(before, run.weights()) > before.size() / 4);
      wide.finish();
      REQUIRE(!run.losses().empty());
      REQUIRE(run.losses().size() == wide.losses().size());
      for (std::size_t i = 0; i < run.losses().size(); ++i)
        CHECK(run.losses()[i] == Approx(wide.losses()[i]).epsilon(0.02));
    }
}

TEST_CASE("what changes how a narrow training runs changes none of its numbers") {
  const Settings ways[] = {{"checkpoint.enabled=true"}, {"compile.fuse=true"},
                           {"compile.cuda_graph=true"}, {"transfer.prefetch=true"},
                           {"data.location=device"},    {"zero_grad.when=before_forward"},
                           {"optimizer.impl=for_loop"}};
  for (const Settings& model : {kMlp, kGpt}) {
    const Settings settings =
        with(with(model, kBf16), {"optimizer.name=adam", "optimizer.lr=1e-3"});
    TrainingRun plain(settings);
    const std::vector<float> weights = plain.finish().weights();
    for (const Settings& way : ways) {
      INFO(model[0] << ", " << way[0]);
      TrainingRun other(with(settings, way));
      CHECK(other.finish().weights() == weights);
      CHECK(other.losses() == plain.losses());
    }
  }
}

TEST_CASE("updates below half a unit in the last place are lost: narrow weights stop learning") {
  const Settings small = with(kMlp, {"optimizer.lr=1e-6", "data.one_batch=true", "steps=20"});
  TrainingRun wide(small), narrow(with(small, kBf16));
  const std::vector<float> wide_start = wide.weights(), narrow_start = narrow.weights();
  wide.finish();
  narrow.finish();
  CHECK(changed(wide_start, wide.weights()) > wide_start.size() / 3);
  CHECK(changed(narrow_start, narrow.weights()) < narrow_start.size() / 1000);
  CHECK(wide.losses().back() < wide.losses().front());
  CHECK(narrow.losses().back() == narrow.losses().front());
}

TEST_CASE(
    "Adam in BF16 learns; in FP16 its eps and its squares are lost, and its weights with them") {
  const Settings adam = with(kMlp, {"optimizer.name=adam", "optimizer.lr=1e-3", "steps=40"});
  for (const char* impl : {"optimizer.impl=foreach", "optimizer.impl=fused"}) {
    INFO(impl);
    TrainingRun bf16(with(adam, with(kBf16, {impl})));
    bf16.finish();
    CHECK(bf16.losses().back() < 0.6 * bf16.losses().front());
    TrainingRun fp16(with(adam, with(kFp16, {impl})));
    fp16.finish();
    REQUIRE_FALSE(fp16.losses().empty());
    CHECK_FALSE(std::isfinite(fp16.losses().back()));
    // An unfused one divides by 0 in its first step.
    if (std::string(impl).ends_with("foreach")) CHECK(fp16.losses().size() == 2);
  }
}

TEST_CASE("a fused optimizer takes the loss scale out of FP16 gradients") {
  TrainingRun fused(with(with(kMlp, kFp16), {"scaler.enabled=true", "steps=8", "optimizer.lr=0.05",
                                             "optimizer.impl=fused"}));
  fused.finish();
  // The loss is FP16, and so is its gradient: 65536 is more than that holds.
  CHECK(fused.skipped_steps() == std::vector<std::int64_t>{0});
  CHECK(fused.losses().back() < fused.losses().front());
}

TEST_CASE("DDP sums gradients in their own type: half the bytes, the same on every rank") {
  const Settings ddp = with(kMlp, {"machine=h200-8", "parallel.strategy=ddp",
                                   "parallel.world_size=3", "optimizer.lr=0.1"});
  const Program wide = build(ddp), narrow = build(with(ddp, kBf16));
  REQUIRE(wide.buckets.size() == narrow.buckets.size());
  for (std::size_t i = 0; i < wide.buckets.size(); ++i) {
    CHECK(2 * narrow.buckets[i].bytes == wide.buckets[i].bytes);
    CHECK(narrow.buffers[narrow.buckets[i].buffer].type == ElementType::kBf16);
  }
  for (const char* views :
       {"ddp.gradient_as_bucket_view=false", "ddp.gradient_as_bucket_view=true"}) {
    TrainingRun run(with(ddp, with(kBf16, {views})));
    run.finish();
    CHECK(run.weights(1) == run.weights(0));
    CHECK(run.weights(2) == run.weights(0));
    CHECK(holds(ElementType::kBf16, run.weights()));
    CHECK(run.losses().back() < run.losses().front());
  }
  TrainingRun wide_run(ddp), narrow_run(with(ddp, kBf16));
  wide_run.finish();
  narrow_run.finish();
  CHECK(narrow_run.metric("bandwidth.bus") > 0);
  bool named = false;
  for (std::uint32_t i = 0; i < narrow_run.trace().spans().size(); ++i)
    named |= narrow_run.trace().name(narrow_run.trace().spans()[i]).find("AllReduce_Sum_bf16") <
             std::string::npos;
  CHECK(named);
}

// In buckets of one size a narrow model has half as many.
TEST_CASE("bucket_cap_mb counts bytes") {
  const Settings gpt2{"model.name=gpt2",       "machine=h200-8", "parallel.strategy=ddp",
                      "parallel.world_size=2", "batch_size=1",   "steps=2",
                      "model.seq_len=32"};
  const std::size_t wide = build(gpt2).buckets.size(),
                    narrow = build(with(gpt2, kBf16)).buckets.size();
  CHECK(narrow < wide);
  CHECK(narrow > wide / 3);
}

TEST_CASE("DataParallel sends and sums narrow numbers") {
  const Settings dp = with(kMlp, {"machine=h200-8", "parallel.strategy=dp", "parallel.world_size=2",
                                  "optimizer.lr=0.1"});
  for (const char* where : {"dp.loss_in_forward=false", "dp.loss_in_forward=true"})
    for (const char* batches : {"accumulate_steps=1", "accumulate_steps=2"}) {
      INFO(where << ", " << batches);
      const Settings settings = with(dp, with(kFp16, {where, batches}));
      const Program program = build(settings);
      int narrow = 0;
      for (const program::Buffer& buffer : program.buffers) {
        if (buffer.kind != program::MemoryKind::kDevice || is_whole(buffer.type) ||
            is_of_library(buffer) || stays_wide(buffer))
          continue;
        ++narrow;
        CHECK(buffer.type == ElementType::kFp16);
      }
      CHECK(narrow > 0);
      TrainingRun run(settings);
      CHECK(holds(ElementType::kFp16, run.finish().weights()));
      CHECK(run.losses().back() < run.losses().front());
    }
}

TEST_CASE("autocast over narrow weights casts up what its list has in FP32, and back") {
  const Program program = build(with(kGpt, {"model.dtype=bf16", "precision=bf16"}));
  for (const Operation* norm : all_of<program::LayerNorm>(program))
    CHECK(norm->type == ElementType::kFp32);
  for (const Operation* loss : all_of<program::LogSoftmax>(program))
    CHECK(loss->type == ElementType::kFp32);
  for (const Operation* product : all_of<program::Linear>(program))
    CHECK(product->type == ElementType::kBf16);
  // No weight of a product is copied; those of layer norms are, each time.
  for (const Operation* cast : all_of<program::Cast>(program)) {
    const program::Buffer& from = program.buffers[cast->reads[0]];
    if (from.role != Role::kParameter) continue;
    CHECK(from.name.find("norm") < std::string::npos);
    CHECK(program.buffers[cast->writes[0]].type == ElementType::kFp32);
  }
  TrainingRun run(with(kGpt, {"model.dtype=bf16", "precision=bf16", "optimizer.lr=0.1"}));
  CHECK(holds(ElementType::kBf16, run.finish().weights()));
}

TEST_CASE("the listing casts the model and each batch") {
  const auto listing = [](const Settings& settings) { return test::listing_of(build(settings)); };
  CHECK_THAT(listing(with(kMlp, kBf16)),
             Contains("model = model.to(torch.bfloat16)\n") &&
                 Contains("x = x.to(device, non_blocking=False).to(torch.bfloat16)\n") &&
                 Contains("y = y.to(device, non_blocking=False)\n"));
  CHECK_THAT(listing(with(kMlp, with(kFp16, {"data.location=device", "loop.evaluate=true"}))),
             Contains("X.to(device).to(torch.float16), Y.to(device)") &&
                 Contains("x, y = x.to(device).to(torch.float16), y.to(device)"));
  CHECK_THAT(listing(with(kGpt, kBf16)), Contains("model = model.to(torch.bfloat16)\n") &&
                                             Contains("x = x.to(device, non_blocking=False)\n"));
  CHECK_THAT(listing(kMlp), !Contains("torch.bfloat16") && !Contains("torch.float16"));
}

TEST_CASE("what narrow weights cannot be trained with is refused in one sentence") {
  CHECK_THAT(refusal(with(kMlp, {"model.dtype=fp16", "scaler.enabled=true"})),
             Contains("Attempting to unscale FP16 gradients.") && Contains("precision = fp16"));
  CHECK_THAT(refusal(with(kMlp, {"model.dtype=fp16", "scaler.enabled=true", "optimizer.impl=fused",
                                 "clip_grad_norm=1"})),
             Contains("Attempting to unscale FP16 gradients."));
  CHECK_THAT(refusal(with(kMlp, {"model.dtype=bf16", "machine=t4-1"})),
             Contains("NVIDIA T4 has no units for BF16") && Contains("set model.dtype = fp16"));
  for (const char* impl : {"optimizer.impl=foreach", "optimizer.impl=fused"})
    CHECK_THAT(refusal(with(kMlp, {"model.dtype=bf16", "scaler.enabled=true", impl})),
               Contains("not implemented for 'BFloat16'") && Contains("scaler.enabled = false"));
  CHECK(refusal(with(kMlp, {"model.dtype=fp16", "machine=t4-1"})).empty());
  CHECK_THAT(refusal(with(kMlp, {"model.dtype=bf16", "precision=fp16"})),
             Contains("autocast.dtype = fp16 beside model.dtype = bf16 is not built"));
  CHECK_THAT(refusal(with(kMlp, {"model.dtype=bf16", "device=cpu"})),
             Contains("set device = cuda, or model.dtype = fp32"));
}
