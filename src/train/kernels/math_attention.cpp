#include "train/kernels/math_attention.h"

#include <utility>

#include "train/kernels/kernels.h"

namespace trainscope::train {
namespace {

using program::Index;

constexpr const char* kCopy = "elementwise_kernel: copy";  // of heads (one_by_one.h)

class MathAttention {
 public:
  MathAttention(const program::Program& program, const program::Operation& whole, Index scores,
                bool fused)
      : all_(program, whole, fused), f_(all_.function()), scores_(scores) {}

  std::vector<AttentionLaunch> launches() {
    if (all_.is_forward()) {
      forward();
    } else {
      backward();
    }
    return all_.finish();
  }

 private:
  void forward() {
    for (int i = 0; i < 2; ++i) all_.each({"mul", "aten::mul", "clone_mul"}, 1);
    for (int i = 0; i < 2; ++i) copy("aten::clone");
    all_.product("aten::bmm", f_.length, f_.width, {}, {scores_});
    if (f_.causal && !all_.is_fused()) mask();
    const double masking = f_.causal && all_.is_fused() ? 1 : 0;
    all_.softmax({"softmax", "aten::softmax", "_softmax_add"}, 5 + masking, 2 * all_.square(),
                 {scores_}, {all_.probabilities()});
    copy("aten::clone");
    all_.product("aten::bmm", f_.width, f_.length, {all_.probabilities()}, {});
    all_.each({kCopy, "aten::clone", "clone"}, 0);
  }

  void backward() {
    copy("UnsafeViewBackward0");
    all_.product("BmmBackward0", f_.width, f_.length, {all_.probabilities()}, {});
    all_.product("BmmBackward0", f_.length, f_.width, {}, {scores_}, true);
    if (!all_.is_fused())
      all_.times_probabilities(3 * all_.square(), {scores_, all_.probabilities()}, {});  // in place
    all_.softmax({"softmax_backward", "SoftmaxBackward0", "_softmax_backward_data_mul"},
                 all_.is_fused() ? 4 : 3, 3 * all_.square(), {scores_}, {},  // in place
                 !all_.is_fused());
    all_.product("BmmBackward0", f_.width, f_.length, {scores_}, {});
    all_.product("BmmBackward0", f_.width, f_.length, {scores_}, {}, true);
    for (int i = 0; i < 2 && !all_.is_fused(); ++i) all_.each({"mul", "MulBackward0", {}}, 1);
    all_.gather({f_.packed ? "CatArrayBatchedCopy" : kCopy,
                 f_.packed ? "SplitBackward0" : "ViewBackward0", "cat_mul"},
                all_.is_fused() ? 2.0 / 3 : 0);
  }

  void copy(const char* framework) {
    if (all_.is_copied() && !all_.is_fused()) all_.each({kCopy, framework, {}}, 0);
  }
  void mask() {
    program::Operation pass =
        pointwise("elementwise_kernel: add", "aten::add_", program::OperationKind::kElementwise,
                  all_.scores(), 1, 2 * all_.square());
    pass.reads = {scores_};  // in place
    all_.add(std::move(pass));
  }

  AttentionLaunches all_;
  const program::Attention& f_;
  Index scores_;
};

}  // namespace

std::vector<AttentionLaunch> math_attention(const program::Program& program,
                                            const program::Operation& whole, Index scores,
                                            bool fused) {
  return MathAttention(program, whole, scores, fused).launches();
}

}  // namespace trainscope::train
