#include "train/kernels/written_rms_norm.h"

namespace trainscope::train {
namespace {

using program::ElementType;
using program::Index;
using program::Operation;
using program::Part;

// The weight, or a number a row, is repeated.
constexpr const char* kRepeated = "elementwise_kernel: mul";

class WrittenRmsNorm {
 public:
  WrittenRmsNorm(const program::Program& program, const Operation& whole,
                 const NewBuffer& new_buffer, KeptByRmsNorm& kept)
      : all_(program, whole, new_buffer),
        whole_(whole),
        f_(std::get<program::RmsNorm>(whole.function)),
        kept_(kept) {}

  std::vector<WrittenLaunch> launches() {
    switch (f_.part) {
      case Part::kForward:
        return forward();
      case Part::kInputGradient:
        return input_gradient();
      default:
        return weight_gradient();
    }
  }

 private:
  std::vector<WrittenLaunch> forward() {
    const Index x = whole_.reads[0], weight = whole_.reads[1];
    const Index y = whole_.writes[0], root = whole_.writes[1];
    const ElementType type = all_.type_of(x);
    const bool narrow = type != ElementType::kFp32;
    kept_.wide = narrow ? all_.cast("aten::to", x, numbers("x in float32")) : x;
    const Index squares = all_.pass({"pow", "aten::pow"}, {kept_.wide}, numbers("squares"));
    const Index mean = all_.sum_rows({"mean", "aten::mean"}, f_.rows, squares, rows("mean square"));
    const Index sum = all_.pass({"add", "aten::add"}, {mean}, rows("mean square, with eps"));
    all_.pass({"rsqrt", "aten::rsqrt"}, {sum}, root);
    const Index wide =
        all_.pass({kRepeated, "aten::mul"}, {kept_.wide, root}, numbers("normalised"));
    kept_.normalised =
        narrow ? all_.pass({"cast", "aten::to"}, {wide}, numbers("normalised, narrow", type))
               : wide;
    all_.pass({kRepeated, "aten::mul"}, {weight, kept_.normalised}, y);
    return all_.finish({kept_.wide, weight});
  }

  std::vector<WrittenLaunch> input_gradient() {
    const Index dy = whole_.reads[0], weight = whole_.reads[2], root = whole_.reads[3];
    const Index dx = whole_.writes[0];
    const ElementType type = all_.type_of(dx);
    const bool narrow = type != ElementType::kFp32;
    Index gradient = all_.pass({kRepeated, "MulBackward0"}, {dy, weight},
                               numbers("gradient of normalised", type));
    if (narrow)
      gradient = all_.pass({"cast", "ToCopyBackward0"}, {gradient},
                           numbers("gradient of normalised in float32"));
    const Index of_x =
        all_.pass({kRepeated, "MulBackward0"}, {gradient, root}, numbers("gradient of the factor"));
    const Index of_root = through_root(gradient, root);
    const Index of_square =
        all_.pass({"elementwise_kernel: div", "MeanBackward1"}, {of_root}, numbers("of squares"));
    const char* power = "PowBackward0";
    const Index once = all_.pass({"pow", power}, {kept_.wide}, numbers("x once more"));
    const Index twice = all_.pass({"mul", power, true}, {once}, numbers("twice x"));
    const Index of_power =
        all_.pass({"mul", power, true}, {of_square, twice}, numbers("gradient of the power"));
    if (!narrow) {
      all_.pass({"add", "autograd::engine"}, {of_x, of_power}, dx);
    } else {
      const Index both =
          all_.pass({"add", "autograd::engine"}, {of_x, of_power}, numbers("gradient in float32"));
      all_.pass({"cast", "ToCopyBackward0"}, {both}, dx);
    }
    return all_.finish({dy, kept_.wide, weight, root});
  }

  // A number a row: -0.5 * grad * result.pow(3).
  Index through_root(Index gradient, Index root) {
    const Index of_each = all_.pass({"mul", "MulBackward0", true}, {gradient, kept_.wide},
                                    numbers("gradient of the root, of each"));
    const Index of_root =
        all_.sum_rows({"sum", "autograd::engine"}, f_.rows, of_each, rows("gradient of the root"));
    const char* node = "RsqrtBackward0";
    const Index half = all_.pass({"mul", node}, {of_root}, rows("gradient of the root, halved"));
    const Index cube = all_.pass({"pow", node, true}, {root}, rows("root cubed"));
    return all_.pass({"mul", node, true}, {half, cube}, rows("gradient of the mean"));
  }

  std::vector<WrittenLaunch> weight_gradient() {
    const Index dy = whole_.reads[0], root = whole_.reads[2], dweight = whole_.writes[0];
    const Index of_each = all_.pass({"mul", "MulBackward0", true}, {dy, kept_.normalised},
                                    numbers("of each", all_.type_of(dy)));
    all_.sum_columns({"sum over rows", "autograd::engine"}, of_each, dweight);
    return all_.finish({dy, kept_.wide, root});
  }

  Index numbers(const std::string& what, ElementType type = ElementType::kFp32) {
    return all_.make(what, f_.rows * f_.columns, type);
  }
  Index rows(const std::string& what) { return all_.make(what, f_.rows, ElementType::kFp32); }

  WrittenPasses all_;
  const Operation& whole_;
  const program::RmsNorm& f_;
  KeptByRmsNorm& kept_;
};

}  // namespace

std::vector<WrittenLaunch> written_rms_norm(const program::Program& program, const Operation& whole,
                                            const NewBuffer& new_buffer, KeptByRmsNorm& kept) {
  return WrittenRmsNorm(program, whole, new_buffer, kept).launches();
}

}  // namespace trainscope::train
