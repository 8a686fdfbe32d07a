// The tape: an attention's launches, where it has no kernel of its own, those of a GELU, a norm or
// a rotation that is written out, and what they write.

#include <utility>

#include "train/autograd/tape_recorder.h"
#include "train/kernels/math_attention.h"

namespace trainscope::train {

using program::ElementType;
using program::Index;
using program::kNoIndex;
using program::Role;

NewBuffer Tape::buffer_maker() {
  return [this](const std::string& name, std::int64_t elements, ElementType type) {
    return new_buffer(name, elements, type, Role::kActivation);
  };
}

Index Tape::push_attention(const program::Operation& whole) {
  Index last = kNoIndex;
  for (AttentionLaunch& launch : launches_of(whole))
    last = push(std::move(launch.operation), launch.same_operator);
  return last;
}

std::vector<AttentionLaunch> Tape::launches_of(const program::Operation& whole) {
  const auto& attention = std::get<program::Attention>(whole.function);
  const bool forward = attention.part == program::Part::kForward;
  const Index probabilities = forward ? whole.writes[1] : whole.reads[attention.packed ? 2 : 4];
  const NewBuffer make = buffer_maker();
  if (attention.eager)
    return eager_attention(program_, whole, {autocasts(), options_.compile.fuse}, make,
                           eager_kept_[probabilities]);
  const program::Buffer like = program_.buffers[probabilities];
  const Index scores =
      make(like.name + (forward ? ", before softmax" : ", gradient"), like.elements(), like.type);
  return math_attention(program_, whole, scores, options_.compile.fuse, make,
                        eager_kept_[probabilities]);
}

// The kernel gives three gradients, which SplitBackward0 puts together (at::cat) to that of the
// projection they were cut from.
Index Tape::push_packed_gradient(program::Operation flash) {
  const Index projection = flash.writes[0];
  const program::Buffer like = program_.buffers[projection];
  flash.writes[0] =
      new_buffer(like.name + ", in three", like.elements(), like.type, Role::kActivation);
  program::Operation cat = make_operation(program_, program::Concatenate{}, like.type,
                                          {{flash.writes[0]}, {projection}});
  cat.framework = "SplitBackward0";
  if (options_.compile.fuse) cat.kernel = cat.framework = "triton_poi_fused_cat";
  cat.is_gradient = flash.is_gradient;
  push(std::move(flash));
  return push(std::move(cat));
}

Index Tape::push_written_gelu(const program::Operation& whole) {
  const bool forward =
      std::get<program::Activation>(whole.function).part == program::Part::kForward;
  return push_written(
      written_gelu(program_, whole, buffer_maker(), gelu_kept_[whole.reads[forward ? 0 : 1]]));
}

Index Tape::push_written(std::vector<WrittenLaunch> launches) {
  Index last = kNoIndex;
  for (WrittenLaunch& launch : launches)
    last = push(std::move(launch.operation), launch.same_operator);
  return last;
}

Index Tape::push_written_norm(const program::Operation& whole) {
  const program::Part part = std::get<program::RmsNorm>(whole.function).part;
  const Index root = part == program::Part::kForward         ? whole.writes[1]
                     : part == program::Part::kInputGradient ? whole.reads[3]
                                                             : whole.reads[2];
  return push_written(written_rms_norm(program_, whole, buffer_maker(), norm_kept_[root]));
}

Index Tape::push_rotation(const program::Operation& whole) {
  return push_written(written_rotation(program_, whole, rotary_, buffer_maker()));
}

void Tape::make_rotary_tables() {
  if (rotary_.cosines != kNoIndex || options_.compile.fuse) return;
  for (const Layer& layer : graph_.layers) {
    const auto* rotation = std::get_if<program::Rotate>(&layer.function);
    if (!rotation || !rotation->written_out) continue;
    block_ = 0;
    for (program::Operation& one : rotary_table_launches(
             program_, *rotation, options_.precision.model, buffer_maker(), rotary_))
      push(std::move(one));
    return;
  }
}

// mha_bwd of aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp: dk_expanded and
// dv_expanded, and at::sum_out over the heads that share one.
Index Tape::push_with_sums_of_heads(program::Operation whole) {
  const auto f = std::get<program::Attention>(whole.function);
  const std::int64_t elements = f.batch * f.length * f.heads * f.width;
  const bool fused = options_.compile.fuse;
  const bool is_gradient = whole.is_gradient;
  const std::string framework = whole.framework;
  std::vector<std::pair<Index, Index>> sums;  // of each head, and over those that share one
  for (const std::size_t place : {1, 2}) {
    const Index sum = whole.writes[place];
    const program::Buffer like = program_.buffers[sum];
    sums.emplace_back(
        new_buffer(like.name + ", of each head", elements, like.type, Role::kActivation), sum);
    whole.bytes += static_cast<double>(program_.buffers[sums.back().first].bytes - like.bytes);
  }
  for (const auto& [each, sum] : sums) whole.writes.push_back(each);
  const Index first = push(std::move(whole));
  Index last = first;
  for (const auto& [each, sum] : sums) {
    const program::Buffer &from = program_.buffers[each], &to = program_.buffers[sum];
    program::Operation one =
        pointwise("sum over heads", framework, program::OperationKind::kReduction, elements, 1,
                  static_cast<double>(from.bytes + to.bytes));
    one.type = from.type;
    one.is_gradient = is_gradient;
    one.reads = {each, sum};  // which the function of the kernel before has written
    one.compiled = fused;
    last = push(std::move(one), true);
  }
  return last;
}

}  // namespace trainscope::train
