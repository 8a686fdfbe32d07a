#include "train/kernels/eager_attention.h"

#include <initializer_list>
#include <utility>

#include "train/kernels/kernels.h"

namespace trainscope::train {
namespace {

using program::AttentionCode;
using program::ElementType;
using program::Index;
using program::Operation;

// What these read does not lie as their result does (one_by_one.h).
constexpr const char* kCopy = "elementwise_kernel: copy";  // of heads
constexpr const char* kAdd = "elementwise_kernel: add";    // of a mask that all heads share

class EagerAttention {
 public:
  EagerAttention(const program::Program& program, const Operation& whole,
                 const EagerOptions& options, const NewBuffer& new_buffer, KeptByEager& kept)
      : program_(program),
        all_(program, whole, options.fused),
        f_(all_.function()),
        type_(program.buffers[all_.probabilities()].type),
        wide_(options.autocasts || f_.code == AttentionCode::kLlama ? ElementType::kFp32 : type_),
        new_buffer_(new_buffer),
        kept_(kept) {
    const std::string& probabilities = program.buffers[all_.probabilities()].name;
    layer_ = probabilities.substr(0, probabilities.rfind(':'));
  }

  std::vector<AttentionLaunch> launches() {
    if (all_.is_forward()) {
      forward();
    } else {
      backward();
    }
    return all_.finish();
  }

 private:
  // Where the softmax's type is not that of what it reads, and its kernel does not widen it.
  bool casts() const { return wide_ != type_ && type_ == ElementType::kBf16; }

  void forward() {
    if (f_.is_grouped()) {
      kept_.more_keys = new_buffer_(layer_ + ": keys, repeated", all_.missing(), type_);
      kept_.more_values = new_buffer_(layer_ + ": values, repeated", all_.missing(), type_);
      all_.repeat_shared("aten::clone", kept_.more_keys, kept_.more_values);
    }
    lay_out_inputs();
    const Index scores = square("scores", type_);
    all_.product("aten::bmm", f_.length, f_.width, {}, {scores});
    if (all_.is_fused()) {
      all_.softmax({"", "", "_softmax_masked_fill_mul"}, f_.causal ? 7 : 6, 2 * all_.square(),
                   {scores}, {all_.probabilities()});
    } else {
      softmax(scores);
    }
    if (f_.code != AttentionCode::kOpt) copy("aten::clone");
    all_.product("aten::bmm", f_.width, f_.length, {all_.probabilities()}, {});
    all_.each({kCopy, "aten::clone", "clone"}, 0);
  }

  void lay_out_inputs() {
    if (f_.code != AttentionCode::kOpt) {
      for (int i = 0; i < 2; ++i) copy("aten::clone");
      return;
    }
    all_.each({"mul", "aten::mul", "mul"}, 1);
    for (int i = 0; i < 3; ++i) all_.each({kCopy, "aten::clone", "clone"}, 0);
  }

  void softmax(Index scores) {
    scores = masked_scores(scores);
    if (casts()) scores = pass("cast", "aten::to", 1, scores, square("scores in float32", wide_));
    const bool widened = wide_ != type_, drops = f_.dropout > 0;
    if (widened) kept_.softmax = square("probabilities in float32", wide_);
    if (drops && !widened) kept_.softmax = square("probabilities before dropout", type_);
    Index result = kept_.softmax == program::kNoIndex ? all_.probabilities() : kept_.softmax;
    all_.softmax({"softmax", "aten::softmax", {}}, 5, bytes({scores, result}), {scores}, {result});
    if (widened)
      result = pass("cast", "aten::to", 1, result,
                    drops ? square("probabilities, narrow", type_) : all_.probabilities());
    if (drops) drop(result);
  }

  Index masked_scores(Index scores) {
    switch (f_.code) {
      case AttentionCode::kLearner:
        scores = pass("mul", "aten::mul", 1, scores, square("scores, scaled", type_));
        if (!f_.causal) return scores;
        make_mask();
        return masked("aten::clone", "aten::masked_fill_", scores, "scores, masked");
      case AttentionCode::kGpt2:
        scores = pass("elementwise_kernel: div", "aten::div", 1, scores,
                      square("scores, scaled", type_));
        return pass("elementwise_kernel: where", "aten::where", 0, scores,
                    square("scores, masked", type_));
      case AttentionCode::kBert:
        scores = pass("div", "aten::div", 1, scores, square("scores, scaled", type_));
        return pass(kAdd, "aten::add", 1, scores, square("scores, masked", type_));
      case AttentionCode::kLlama:
        scores = pass("mul", "aten::mul", 1, scores, square("scores, scaled", type_));
        return f_.causal ? pass(kAdd, "aten::add", 1, scores, square("scores, masked", type_))
                         : scores;
      case AttentionCode::kOpt:
        kept_.masked = pass(kAdd, "aten::add", 1, scores, square("scores, masked", type_));
        return pass("elementwise_kernel: maximum", "aten::max", 1, kept_.masked,
                    square("scores, bounded", type_));
    }
    return scores;
  }

