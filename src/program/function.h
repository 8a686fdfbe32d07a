// What an operation computes, for an executor that computes: one plain struct a function, with its
// shape. The operands are the operation's `reads` and `writes`, in the order stated here.
//
// Shapes are in elements. Images lie [batch, channels, height, width], or with their channels
// innermost where `channels_last` is set; matrices row by row. A gradient's buffer is written,
// never added to: Accumulate does that. Values are rounded to the type of the buffer they are
// written to.
#pragma once

#include <cstdint>
#include <variant>

namespace trainscope::program {

// Which of a layer's computations: its forward, or the gradient of one thing that it reads.
enum class Part : std::uint8_t { kForward, kInputGradient, kWeightGradient, kBiasGradient };

// y = x wᵀ + b. Forward reads x, w and, where `bias`, b. The gradients: of the input from dy, w; of
// the weight from dy, x; of the bias from dy. With `steps` more than 1, x lies [rows, steps,
// inputs] and one of the steps is read, in the forward and for the weight's gradient.
struct Linear {
  std::int64_t rows = 0, inputs = 0, outputs = 0;
  bool bias = true;
  Part part = Part::kForward;
  std::int64_t steps = 1, step = 0;

  std::int64_t row_stride() const { return steps * inputs; }  // of x, from one row to the next
};

// Square kernels. Operands as Linear's.
struct Convolution {
  std::int64_t batch = 0, channels = 0, height = 0, width = 0;
  std::int64_t outputs = 0, kernel = 1, stride = 1, padding = 0, groups = 1;
  bool bias = true;
  bool channels_last = false;
  bool tf32 = false;       // may be used, whatever the planned kernel uses
  bool benchmark = false;  // the fastest algorithm is found by trying them
  Part part = Part::kForward;

  std::int64_t out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  std::int64_t out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
};

enum class ActivationKind : std::uint8_t { kRelu, kGelu, kGeluTanh, kTanh, kSilu };

// Backward reads dy and what it keeps: ReLU and tanh their result y, GELU and SiLU their input x.
// `written_out`: the model writes it out, operator by operator; it computes the same.
struct Activation {
  ActivationKind kind = ActivationKind::kRelu;
  std::int64_t elements = 0;
  Part part = Part::kForward;
  bool written_out = false;
};

// Forward writes y and the indices of the chosen pixels; backward reads dy and those.
struct MaxPooling {
  std::int64_t batch = 0, channels = 0, height = 0, width = 0;
  std::int64_t kernel = 2, stride = 2, padding = 0;
  bool channels_last = false;
  Part part = Part::kForward;

  std::int64_t out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  std::int64_t out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
};

// The mean of each channel: nn.AdaptiveAvgPool2d(1).
struct AveragePooling {
  std::int64_t batch = 0, channels = 0, pixels = 0;
  bool channels_last = false;
  Part part = Part::kForward;
};

// Forward reads x, weight, bias, running mean, running variance; writes y, mean, reciprocal
// deviation and, training, the running moments. Its gradients are computed by one kernel
// (kInputGradient): reads dy, x, weight, mean, reciprocal deviation; writes dx, dweight, dbias.
struct BatchNorm {
  std::int64_t batch = 0, channels = 0, height = 0, width = 0;
  bool channels_last = false;
  bool training = true;
  Part part = Part::kForward;
};

// Forward reads x, weight, bias; writes y, mean, reciprocal deviation. The input's gradient reads
// dy, x, weight, mean, reciprocal deviation; the weight's and bias's (kWeightGradient, one kernel)
// dy, x, mean, reciprocal deviation, and writes dweight, dbias.
struct LayerNorm {
  std::int64_t rows = 0, columns = 0;
  Part part = Part::kForward;
};

// Of each row x / rms(x), times a weight a column (arXiv:1910.07467). Forward reads x, weight;
// writes y, the reciprocal root of the row's mean square. The input's gradient reads dy, x, weight,
// that reciprocal; the weight's dy, x and it. `written_out`: the model writes it out, operator by
// operator; it computes the same.
struct RmsNorm {
  std::int64_t rows = 0, columns = 0;
  Part part = Part::kForward;
  bool written_out = false;
};

// Rotary embedding (arXiv:2104.09864) as Hugging Face's Llama has it: reads x [batch, length,
// heads, width]; writes y. Number i of a head's first half turns with number i of its second, at
// position t by the angle t theta^(-2i / width). `back`: by the negative angle, which is the
// gradient. `written_out`: as RmsNorm's.
struct Rotate {
  std::int64_t batch = 0, length = 0, heads = 0, width = 0;
  double theta = 10000;
  bool back = false;
  bool written_out = false;

