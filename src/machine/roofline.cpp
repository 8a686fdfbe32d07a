#include "machine/roofline.h"

#include <algorithm>
#include <cmath>

namespace trainscope::machine {

std::optional<double> ridge(const Gpu& gpu, Math math) {
  const auto peak = peak_flops_per_s(gpu, math);
  if (!peak || gpu.memory_bytes_per_s <= 0) return std::nullopt;
  return *peak / gpu.memory_bytes_per_s;
}

double l2_hits(const Gpu& gpu, double footprint) {
  if (gpu.l2_bytes_per_s <= 0 || footprint <= 0) return 0;
  const double ratio = footprint / static_cast<double>(gpu.l2_bytes);
  if (ratio <= 1) return 1;
  // Newton's method from 0 climbs to the lower of the two solutions; the other is 1.
  double hits = 0;
  for (int i = 0; i < 64; ++i) {
    const double kept = std::exp(-ratio * (1 - hits));
    const double step = (kept - hits) / (1 - ratio * kept);
    if (!(step > 1e-12)) break;
    hits += step;
  }
  return hits;
}

std::string_view name_of(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "compute-bound";
    case Bound::kMemory:
      return "memory-bound";
    case Bound::kLatency:
      return "latency-bound";
    case Bound::kOverhead:
      return "overhead-bound";
  }
  return "";
}

double Regime::busiest() const {
  return std::max({arithmetic, memory, l2});
}

double Regime::explained() const {
  return std::max(busiest(), latency);
}

namespace {

// How long the work takes where nothing but what is in flight limits it.
double latency_ns(const Gpu& gpu, const KernelWork& work) {
  const double cycle_ns = 1e9 / gpu.boost_clock_hz;
  const double hits = work.bytes > 0 ? 1 - work.device_bytes / work.bytes : 0;
  const double load = hits * kL2Latency + (1 - hits) * kMemoryLatency;
  const auto turns = [](double amount, double in_flight) {
    return in_flight > 0 ? amount / in_flight : 0;
  };
  return cycle_ns * std::max(turns(work.bytes, work.bytes_in_flight) * load,
                             turns(work.flops, work.flops_in_flight) * kArithmeticLatency);
}

}  // namespace

Regime regime(const Gpu& gpu, const KernelWork& work, double nanos) {
  Regime result;
  if (nanos <= 0) return result;
  const auto share = [&](double amount, double rate_per_s) {
    return rate_per_s > 0 ? amount / rate_per_s * 1e9 / nanos : 0;
  };
  result.arithmetic =
      share(work.flops, peak_flops_per_s(gpu, work.math).value_or(0) * work.efficiency);
  result.memory = share(work.device_bytes, gpu.memory_bytes_per_s * gpu.memory_efficiency);
  result.l2 = share(work.bytes, gpu.l2_bytes_per_s * gpu.memory_efficiency);
  result.latency = std::min(1.0, latency_ns(gpu, work) / nanos);
  if (result.explained() < kExplained) return result;
  if (result.busiest() < kBusy * result.latency) {
    result.bound = Bound::kLatency;
    return result;
  }
  const bool by_memory = std::max(result.memory, result.l2) > result.arithmetic;
  result.bound = by_memory ? Bound::kMemory : Bound::kCompute;
  return result;
}

}  // namespace trainscope::machine