  void drop(Index probabilities) {
    kept_.kept = new_buffer_(layer_ + ": what dropout keeps", all_.scores(), ElementType::kBool);
    Operation pass =
        pointwise("dropout", "aten::dropout", program::OperationKind::kElementwise, all_.scores(),
                  10, bytes({probabilities, all_.probabilities(), kept_.kept}));
    pass.reads = {probabilities};
    pass.writes = {all_.probabilities(), kept_.kept};
    all_.add(std::move(pass));
  }

  void backward() {
    if (!all_.is_fused()) copy("UnsafeViewBackward0");
    Index gradient = square("gradient of probabilities", type_);
    all_.product("BmmBackward0", f_.width, f_.length, {all_.probabilities()}, {});
    all_.product("BmmBackward0", f_.length, f_.width, shared(kept_.more_values), {gradient}, true);
    if (all_.is_fused()) {
      all_.softmax({"", "", "_softmax_backward_data_masked_fill_mul"}, f_.causal ? 6 : 5,
                   3 * all_.square(), {gradient, all_.probabilities()}, {});  // in place
    } else {
      gradient = gradient_of_scores(gradient);
    }
    std::vector<Index> of_queries = shared(kept_.more_keys);
    of_queries.push_back(gradient);
    all_.product("BmmBackward0", f_.width, f_.length, std::move(of_queries), {});
    all_.product("BmmBackward0", f_.width, f_.length, {gradient}, {}, true);
    all_.sum_shared("aten::sum");
    gather();
  }

  static std::vector<Index> shared(Index more) {
    return more == program::kNoIndex ? std::vector<Index>{} : std::vector<Index>{more};
  }

  Index gradient_of_scores(Index gradient) {
    if (f_.dropout > 0)
      gradient = with_mask("dropout_backward", "NativeDropoutBackward0", gradient, kept_.kept,
                           "gradient before dropout");
    const bool widened = wide_ != type_;
    const Index result = kept_.softmax == program::kNoIndex ? all_.probabilities() : kept_.softmax;
    if (widened)
      gradient = pass("cast", "ToCopyBackward0", 1, gradient,
                      square("gradient of probabilities in float32", wide_));
    const Index weighted = square("gradient times probabilities", wide_);
    all_.times_probabilities(bytes({gradient, result, weighted}), {gradient, result}, {weighted});
    const Index scores = square("gradient of scores", casts() ? wide_ : type_);
    all_.softmax({"softmax_backward", "SoftmaxBackward0", {}}, 3, bytes({weighted, result, scores}),
                 {weighted, result}, {scores}, true);
    gradient = scores;
    if (casts())
      gradient =
          pass("cast", "ToCopyBackward0", 1, gradient, square("gradient of scores, narrow", type_));
    return gradient_before_mask(gradient);
  }

  Index gradient_before_mask(Index gradient) {
    const auto scaled = [&](const char* kernel, const char* node) {
      return pass(kernel, node, 1, gradient, square("gradient of scores, scaled", type_));
    };
    switch (f_.code) {
      case AttentionCode::kLearner:
        if (f_.causal)
          gradient = masked("MaskedFillBackward0", "MaskedFillBackward0", gradient,
                            "gradient of scores, masked");
        return scaled("mul", "MulBackward0");
      case AttentionCode::kGpt2:
        gradient = pass("elementwise_kernel: where", "WhereBackward0", 0, gradient,
                        square("gradient of scores, masked", type_));
        return scaled("elementwise_kernel: div", "DivBackward0");
      case AttentionCode::kBert:
        return scaled("div", "DivBackward0");
      case AttentionCode::kLlama:
        return scaled("mul", "MulBackward0");
      case AttentionCode::kOpt:
        return gradient_of_maximum(gradient);
    }
    return gradient;
  }