  std::int64_t elements() const { return batch * length * heads * width; }
};

// Forward reads tokens, table; writes [tokens, width]. The table's gradient reads dy, tokens. Where
// each of so many `ranks` has `vocabulary` rows of a table, this one's follow those of the ranks
// before it, and a token of another rank's gives 0.
struct Embedding {
  std::int64_t tokens = 0, vocabulary = 0, width = 0;
  Part part = Part::kForward;
  std::int64_t ranks = 1, rank = 0;
};

// Each position's vector is added to its token's: reads x, table [at least length, width], of which
// the first `length` rows are used; writes y. The table's gradient reads dy, and is 0 in the rows
// that are not used. Where each of so many `ranks` has `length` of a sequence's tokens, forward
// uses the rows behind those of the ranks before it.
struct AddPositions {
  std::int64_t batch = 0, length = 0, width = 0;
  Part part = Part::kForward;
  std::int64_t ranks = 1, rank = 0;
};

// Forward reads x; writes y, where in the random stream its draws began, and which elements it
// keeps, a byte each. Backward reads dy and both; forward again, when it is recomputed, x and where
// they began. What is kept is of time and memory alone: it is nowhere stored, but drawn again.
// Where each of so many `ranks` has a part of x, their draws follow one another: this one's begin
// behind those of the ranks before it.
struct Dropout {
  std::int64_t elements = 0;
  double p = 0.5;
  bool again = false;
  Part part = Part::kForward;
  std::int64_t ranks = 1, rank = 0;
};

// Who writes attention out: a learner, with masked_fill, or Hugging Face's transformers, which does
// it in another way in each of its models.
enum class AttentionCode : std::uint8_t { kLearner, kBert, kGpt2, kOpt, kLlama };

// Forward reads the projection [batch, length, 3, heads, width]; writes the output [batch, length,
// heads, width] and what backward needs: the probabilities [batch, heads, length, length], or with
// `flash` the logarithms of the rows' sums [batch, heads, length]. Backward reads dy, the
// projection, that and, with `flash`, the output; writes the projection's gradient. Not `packed`,
// three projections [batch, length, heads, width] take the place of the one, and so do their
// gradients. `eager`: the model writes it out, operator by operator, in the way of `code`; it
// computes the same. `dropout`: the share of the probabilities that such code drops; of time alone,
// what is computed drops none. `kv_heads`, not packed: so many heads of keys and values, each of
// which as many heads of queries share that follow one another (arXiv:2305.13245); 0: each head has
// its own.
struct Attention {
  std::int64_t batch = 0, heads = 0, length = 0, width = 0;
  bool causal = true;
  bool flash = false;
  bool packed = true;
  Part part = Part::kForward;
  bool eager = false;
  AttentionCode code = AttentionCode::kLearner;
  double dropout = 0;
  std::int64_t kv_heads = 0;

