#include "train/kernels/written_gelu.h"

#include <string>

namespace trainscope::train {
namespace {

using program::Index;
using program::Operation;

class WrittenGelu {
 public:
  WrittenGelu(const program::Program& program, const Operation& whole, const NewBuffer& new_buffer,
              KeptByGelu& kept)
      : all_(program, whole, new_buffer),
        whole_(whole),
        f_(std::get<program::Activation>(whole.function)),
        type_(program.buffers[whole.writes[0]].type),
        kept_(kept) {}

  std::vector<WrittenLaunch> launches() {
    if (f_.part == program::Part::kForward) {
      forward();
    } else {
      backward();
    }
    std::vector<WrittenLaunch> launches = all_.finish(whole_.reads);
    launches.back().operation.reads = whole_.reads;  // its operands alone
    return launches;
  }

 private:
  void forward() {
    const Index x = whole_.reads[0], y = whole_.writes[0];
    kept_.half = pass("mul", "aten::mul", {x}, make("half of x"));
    const Index cube = pass("pow", "aten::pow", {x}, make("x cubed"));
    const Index scaled = pass("mul", "aten::mul", {cube}, make("x cubed, scaled"));
    const Index sum = pass("add", "aten::add", {x, scaled}, make("sum"));
    const Index inner = pass("mul", "aten::mul", {sum}, make("sum, scaled"));
    kept_.tanh = pass("tanh", "aten::tanh", {inner}, make("tanh"));
    kept_.factor = pass("add", "aten::add", {kept_.tanh}, make("tanh + 1"));
    pass("mul", "aten::mul", {kept_.half, kept_.factor}, y);
  }

  void backward() {
    const Index dy = whole_.reads[0], x = whole_.reads[1], dx = whole_.writes[0];
    const char* product = "MulBackward0";
    const Index of_half = pass("mul", product, {dy, kept_.factor}, make("gradient of half"));
    const Index of_factor =
        pass("mul", product, {dy, kept_.half}, make("gradient of tanh + 1"), true);
    const Index of_inner =
        pass("tanh_backward", "TanhBackward0", {of_factor, kept_.tanh}, make("gradient of tanh"));
    const Index of_sum = pass("mul", product, {of_inner}, make("gradient of sum"));
    const Index of_cube = pass("mul", product, {of_sum}, make("gradient of the cube"));
    const Index square = pass("pow", "PowBackward0", {x}, make("x squared"));
    const Index slope = pass("mul", "PowBackward0", {square}, make("x squared, scaled"), true);
    const Index of_power =
        pass("mul", "PowBackward0", {of_cube, slope}, make("gradient of x cubed"), true);
    const Index first =
        pass("add", "autograd::engine", {of_sum, of_power}, make("gradients of x, added"));
    const Index scaled = pass("mul", product, {of_half}, make("gradient of x, halved"));
    pass("add", "autograd::engine", {first, scaled}, dx);
  }

  Index make(const std::string& what) { return all_.make(what, f_.elements, type_); }

  Index pass(const char* kernel, const char* framework, const std::vector<Index>& reads, Index to,
             bool same_operator = false) {
    return all_.pass({kernel, framework, same_operator}, reads, to);
  }

  WrittenPasses all_;
  const Operation& whole_;
  const program::Activation& f_;
  program::ElementType type_;
  KeptByGelu& kept_;
};

}  // namespace

std::vector<WrittenLaunch> written_gelu(const program::Program& program, const Operation& whole,
                                        const NewBuffer& new_buffer, KeptByGelu& kept) {
  return WrittenGelu(program, whole, new_buffer, kept).launches();
}

}  // namespace trainscope::train
