#include "train/kernels/attention_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/whole.h"
#include "machine/architecture.h"
#include "train/kernels/kernels.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::Operation;
using program::OperationKind;

Operation pass(const PassNames& names, const char* loop, bool fused, OperationKind kind,
               std::int64_t elements, double flops_each, double bytes) {
  const std::string generated = fmt::format("triton_{}_fused_{}", loop, names.fused);
  return pointwise(fused ? generated : names.kernel, fused ? generated : names.framework, kind,
                   elements, flops_each, bytes);
}

}  // namespace

AttentionLaunches::AttentionLaunches(const program::Program& program, const Operation& whole,
                                     bool fused)
    : f_(std::get<program::Attention>(whole.function)),
      whole_(whole),
      probabilities_(is_forward() ? whole.writes[1] : whole.reads[f_.packed ? 2 : 4]),
      rows_(f_.batch * f_.heads * f_.length),
      size_(of(program::size_of(program.buffers[probabilities_].type))),
      fused_(fused) {}

double AttentionLaunches::square() const {
  return size_ * of(scores());
}

double AttentionLaunches::tokens() const {
  return size_ * of(rows_ * f_.width);
}

void AttentionLaunches::add(Operation operation, bool same_operator) {
  const bool is_product = operation.kind == OperationKind::kGemm;
  const bool rounds = whole_.type == program::ElementType::kTf32;  // in products alone
  operation.type = rounds && !is_product ? program::ElementType::kFp32 : whole_.type;
  launches_.push_back({std::move(operation), same_operator});
}

void AttentionLaunches::each(const PassNames& names, double flops_each) {
  add(pass(names, "poi", fused_, OperationKind::kElementwise, rows_ * f_.width, flops_each,
           2 * tokens()));
}

std::int64_t AttentionLaunches::missing() const {
  return rows_ * f_.width / f_.heads * (f_.heads - f_.key_heads());
}

void AttentionLaunches::repeat_shared(const char* framework, Index more_keys, Index more_values) {
  if (!f_.is_grouped()) return;
  const double shared = tokens() * of(f_.key_heads()) / of(f_.heads);
  for (const Index more : {more_keys, more_values}) {
    Operation one = pass({"elementwise_kernel: copy", framework, "clone"}, "poi", fused_,
                         OperationKind::kElementwise, rows_ * f_.width, 0, shared + tokens());
    if (more != program::kNoIndex) one.writes = {more};
    add(std::move(one));
  }
}

void AttentionLaunches::sum_shared(const char* framework) {
  if (!f_.is_grouped()) return;
  const double shared = tokens() * of(f_.key_heads()) / of(f_.heads);
  for (int i = 0; i < 2; ++i)
    add(pass({"sum over heads", framework, "sum"}, "red", fused_, OperationKind::kReduction,
             rows_ * f_.width, 1, shared + tokens()));
}

void AttentionLaunches::times_probabilities(double bytes, std::vector<Index> reads,
                                            std::vector<Index> writes) {
  Operation one =
      pointwise("mul", "SoftmaxBackward0", OperationKind::kElementwise, scores(), 1, bytes);
  one.reads = std::move(reads);
  one.writes = std::move(writes);
  add(std::move(one));
}

void AttentionLaunches::softmax(const PassNames& names, double flops_each, double bytes,
                                std::vector<Index> reads, std::vector<Index> writes,
                                bool same_operator) {
  // A warp a row, four of them a block; of longer rows a block a row (PersistentSoftmax.cuh;
  // Inductor's, fusion.cpp).
  constexpr std::int64_t kMostPersistent = 1024, kWarps = 4, kMostWarps = 32;
  constexpr std::int64_t kOfWarp = 4 * machine::kWarp;  // numbers, at 16 bytes a thread
  const bool persistent = f_.length <= kMostPersistent;
  Operation one = pass(names, persistent ? "per" : "red", fused_, OperationKind::kSoftmaxLoss,
                       scores(), flops_each, bytes);
  const std::int64_t warps = (f_.length + kOfWarp - 1) / kOfWarp;
  one.blocks = persistent ? (rows_ + kWarps - 1) / kWarps : rows_;
  one.threads =
      static_cast<int>(machine::kWarp * (persistent ? kWarps : std::min(warps, kMostWarps)));
  one.reads = std::move(reads);
  one.writes = std::move(writes);
  add(std::move(one), same_operator);
}

void AttentionLaunches::product(const char* framework, std::int64_t columns, std::int64_t terms,
                                std::vector<Index> reads, std::vector<Index> writes,
                                bool same_operator) {
  Operation product;
  product.kernel =
      fmt::format("bmm {} of {}x{}x{}", f_.batch * f_.heads, f_.length, columns, terms);
  product.framework = fused_ ? "aten::bmm" : framework;
  product.kind = OperationKind::kGemm;
  product.m = rows_;
  product.n = columns;
  product.k = terms;
  product.flops = 2 * of(rows_) * of(columns) * of(terms);
  product.bytes = 2 * tokens() + square();
  product.reads = std::move(reads);
  product.writes = std::move(writes);
  add(std::move(product), same_operator);
}

void AttentionLaunches::gather(const PassNames& names, double flops_each) {
  add(pass(names, "poi", fused_, OperationKind::kElementwise, 3 * rows_ * f_.width, flops_each,
           6 * tokens()));
}

std::vector<AttentionLaunch> AttentionLaunches::finish() {
  Operation& last = launches_.back().operation;
  last.function = whole_.function;
  last.reads = whole_.reads;
  last.writes = whole_.writes;
  last.as_one_call = program::CallWork{whole_.flops, whole_.bytes};
  for (AttentionLaunch& launch : launches_) launch.operation.is_gradient = whole_.is_gradient;
  return std::move(launches_);
}

}  // namespace trainscope::train