  std::int64_t key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
  bool is_grouped() const { return key_heads() != heads; }
};

// Backward reads dy and the result y.
struct LogSoftmax {
  std::int64_t rows = 0, classes = 0;
  Part part = Part::kForward;
};

// The mean over rows. Forward reads log-probabilities, targets; writes one number. Backward reads
// its gradient, targets.
struct NllLoss {
  std::int64_t rows = 0, classes = 0;
  Part part = Part::kForward;
};

// The kernels of a loss of logits whose classes ranks share out (loss_parallel() in
// torch/distributed/tensor/parallel/loss.py). A rank's x is [rows, classes]; its classes follow
// those of the ranks before it, and what lies behind the last of `all` is no class.
enum class LossStep : std::uint8_t {
  kMaximum,      // of each row: reads x; writes a number a row
  kShift,        // reads x and a number a row, which it takes from that row
  kExponential,  // reads x; writes 0 where there is no class
  kSum,          // of each row: reads x; writes a number a row
  kLogarithm,    // of a number a row
  kPick,         // reads x, targets; writes each row's number there, 0 where another rank has it
  kMark          // reads targets; writes -1 there, where this rank has them, and else 0
};
struct SharedLoss {
  LossStep step = LossStep::kMaximum;
  std::int64_t rows = 0, classes = 0, all = 0;
  std::int64_t ranks = 1, rank = 0;
};

// y = a + b: reads a, b.
struct Add {
  std::int64_t elements = 0;
};
// y = a b: reads a, b. The gradient of one is that of y times the other.
struct Product {
  std::int64_t elements = 0;
};
// y = y + x, or the larger of the two: reads x, from its place `from` on.
struct Accumulate {
  std::int64_t elements = 0;
  std::int64_t from = 0;
  bool maximum = false;
};
// The numbers of y from place `to` on are those of x from place `from` on, times the factor.
struct CopyPart {
  std::int64_t elements = 0, from = 0, to = 0;
  double factor = 1;
};
// Runs, each as it is: y lies [outer, inner, run], and its run (o, i) is that of x at first + o
// outer_step + i inner_step, counted in runs; a y that is so many times as large takes as many such
// parts of x, one behind another. `rank_step`: how far a rank's first is behind the rank's before.
struct CopyRuns {
  std::int64_t run = 1;
  std::int64_t outer = 1, inner = 1;
  std::int64_t outer_step = 1, inner_step = 1;
  std::int64_t first = 0;
  std::int64_t rank_step = 0;
};
// y: what is read, one after another.
struct Concatenate {};
// Of tensors that ranks hold in equal parts, the last of them padded. Apart
// (torch.split_with_sizes_copy): reads the parts of all tensors, rank after rank; writes the
// tensors. Together (torch._chunk_cat), times the factor: reads tensors; writes their parts, padded
// with 0.
struct ShardsApart {
  std::int64_t ranks = 1;
};
struct ShardsTogether {
  std::int64_t ranks = 1;
  double factor = 1;
};
// y = factor x, times the number in a second operand where there is one. One number y is that of
// the sum of x; of one number x all of y.
struct Multiply {
  std::int64_t elements = 0;
  double factor = 1;
};
// y = x to this power: 2 is the product x x, 1/2 the square root.
struct Power {
  std::int64_t elements = 0;
  double exponent = 1;
};
struct Fill {
  std::int64_t elements = 0;
  double value = 0;
};
// y = x in the type of y's buffer.
struct Cast {
  std::int64_t elements = 0;
};
// How many rows have their largest value at their target: reads logits, targets; adds to a number.
struct CountCorrect {
  std::int64_t rows = 0, classes = 0;
};

// The gradients' common norm: reads them; writes one number. Each one's: writes as many numbers. By
// the common norm they are clipped in place.
struct GradientNorm {};
struct GradientNorms {};
struct ClipGradients {
  double max_norm = 1;
};

// torch.optim: reads the gradients, one a parameter, then, where `scaled` (a fused optimizer under
// a GradScaler), the loss scale; writes the parameters and then the optimizer's state: of SGD with
// momentum the velocities; of Adam the first moments, the second moments, and the number of steps.
// Of narrow parameters one that is `fused` rounds what it writes; another is several kernels, each
// of which rounds its results to the parameters' type.
struct SgdUpdate {
  double lr = 0.01, momentum = 0, weight_decay = 0;
  bool scaled = false;
  bool fused = false;
};
struct AdamUpdate {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool decoupled = false;
  bool scaled = false;
  bool fused = false;
};

// GradScaler's kernels. The inverse, computed in FP64: reads the scale. Taking it out of the
// gradients: reads the inverse; writes the gradients in place and 1 into found_inf where one is not
// finite. Without writing the gradients it only looks (a fused optimizer unscales by itself). The
// update: reads found_inf; writes scale and growth tracker.
struct InvertScale {};
struct Unscale {
  bool only_look = false;
};
struct UpdateScale {
  double growth_factor = 2, backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;
};

// The first: the operation computes nothing that is kept, or is one kernel of several whose last
// names the function.
using Function =
    std::variant<std::monostate, Linear, Convolution, Activation, MaxPooling, AveragePooling,
                 BatchNorm, LayerNorm, RmsNorm, Rotate, Embedding, AddPositions, Dropout, Attention,
                 LogSoftmax, NllLoss, SharedLoss, Add, Product, Accumulate, CopyPart, CopyRuns,
                 Concatenate, ShardsApart, ShardsTogether, Multiply, Power, Fill, Cast,
                 CountCorrect, GradientNorm, GradientNorms, ClipGradients, SgdUpdate, AdamUpdate,
                 InvertScale, Unscale, UpdateScale>;

}  // namespace trainscope::program
