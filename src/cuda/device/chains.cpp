#include "cuda/device/chains.h"

#include <algorithm>
#include <map>

#include "cuda/device/chain_builder.h"
#include "cuda/device/norm_chains.h"
#include "cuda/device/shapes.h"

namespace trainscope::cuda {
namespace {

using program::Index;
using program::Part;

const program::LayerNorm* first_layer_norm(const KernelCall& call) {
  for (const KernelCall& part : call.parts)
    if (const auto* norm = std::get_if<program::LayerNorm>(&part.operation->function)) return norm;
  return nullptr;
}

bool is_batch_norm(const KernelCall& part) {
  return std::holds_alternative<program::BatchNorm>(part.operation->function);
}

bool is_bias_gradient(const KernelCall& part) {
  const auto* linear = std::get_if<program::Linear>(&part.operation->function);
  return linear != nullptr && linear->part == Part::kBiasGradient;
}

std::optional<kernels::Chain> plain_chain(std::span<const KernelCall> parts,
                                          const std::vector<Left>& left) {
  if (parts.front().writes.empty()) return std::nullopt;
  ChainGroup group;
  ChainBuilder builder(parts.front().writes.front().elements, group);
  if (!build(parts, left, builder)) return std::nullopt;
  return builder.chain();
}

bool contains(const std::vector<Index>& buffers, Index buffer) {
  return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
}

// What the parts from `begin` to before `end` write for later parts or for what follows the call.
std::vector<Left> left_by_run(const KernelCall& call, std::size_t begin, std::size_t end) {
  const auto is_wanted = [&](Index buffer) {
    if (contains(call.operation->writes, buffer)) return true;
    return std::any_of(call.parts.begin() + static_cast<std::ptrdiff_t>(end), call.parts.end(),
                       [&](const KernelCall& later) {
                         return contains(later.operation->reads, buffer) ||
                                contains(later.operation->writes, buffer);
                       });
  };
  std::map<Index, Operand> written;
  for (std::size_t k = begin; k < end; ++k) {
    const KernelCall& part = call.parts[k];
    for (std::size_t i = 0; i < part.writes.size(); ++i)
      written[part.operation->writes[i]] = part.writes[i];
  }
  std::vector<Left> left;
  for (const auto& [buffer, operand] : written)
    if (is_wanted(buffer)) left.push_back({buffer, operand});
  return left;
}

PartRun run_of(const KernelCall& call, std::size_t begin, std::size_t end) {
  PartRun run{std::span(call.parts).subspan(begin, end - begin), std::nullopt};
  if (run.parts.size() > 1) run.chain = plain_chain(run.parts, left_by_run(call, begin, end));
  return run;
}

// Values, the sums down their columns, and what is done to those.
class SumBuilder {
 public:
  explicit SumBuilder(const program::Linear& f)
      : rows_(f.rows),
        columns_(f.outputs),
        values_(rows_ * columns_, group_),
        sums_(columns_, group_) {}

  bool add(const KernelCall& part) {
    if (is_bias_gradient(part)) return add_sum(part);
    const auto& reads = part.operation->reads;
    const bool of_sums =
        std::any_of(reads.begin(), reads.end(), [&](Index i) { return sums_.has(i); });
    return of_sums ? sums_.add(part) : values_.add(part);
  }

  bool leave(Index buffer, const Operand& operand) {
    return sums_.has(buffer) ? sums_.leave(buffer, operand) : values_.leave(buffer, operand);
  }

  SummedChain result() const {
    return {matrix(rows_, columns_), {values_.chain(), summed_, sums_.chain()}};
  }

 private:
  // Sums of FP32, rounded to their buffer's type.
  bool add_sum(const KernelCall& part) {
    const program::Operation& one = *part.operation;
    const auto type = number_type(part.writes[0].type);
    const int from = values_.read(one.reads[0], part.reads[0]);
    if (has_sum_ || !type || from == kNoRegister) return false;
    has_sum_ = true;
    summed_ = static_cast<std::uint8_t>(from);
    const int total = sums_.define(one.writes[0], part.writes[0]);
    return total == 0 && sums_.move(total, *type, one.writes[0], part.writes[0]);
  }

  std::int64_t rows_, columns_;
  ChainGroup group_;
  ChainBuilder values_, sums_;
  std::uint8_t summed_ = 0;
  bool has_sum_ = false;
};

std::optional<SummedChain> summed_chain(const KernelCall& call, const program::Linear& sum) {
  SumBuilder builder(sum);
  if (!build(call, builder)) return std::nullopt;
  return builder.result();
}

template <typename Kernel>
std::optional<FusedKernel> as_fused(const std::optional<Kernel>& kernel) {
  if (!kernel) return std::nullopt;
  return FusedKernel(*kernel);
}

struct Launch {
  kernels::Stream stream;
  float* room;

  void operator()(const kernels::Chain& chain) const { kernels::run_chain(stream, chain); }
  void operator()(const kernels::NormChain& chain) const { kernels::run_norm_chain(stream, chain); }
  void operator()(const SummedChain& sum) const {
    kernels::run_column_chain(stream, sum.shape, sum.chain, room);
  }
};

}  // namespace

std::optional<FusedKernel> fused_kernel(const KernelCall& call) {
  if (call.parts.size() < 2) return std::nullopt;
  if (const auto* norm = first_layer_norm(call)) return as_fused(norm_chain(call, *norm));
  const auto sum = std::find_if(call.parts.begin(), call.parts.end(), is_bias_gradient);
  if (sum == call.parts.end()) return as_fused(plain_chain(call.parts, left_by(call)));
  return as_fused(summed_chain(call, std::get<program::Linear>(sum->operation->function)));
}

std::vector<PartRun> runs_of(const KernelCall& call) {
  std::vector<PartRun> runs;
  for (std::size_t begin = 0, end = 0; begin < call.parts.size(); begin = end) {
    end = begin + 1;
    while (!is_batch_norm(call.parts[begin]) && end < call.parts.size() &&
           !is_batch_norm(call.parts[end]))
      ++end;
    runs.push_back(run_of(call, begin, end));
  }
  return runs;
}

std::vector<FusedKernel> chains_of(const KernelCall& call) {
  if (call.parts.empty()) return {};
  if (const auto fused = fused_kernel(call)) return {*fused};
  std::vector<FusedKernel> chains;
  for (const PartRun& run : runs_of(call))
    if (run.chain) chains.push_back(*run.chain);
  return chains;
}

void launch_fused(const FusedKernel& fused, kernels::Stream stream, float* room) {
  std::visit(Launch{stream, room}, fused);
}

}  // namespace trainscope::cuda