  // at::where(self == other, grad / 2, grad).masked_fill_(self < other, 0)
  Index gradient_of_maximum(Index gradient) {
    const char* node = "MaximumBackward0";
    const auto compare = [&](const char* kernel, const std::string& name) {
      return pass(kernel, node, 1, kept_.masked, square(name, ElementType::kBool));
    };
    const Index equal = compare("elementwise_kernel: eq", "scores that are the least");
    const Index half = pass("div", node, 1, gradient, square("gradient of scores, halved", type_));
    const Index chosen = square("gradient of scores, masked", type_);
    Operation where = pointwise("where", node, program::OperationKind::kElementwise, all_.scores(),
                                0, bytes({equal, half, gradient, chosen}));
    where.reads = {equal, half, gradient};
    where.writes = {chosen};
    all_.add(std::move(where), true);
    const Index less = compare("elementwise_kernel: lt", "scores below the least");
    Operation fill = pointwise("masked_fill", node, program::OperationKind::kElementwise,
                               all_.scores(), 0, bytes({chosen, chosen, less}));
    fill.reads = {chosen, less};
    all_.add(std::move(fill), true);
    return chosen;
  }

  // A head's lie one after another, where a token's do in the projections.
  void gather() {
    if (all_.is_fused()) return all_.gather({"", "", "cat"}, 0);
    for (int i = 0; i < 3; ++i) all_.each({kCopy, "ViewBackward0", {}}, 0);
    if (f_.code == AttentionCode::kOpt) all_.each({"mul", "MulBackward0", {}}, 1);
    if (f_.packed) all_.gather({"CatArrayBatchedCopy", "SplitBackward0", {}}, 0);
  }

  void copy(const char* framework) {
    if (all_.is_copied()) all_.each({kCopy, framework, "clone"}, 0);
  }

  // Of the lower triangle that the module holds, in FP32, which is 0 above the diagonal.
  void make_mask() {
    const std::int64_t elements = f_.length * f_.length;
    kept_.mask = new_buffer_(layer_ + ": mask", elements, ElementType::kBool);
    Operation pass = pointwise("eq", "aten::eq", program::OperationKind::kElementwise, elements, 1,
                               static_cast<double>(elements) * (4 + 1));
    pass.writes = {kept_.mask};
    all_.add(std::move(pass));
  }

  // `node`, `fill`: who copies, and who fills the copy.
  Index masked(const char* node, const char* fill, Index scores, const std::string& name) {
    const Index copy = pass("copy", node, 0, scores, square(name, type_));
    Operation in_place =
        pointwise("elementwise_kernel: masked_fill", fill, program::OperationKind::kElementwise,
                  all_.scores(), 0, bytes({copy, copy, kept_.mask}));
    in_place.reads = {copy, kept_.mask};
    all_.add(std::move(in_place), !all_.is_forward());
    return copy;
  }

  // Reads such a matrix and a mask as large, writes another.
  Index with_mask(const char* kernel, const char* framework, Index from, Index mask,
                  const std::string& name) {
    const Index to = square(name, type_);
    Operation pass = pointwise(kernel, framework, program::OperationKind::kElementwise,
                               all_.scores(), 1, bytes({from, mask, to}));
    pass.reads = {from, mask};
    pass.writes = {to};
    all_.add(std::move(pass));
    return to;
  }

  // Reads one matrix of the scores' size, writes another; gives that.
  Index pass(const char* kernel, const char* framework, double flops_each, Index from, Index to) {
    Operation pass = pointwise(kernel, framework, program::OperationKind::kElementwise,
                               all_.scores(), flops_each, bytes({from, to}));
    pass.reads = {from};
    pass.writes = {to};
    all_.add(std::move(pass));
    return to;
  }

  Index square(const std::string& name, ElementType type) {
    return new_buffer_(layer_ + ": " + name, all_.scores(), type);
  }

  double bytes(std::initializer_list<Index> buffers) const {
    std::int64_t sum = 0;
    for (const Index buffer : buffers) sum += program_.buffers[buffer].bytes;
    return static_cast<double>(sum);
  }

  const program::Program& program_;
  AttentionLaunches all_;
  const program::Attention& f_;
  ElementType type_;  // of what the products read and write
  ElementType wide_;  // of the softmax
  std::string layer_;
  const NewBuffer& new_buffer_;
  KeptByEager& kept_;
};

}  // namespace

std::vector<AttentionLaunch> eager_attention(const program::Program& program,
                                             const Operation& whole, const EagerOptions& options,
                                             const NewBuffer& new_buffer, KeptByEager& kept) {
  return EagerAttention(program, whole, options, new_buffer, kept).launches();
}

}  // namespace trainscope::train
