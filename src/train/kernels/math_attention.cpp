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
                bool fused, KeptByEager& kept)
      : all_(program, whole, fused), f_(all_.function()), scores_(scores), kept_(kept) {}

  // `like`: the probabilities.
  std::vector<AttentionLaunch> launches(const program::Buffer& like, const NewBuffer& new_buffer) {
    if (all_.is_forward()) {
      if (f_.is_grouped()) {
        kept_.more_keys = new_buffer(like.name + ", keys repeated", all_.missing(), like.type);
        kept_.more_values = new_buffer(like.name + ", values repeated", all_.missing(), like.type);
        all_.repeat_shared("aten::repeat_interleave", kept_.more_keys, kept_.more_values);
      }
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
    all_.product("BmmBackward0", f_.length, f_.width, with(kept_.more_values), {scores_}, true);
    if (!all_.is_fused())
      all_.times_probabilities(3 * all_.square(), {scores_, all_.probabilities()}, {});  // in place
    all_.softmax({"softmax_backward", "SoftmaxBackward0", "_softmax_backward_data_mul"},
                 all_.is_fused() ? 4 : 3, 3 * all_.square(), {scores_}, {},  // in place
                 !all_.is_fused());
    std::vector<Index> of_queries = with(kept_.more_keys);
    of_queries.push_back(scores_);
    all_.product("BmmBackward0", f_.width, f_.length, std::move(of_queries), {});
    all_.product("BmmBackward0", f_.width, f_.length, {scores_}, {}, true);
    for (int i = 0; i < 2 && !all_.is_fused(); ++i) all_.each({"mul", "MulBackward0", {}}, 1);
    all_.sum_shared("aten::sum");
    all_.gather({f_.packed ? "CatArrayBatchedCopy" : kCopy,
                 f_.packed ? "SplitBackward0" : "ViewBackward0", "cat_mul"},
                all_.is_fused() ? 2.0 / 3 : 0);
  }

  static std::vector<Index> with(Index more) {
    return more == program::kNoIndex ? std::vector<Index>{} : std::vector<Index>{more};
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
  KeptByEager& kept_;
};

}  // namespace

std::vector<AttentionLaunch> math_attention(const program::Program& program,
                                            const program::Operation& whole, Index scores,
                                            bool fused, const NewBuffer& new_buffer,
                                            KeptByEager& kept) {
  const auto& f = std::get<program::Attention>(whole.function);
  const bool forward = f.part == program::Part::kForward;
  const program::Buffer like =
      program.buffers[forward ? whole.writes[1] : whole.reads[f.packed ? 2 : 4]];
  return MathAttention(program, whole, scores, fused, kept).launches(like, new_buffer);
}

}  // namespace trainscope::train
