#include "cuda/device/norm_chains.h"

#include <map>

#include "cuda/device/chain_builder.h"
#include "cuda/device/operands.h"
#include "cuda/device/shapes.h"

namespace trainscope::cuda {
namespace {

using kernels::ChainNorm;
using kernels::NormKind;
using program::Index;
using program::Part;

bool is_same(const kernels::Image& a, const kernels::Image& b) {
  return a.batch == b.batch && a.channels == b.channels && a.height == b.height &&
         a.width == b.width && a.channels_last == b.channels_last;
}

class NormBuilder {
 public:
  explicit NormBuilder(const program::LayerNorm& f) : builder_(f.rows * f.columns, group_) {
    all_.of_rows = true;
    all_.rows = matrix(f.rows, f.columns);
  }
  explicit NormBuilder(const program::BatchNorm& f)
      : builder_(f.batch * f.channels * f.height * f.width, group_) {
    all_.image = image_of(f);
  }

  bool add(const KernelCall& part) {
    if (const auto* f = std::get_if<program::LayerNorm>(&part.operation->function))
      return is_of(*f) && add_norm(part, kind_of(*f));
    if (const auto* f = std::get_if<program::BatchNorm>(&part.operation->function))
      return is_of(*f) && add_norm(part, kind_of(*f));
    return builder_.add(part);
  }

  bool leave(Index buffer, const Operand& operand) {
    const auto found = beside_.find(buffer);
    if (found == beside_.end()) return builder_.leave(buffer, operand);
    if (found->second != nullptr) *found->second = static_cast<float*>(operand.memory);
    return true;
  }

  kernels::NormChain result() const {
    kernels::NormChain result = all_;
    result.chain = builder_.chain();
    return result;
  }

 private:
  bool is_of(const program::LayerNorm& f) const {
    return f.part != Part::kWeightGradient && all_.of_rows && size(f.rows) == all_.rows.rows &&
           size(f.columns) == all_.rows.columns;
  }
  bool is_of(const program::BatchNorm& f) const {
    return !all_.of_rows && is_same(image_of(f), all_.image);
  }
  static NormKind kind_of(const program::LayerNorm& f) {
    return f.part == Part::kForward ? NormKind::kRows : NormKind::kRowsGradient;
  }
  static NormKind kind_of(const program::BatchNorm& f) {
    if (f.part != Part::kForward) return NormKind::kChannelsGradient;
    return f.training ? NormKind::kChannels : NormKind::kChannelsKept;
  }

  bool add_norm(const KernelCall& part, NormKind kind) {
    const bool gradient = kind == NormKind::kRowsGradient || kind == NormKind::kChannelsGradient;
    const std::size_t x = gradient ? 1 : 0;
    const program::ElementType type = part.reads[x].type;
    if (all_.norm_count == kernels::kMostChainNorms || !take_type(type) ||
        !has_numbers_of_groups(part, x + 1))
      return false;
    const auto& reads = part.operation->reads;
    const int value = builder_.read(reads[x], part.reads[x]);
    const int dy = gradient ? builder_.in_type(builder_.read(reads[0], part.reads[0]),
                                               part.reads[0].type, type)
                            : value;
    if (value == kNoRegister || dy == kNoRegister) return false;
    ChainNorm& norm = all_.norms[all_.norm_count++];
    norm.kind = kind;
    norm.eps = kNormEps;
    norm.type = *number_type(type);
    norm.x = static_cast<std::uint8_t>(value);
    norm.dy = static_cast<std::uint8_t>(dy);
    norm.before = builder_.chain().step_count;
    gradient ? connect_gradient(part, norm) : connect_forward(part, norm);
    return take_result(part, type, norm);
  }

  // All values that are normed have one type: it tells how a block shares a row.
  bool take_type(program::ElementType type) {
    const auto number = number_type(type);
    if (!number || (all_.norm_count > 0 && all_.rows_type != *number)) return false;
    all_.rows_type = *number;
    return true;
  }

  // What is read from `first` on, and written beside the result: of rows, columns or channels, in
  // FP32, and of other kernels.
  bool has_numbers_of_groups(const KernelCall& part, std::size_t first) {
    const auto is_fp32 = [](const Operand& one) {
      return stored(one.type) == program::ElementType::kFp32;
    };
    for (std::size_t i = first; i < part.reads.size(); ++i) {
      const Index buffer = part.operation->reads[i];
      if (!is_fp32(part.reads[i]) || group_.written.contains(buffer)) return false;
      group_.elsewhere.insert(buffer);
    }
    for (std::size_t i = 1; i < part.writes.size(); ++i) {
      if (!is_fp32(part.writes[i])) return false;
      group_.written.insert(part.operation->writes[i]);
    }
    return true;
  }

  static float* numbers(const Operand& operand) { return static_cast<float*>(operand.memory); }

  // Of a batch norm the running moments are read and written.
  void connect_forward(const KernelCall& part, ChainNorm& norm) {
    const auto& writes = part.operation->writes;
    norm.gamma = numbers(part.reads[1]);
    norm.beta = numbers(part.reads[2]);
    beside_[writes[1]] = &norm.mean;
    beside_[writes[2]] = &norm.rstd;
    if (norm.kind == NormKind::kRows) return;
    norm.running.mean = numbers(part.reads[3]);
    norm.running.variance = numbers(part.reads[4]);
    for (std::size_t i = 3; i < writes.size(); ++i) beside_[writes[i]] = nullptr;
  }

  void connect_gradient(const KernelCall& part, ChainNorm& norm) {
    norm.gamma = numbers(part.reads[2]);
    norm.mean = numbers(part.reads[3]);
    norm.rstd = numbers(part.reads[4]);
    if (norm.kind == NormKind::kRowsGradient) return;
    beside_[part.operation->writes[1]] = &norm.dgamma;
    beside_[part.operation->writes[2]] = &norm.dbeta;
  }

  // Rounded to the type of what was normed, and then to that of its buffer.
  bool take_result(const KernelCall& part, program::ElementType type, ChainNorm& norm) {
    const Index buffer = part.operation->writes[0];
    const auto wanted = number_type(part.writes[0].type);
    const int result = builder_.define(buffer, part.writes[0]);
    if (!wanted || result == kNoRegister) return false;
    norm.result = static_cast<std::uint8_t>(result);
    return stored(part.writes[0].type) == stored(type) ||
           builder_.move(result, *wanted, buffer, part.writes[0]);
  }

  kernels::NormChain all_;
  ChainGroup group_;
  ChainBuilder builder_;
  std::map<Index, float**> beside_;  // where a norm's other results go; null: they are there
};

template <typename Norm>
std::optional<kernels::NormChain> chain_of(const Norm& first, const KernelCall& call) {
  NormBuilder builder(first);
  if (!build(call, builder)) return std::nullopt;
  return builder.result();
}

}  // namespace

std::optional<kernels::NormChain> norm_chain(const KernelCall& call, const KernelCall& first) {
  if (const auto* f = std::get_if<program::LayerNorm>(&first.operation->function))
    return chain_of(*f, call);
  return chain_of(std::get<program::BatchNorm>(first.operation->function), call);
}

}  // namespace trainscope::cuda
