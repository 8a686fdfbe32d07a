#include "train/math_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "machine/architecture.h"
#include "train/kernels.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::Operation;
using program::OperationKind;

double of(std::int64_t count) {
  return static_cast<double>(count);
}

class MathAttention {
 public:
  MathAttention(const program::Program& program, const Operation& whole, Index scores, bool fused)
      : f_(std::get<program::Attention>(whole.function)),
        whole_(whole),
        scores_(scores),
        probabilities_(is_forward() ? whole.writes[1] : whole.reads[f_.packed ? 2 : 4]),
        rows_(f_.batch * f_.heads * f_.length),
        size_(of(program::size_of(program.buffers[probabilities_].type))),
        fused_(fused) {}

  std::vector<AttentionLaunch> launches() {
    if (is_forward()) {
      forward();
    } else {
      backward();
    }
    Operation& last = launches_.back().operation;
    last.function = whole_.function;
    last.reads = whole_.reads;
    last.writes = whole_.writes;
    last.as_one_call = program::CallWork{whole_.flops, whole_.bytes};
    for (AttentionLaunch& launch : launches_) launch.operation.is_gradient = whole_.is_gradient;
    return std::move(launches_);
  }

 private:
  bool is_forward() const { return f_.part == program::Part::kForward; }
  double tokens() const { return size_ * of(rows_ * f_.width); }
  double square() const { return size_ * of(rows_ * f_.length); }
  // Heads of one sequence lie as a batched product takes them; of several, a copy does.
  bool is_copied() const { return !fused_ && f_.batch > 1; }

  void forward() {
    for (int i = 0; i < 2; ++i) each("mul", "aten::mul", 1, "clone_mul");
    for (int i = 0; i < 2; ++i) copy("aten::clone");
    product("aten::bmm", f_.length, f_.width, {}, {scores_});
    if (f_.causal && !fused_) mask();
    const double masking = f_.causal && fused_ ? 1 : 0;
    softmax("softmax", "aten::softmax", "_softmax_add", 5 + masking, 2, probabilities_);
    copy("aten::clone");
    product("aten::bmm", f_.width, f_.length, {probabilities_}, {});
    each("copy", "aten::clone", 0, "clone");
  }

  void backward() {
    copy("UnsafeViewBackward0");
    product("BmmBackward0", f_.width, f_.length, {probabilities_}, {});
    product("BmmBackward0", f_.length, f_.width, {}, {scores_}, true);
    softmax("softmax_backward", "SoftmaxBackward0", "_softmax_backward_data_mul", 4, 3, scores_);
    product("BmmBackward0", f_.width, f_.length, {scores_}, {});
    product("BmmBackward0", f_.width, f_.length, {scores_}, {}, true);
    for (int i = 0; i < 2 && !fused_; ++i) each("mul", "MulBackward0", 1, {});
    gather();
  }

  // The gradients of queries, keys and values where the projections' are read.
  void gather() {
    const std::string generated = "triton_poi_fused_cat_mul";
    const char* kernel = f_.packed ? "CatArrayBatchedCopy" : "copy";
    const char* framework = f_.packed ? "SplitBackward0" : "ViewBackward0";
    add(pointwise(fused_ ? generated : kernel, fused_ ? generated : framework,
                  OperationKind::kElementwise, 3 * rows_ * f_.width, fused_ ? 2.0 / 3 : 0,
                  6 * tokens()));
  }

  void add(Operation operation, bool same_operator = false) {
    const bool is_product = operation.kind == OperationKind::kGemm;
    const bool rounds = whole_.type == program::ElementType::kTf32;  // in products alone
    operation.type = rounds && !is_product ? program::ElementType::kFp32 : whole_.type;
    launches_.push_back({std::move(operation), same_operator});
  }

  // Over queries, keys, values or the result. `fused`: what Inductor's kernel does.
  void each(const char* kernel, const char* framework, double flops, const std::string& fused) {
    const std::string generated = "triton_poi_fused_" + fused;
    add(pointwise(fused_ ? generated : kernel, fused_ ? generated : framework,
                  OperationKind::kElementwise, rows_ * f_.width, flops, 2 * tokens()));
  }
  void copy(const char* framework) {
    if (!is_copied()) return;
    add(pointwise("copy", framework, OperationKind::kElementwise, rows_ * f_.width, 0,
                  2 * tokens()));
  }
  void mask() {
    Operation pass = pointwise("add", "aten::add_", OperationKind::kElementwise, rows_ * f_.length,
                               1, 2 * square());
    pass.reads = {scores_};  // in place
    add(std::move(pass));
  }
  // A row at a time; `passes`: how often a matrix of the scores' size is read or written.
  void softmax(const char* kernel, const char* framework, const char* fused, double flops,
               int passes, Index result) {
    // A warp a row, four of them a block; of longer rows a block a row (PersistentSoftmax.cuh;
    // Inductor's, fusion.cpp).
    constexpr std::int64_t kMostPersistent = 1024, kWarps = 4, kMostWarps = 32;
    constexpr std::int64_t kOfWarp = 4 * machine::kWarp;  // numbers, at 16 bytes a thread
    const std::string generated =
        fmt::format("triton_{}_fused_{}", f_.length <= kMostPersistent ? "per" : "red", fused);
    Operation pass =
        pointwise(fused_ ? generated : kernel, fused_ ? generated : framework,
                  OperationKind::kSoftmaxLoss, rows_ * f_.length, flops, passes * square());
    const std::int64_t warps = (f_.length + kOfWarp - 1) / kOfWarp;
    pass.blocks = f_.length <= kMostPersistent ? (rows_ + kWarps - 1) / kWarps : rows_;
    pass.threads = static_cast<int>(
        machine::kWarp * (f_.length <= kMostPersistent ? kWarps : std::min(warps, kMostWarps)));
    pass.reads = {scores_};
    if (result != scores_) pass.writes = {result};
    add(std::move(pass));
  }

  // One of rows of all heads, one head after another, each with a matrix of its own; a side of it
  // or what it sums over is the head's width, the other the length.
  void product(const char* framework, std::int64_t columns, std::int64_t terms,
               std::vector<Index> reads, std::vector<Index> writes, bool same_operator = false) {
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

  const program::Attention& f_;
  const Operation& whole_;
  Index scores_;
  Index probabilities_;
  std::int64_t rows_;  // of queries, of all heads
  double size_;        // of a number
  bool fused_;
  std::vector<AttentionLaunch> launches_;
};

}  // namespace

std::vector<AttentionLaunch> math_attention(const program::Program& program, const Operation& whole,
                                            Index scores, bool fused) {
  return MathAttention(program, whole, scores, fused).launches();
}

}  // namespace trainscope::train
