#include "kernels/copy_runs.h"

#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

// An item is a pack of a run's values, or one value.
template <typename T>
__global__ void copy_runs_kernel(Runs runs, Divisor run, Divisor inner, Divisor outer,
                                 std::size_t packs, const T* x, T* y) {
  const auto copy = [&](auto width, std::size_t i) {
    const auto of_run = run.split(i);
    const auto place = inner.split(static_cast<std::size_t>(of_run.quotient));
    const auto of_time = outer.split(static_cast<std::size_t>(place.quotient));
    const std::size_t from = runs.first + of_time.quotient * runs.outer * runs.inner +
                             of_time.rest * runs.outer_step + place.rest * runs.inner_step;
    store_pack(y + i, load_pack<decltype(width)::kValues>(x + from * runs.run + of_run.rest));
  };
  for_items<kPackOf<T>>(first_item(), item_step(), runs.size(), packs, copy);
}

}  // namespace

template <typename T>
void copy_runs(Stream stream, const Runs& runs, const T* x, T* y) {
  const std::size_t count = runs.size();
  if (count == 0) return;
  constexpr std::size_t kPack = kPackOf<T>;
  const bool in_packs = runs.run % kPack == 0 && is_aligned(x) && is_aligned(y);
  const std::size_t packs = in_packs ? count / kPack : 0;
  launch("copy_runs", copy_runs_kernel<T>, stream, shape_for(packs + count - packs * kPack), runs,
         Divisor(runs.run), Divisor(runs.inner), Divisor(runs.outer), packs, x, y);
}

template void copy_runs(Stream, const Runs&, const float*, float*);
template void copy_runs(Stream, const Runs&, const Half*, Half*);
template void copy_runs(Stream, const Runs&, const Bfloat16*, Bfloat16*);

}  // namespace trainscope::kernels
