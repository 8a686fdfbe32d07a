// What kernels reach: device memory and L2 by passes over footprints, products by shape and type.

#include <algorithm>

#include "base/error.h"
#include "cuda/calibration/calibration.h"
#include "machine/architecture.h"

namespace trainscope::cuda {
namespace {

using program::ElementType;

constexpr std::int64_t kFloat = sizeof(float);

// STREAM's scale and add over a footprint of so many bytes.
void pass_over(Bench& bench, const CalibrationPlan& plan, std::int64_t footprint,
               const std::string& where, std::vector<Point>& points, Calibration& to) {
  for (const bool adds : {false, true}) {
    const std::int64_t arrays = adds ? 3 : 2;
    const std::int64_t count = footprint / (arrays * kFloat);
    const KernelCall& kernel = bench.prepare(adds ? add_kernel(count) : scale_kernel(count));
    const Summary took = bench.times(kernel, plan.few);
    bench.free_all();
    if (took.count == 0) continue;
    const std::int64_t bytes = arrays * kFloat * count;
    points.push_back({static_cast<double>(bytes), took.median});
    to.transfers.push_back({where + (adds ? " add" : " scale"), bytes, took.median, took.spread});
  }
}

double rate_of(const std::vector<Point>& points) {
  return 1e9 / fit_line(points).slope;
}

}  // namespace

double ProductPoint::flops_per_s() const {
  return 2e9 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) / nanos;
}

void measure_memory(Bench& bench, const CalibrationPlan& plan, Calibration& to) {
  constexpr std::int64_t kUnknownL2 = std::int64_t{64} << 20;
  const std::int64_t l2 = to.facts.l2_bytes > 0 ? to.facts.l2_bytes : kUnknownL2;
  std::vector<Point> far, near;
  for (const std::int64_t times : {8, 16, 32})
    pass_over(bench, plan, times * l2, "device memory", far, to);
  if (far.size() < 2) {
    to.left_out.push_back("gpu.memory_efficiency: no pass over memory was seen");
    return;
  }
  const double reached = rate_of(far);
  const double peak = to.facts.memory_bytes_per_s > 0 ? to.facts.memory_bytes_per_s : reached;
  const double efficiency = std::min(1.0, reached / peak);
  const std::string how = "STREAM's scale and add over 8, 16 and 32 times L2";
  to.figures.push_back({"gpu.memory_bandwidth", peak, 0, 1,
                        to.facts.memory_bytes_per_s > 0 ? "the driver's memory clock and bus width"
                                                        : how + "; no peak is known"});
  to.figures.push_back({"gpu.memory_efficiency", efficiency, 0, far.size(), how});
  if (to.facts.l2_bytes == 0) {
    to.left_out.push_back("gpu.l2_bandwidth: the driver does not say how large L2 is");
    return;
  }
  for (const double share : {0.25, 0.375, 0.5, 0.625})
    pass_over(bench, plan, static_cast<std::int64_t>(share * static_cast<double>(l2)), "L2", near,
              to);
  // A pass that takes no longer than the shortest kernel says nothing of L2.
  const MeasuredFigure* floor = to.find("gpu.kernel_floor");
  constexpr double kLonger = 1.2;
  std::erase_if(near,
                [&](const Point& point) { return floor && point.y < kLonger * floor->value; });
  if (near.size() < 2) {
    to.left_out.push_back(
        "gpu.l2_bandwidth: passes over L2 take no longer than the shortest kernel");
    return;
  }
  to.figures.push_back({"gpu.l2_bandwidth", rate_of(near) / efficiency, 0, near.size(),
                        "STREAM's scale and add over 1/4 to 5/8 of L2, over memory_efficiency, "
                        "which L2 reaches too"});
}

namespace {

// Of FP32, outside the tensor cores: results a cycle, two operations each. 0: SMs of that
// capability are not described, or the driver does not tell the clock.
double peak_of_lanes(const DeviceFacts& facts) try {
  machine::Gpu gpu;
  gpu.compute_capability = facts.capability / 10.0;
  return 2.0 * machine::architecture_of(gpu).fp32_lanes * facts.sm_count *
         static_cast<double>(facts.clock_hz);
} catch (const InputError&) {
  return 0;
}

// None where the library has nothing for that shape: the others are measured all the same.
Summary time_of_product(Bench& bench, program::Operation one, int times, Calibration& to) {
  try {
    const Summary took = bench.times(bench.prepare(std::move(one)), times);
    bench.free_all();
    return took;
  } catch (const DeviceLost&) {
    throw;
  } catch (const Error& error) {
    to.left_out.push_back(std::string("a product: ") + error.what());
    if (!bench.is_cleared()) throw;
    return {};
  }
}

}  // namespace

void measure_products(Bench& bench, const CalibrationPlan& plan, double peak_16, Calibration& to) {
  const std::int64_t most = plan.largest_product;
  struct Shape {
    std::int64_t m, n, k;
  };
  const Shape shapes[] = {
      {most / 8, most / 8, most / 8}, {most / 4, most / 4, most / 4},
      {most / 2, most / 2, most / 2}, {most, most, most},
      {most, most, most / 16},        {most / 2 - 1, most / 2 - 1, most / 2 - 1}};
  double best = 0, best_32 = 0;
  for (const ElementType type :
       {ElementType::kFp32, ElementType::kTf32, ElementType::kFp16, ElementType::kBf16}) {
    const bool has_unit =
        to.facts.capability >= 80 || (type != ElementType::kTf32 && type != ElementType::kBf16);
    if (!has_unit) continue;
    for (const Shape& shape : shapes) {
      program::Operation one = product(shape.m, shape.n, shape.k, type);
      if (const std::string why = bench.device().refusal(one); !why.empty()) {
        to.left_out.push_back("gpu.gemm_efficiency: " + why);
        return;
      }
      const Summary took = time_of_product(bench, std::move(one), plan.few, to);
      if (took.count == 0) continue;
      to.products.push_back({type, shape.m, shape.n, shape.k, took.median, took.spread});
      const double rate = to.products.back().flops_per_s();
      if (program::size_of(type) == 2) best = std::max(best, rate);
      if (type == ElementType::kFp32) best_32 = std::max(best_32, rate);
    }
  }
  if (const double peak_32 = peak_of_lanes(to.facts); best_32 > 0 && peak_32 > 0)
    to.figures.push_back({"gpu.fp32_gemm_efficiency", std::min(1.0, best_32 / peak_32), 0,
                          to.products.size(), "the fastest FP32 product of cuBLASLt"});
  if (best == 0) return;
  const std::string how = "the fastest 16-bit product of cuBLASLt";
  const double peak = peak_16 > 0 ? peak_16 : best;
  to.figures.push_back({"gpu.gemm_efficiency", std::min(1.0, best / peak), 0, to.products.size(),
                        peak_16 > 0 ? how : how + "; no peak is known, so it is 1"});
}

}  // namespace trainscope::cuda
