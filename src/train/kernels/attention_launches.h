// What attention is made of without a kernel of its own: batched products, a softmax, and copies of
// queries, keys, values and the result. All but the last of an attention's launches compute nothing
// by themselves.
#pragma once

#include <string>
#include <vector>

#include "program/program.h"

namespace trainscope::train {

// One of the launches, and whether the call that made the one before it makes this one, too.
struct AttentionLaunch {
  program::Operation operation;
  bool same_operator = false;
};

// What a pass is called: by its kernel, by the operator or node of autograd, and, behind
// "triton_poi_fused_" or the like, where Inductor writes it.
struct PassNames {
  const char* kernel;
  const char* framework;
  std::string fused;
};

// Collects them. Not copied: it refers to the operation.
class AttentionLaunches {
 public:
  // `whole`: forward or backward as one operation. `fused`: all but the products is Inductor's.
  AttentionLaunches(const program::Program& program, const program::Operation& whole, bool fused);
  AttentionLaunches(const AttentionLaunches&) = delete;
  AttentionLaunches& operator=(const AttentionLaunches&) = delete;

  const program::Attention& function() const { return f_; }
  bool is_forward() const { return f_.part == program::Part::kForward; }
  bool is_fused() const { return fused_; }
  // Heads of one sequence lie as a batched product takes them; of several, a copy does.
  bool is_copied() const { return f_.batch > 1; }
  program::Index probabilities() const { return probabilities_; }
  std::int64_t scores() const { return rows_ * f_.length; }  // how many
  double square() const;                                     // their bytes
  double tokens() const;  // bytes of all queries, or of as many keys, values or results

  // Of the operation's type; what is no product, in FP32 where that is TF32.
  void add(program::Operation operation, bool same_operator = false);
  // Reads and writes queries, keys, values or the result.
  void each(const PassNames& names, double flops_each);
  // Of keys and values that heads share: repeated for each head before all else, as large buffers
  // as are missing for that beside the shared ones; and, backward, summed over them. Nothing where
  // each head has its own.
  void repeat_shared(const char* framework, program::Index more_keys, program::Index more_values);
  void sum_shared(const char* framework);
  std::int64_t missing() const;  // numbers of keys, or of values, beside those that heads share
  // A row of scores at a time.
  void softmax(const PassNames& names, double flops_each, double bytes,
               std::vector<program::Index> reads, std::vector<program::Index> writes,
               bool same_operator = false);
  // The gradient of a softmax is made of the product of its result and what comes back, which a
  // kernel before it writes (aten/src/ATen/native/cuda/SoftMax.cu, softmax_backward_cuda_out).
  // `bytes`: of three matrices of the scores' size.
  void times_probabilities(double bytes, std::vector<program::Index> reads,
                           std::vector<program::Index> writes);
  // One of rows of all heads, one head after another, each with a matrix of its own; a side of it
  // or what it sums over is the head's width, the other the length.
  void product(const char* framework, std::int64_t columns, std::int64_t terms,
               std::vector<program::Index> reads, std::vector<program::Index> writes,
               bool same_operator = false);
  // The gradients of queries, keys and values where the projections' are read, in one launch.
  void gather(const PassNames& names, double flops_each);

  // The last launch names the function, and has its operands and its work as one call.
  std::vector<AttentionLaunch> finish();

 private:
  const program::Attention& f_;
  const program::Operation& whole_;
  program::Index probabilities_;
  std::int64_t rows_;  // of queries, of all heads
  double size_;        // of a number
  bool fused_;
  std::vector<AttentionLaunch> launches_;
};

}  // namespace trainscope::train
