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

class NormBuilder {
 public:
  explicit NormBuilder(const program::LayerNorm& f) : builder_(f.rows * f.columns, group_) {
    all_.rows = matrix(f.rows, f.columns);
  }

  bool add(const KernelCall& part) {
    const auto* norm = std::get_if<program::LayerNorm>(&part.operation->function);
    return norm == nullptr ? builder_.add(part) : is_of_rows(*norm) && add_norm(part, norm->part);
  }

  bool leave(Index buffer, const Operand& operand) {
    const auto found = beside_.find(buffer);
    if (found == beside_.end()) return builder_.leave(buffer, operand);
    *found->second = numbers(operand);
    return true;
  }

  kernels::NormChain result() const {
    kernels::NormChain result = all_;
    result.chain = builder_.chain();
    return result;
  }

 private:
  bool is_of_rows(const program::LayerNorm& f) const {
    return f.part != Part::kWeightGradient && size(f.rows) == all_.rows.rows &&
           size(f.columns) == all_.rows.columns;
  }

  bool add_norm(const KernelCall& part, Part of) {
    const bool gradient = of == Part::kInputGradient;
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
    norm.kind = gradient ? NormKind::kInputGradient : NormKind::kForward;
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
    if (!number || (all_.norm_count > 0 && all_.type != *number)) return false;
    all_.type = *number;
    return true;
  }

  // What is read from `first` on, and written beside the result: of rows or columns, in FP32,
  // and of other kernels.
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

  void connect_forward(const KernelCall& part, ChainNorm& norm) {
    norm.gamma = numbers(part.reads[1]);
    norm.beta = numbers(part.reads[2]);
    beside_[part.operation->writes[1]] = &norm.mean;
    beside_[part.operation->writes[2]] = &norm.rstd;
  }

  static void connect_gradient(const KernelCall& part, ChainNorm& norm) {
    norm.gamma = numbers(part.reads[2]);
    norm.mean = numbers(part.reads[3]);
    norm.rstd = numbers(part.reads[4]);
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
  std::map<Index, float**> beside_;  // where a norm's other results go
};

}  // namespace

std::optional<kernels::NormChain> norm_chain(const KernelCall& call,
                                             const program::LayerNorm& first) {
  NormBuilder builder(first);
  if (!build(call, builder)) return std::nullopt;
  return builder.result();
}

}  // namespace trainscope::cuda
