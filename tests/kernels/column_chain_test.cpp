// A chain with sums down its columns beside the kernels one by one, to the bit, and the host's.

#include "kernels/column_chain.h"

#include "host/bias.h"
#include "host/gelu.h"
#include "kernels/activation.h"
#include "kernels/chain_support.h"
#include "kernels/emulator/grid.h"
#include "kernels/reductions.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::ColumnChain;
using kernels::Matrix;

namespace {

// GELU's gradient and its sums, rounded to T and left as FP32.
template <typename T>
void check_columns(const Matrix& shape, Stream stream) {
  const auto x = rounded<T>(numbers(shape.size(), 1)), dy = rounded<T>(numbers(shape.size(), 2));
  std::vector<T> dx(shape.size()), want(shape.size()), narrow(shape.columns);
  std::vector<float> sums(shape.columns), want_sums(shape.columns);
  ColumnChain all;
  all.values.values = shape.size();
  all.sums.values = shape.columns;
  const auto of_x = read(all.values, x), of_dy = read(all.values, dy);
  all.summed = step<T>(all.values, ChainAction::kGeluErfSlope, of_x, of_dy);
  write(all.values, dx, all.summed);
  write(all.sums, sums, step<T>(all.sums, ChainAction::kMove, 0, 0));
  std::vector<float> room(kernels::column_chain_workspace(shape));
  kernels::run_column_chain(stream, shape, all, room.data());

  const T* none = nullptr;
  kernels::bias_activation_backward(stream, kernels::Activation::kGeluErf, {1, shape.size()},
                                    x.data(), none, dy.data(), want.data());
  kernels::column_sums(stream, shape, want.data(), room.data(), want_sums.data(),
                       kernels::Into::kReplace);
  CHECK(same_bits(dx, want));
  CHECK(same_bits(sums, as_read<T>(want_sums)));
  std::vector<float> host_dx(shape.size()), host_sums(shape.columns);
  host::gelu_backward(host::Gelu::kErf, floats(x), floats(dy), host_dx);
  if (!std::is_same_v<T, float>) return;
  check_near(dx, host_dx, 4);
  host::bias_backward({shape.rows, shape.columns}, floats(want), host_sums, host::Into::kReplace);
  check_near(sums, host_sums, 4);
}

}  // namespace

TEST_CASE("sums behind a chain give the bits of the kernels one by one, and the host's") {
  for (const Matrix& shape :
       {Matrix{1, 1}, Matrix{1, 33}, Matrix{7, 3}, Matrix{300, 5}, Matrix{129, 70}}) {
    check_columns<float>(shape, Stream{});
    check_columns<Half>(shape, Stream{1});
    check_columns<Bfloat16>(shape, Stream{2});
  }
  for (const Stream stream : kOrders) check_columns<float>({130, 9}, stream);
}

TEST_CASE("a chain with sums of no columns does nothing") {
  const std::uint64_t before = emulator::grids_run();
  kernels::run_column_chain(Stream{}, {3, 0}, {}, nullptr);
  CHECK(emulator::grids_run() == before);
}
