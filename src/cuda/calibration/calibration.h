// Measures a device: what calls cost the host, how fast copies, memory and products are, as the
// figures of a machine file mean them (src/machine/fields.h).
//
// Costs of calls are measured while nothing watches the device, times on the device by what
// watches it. Not measured, and left as a base machine has them: cudaMalloc and cudaFree (memory
// comes from a pool here), staging's chunks, the host's cores, its disk, and what belongs to
// PyTorch.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/calibration/bench.h"
#include "cuda/device_calls.h"

namespace trainscope::cuda {

// One figure of a machine: "host.launch_call", in base units (ns, bytes a second, 1).
struct MeasuredFigure {
  std::string name;
  double value = 0;
  double spread = 0;      // of the measurements, in the same unit; 0: it is a fit or a fact
  std::size_t count = 0;  // of measurements
  std::string how;        // "median of 50 calls"
};

// One size of a copy or of a pass over memory.
struct TransferPoint {
  std::string what;  // "h2d pinned"
  std::int64_t bytes = 0;
  double nanos = 0;
  double spread = 0;
};

struct ProductPoint {
  program::ElementType type = program::ElementType::kFp32;
  std::int64_t m = 0, n = 0, k = 0;
  double nanos = 0;
  double spread = 0;
  double flops_per_s() const;
};

struct Calibration {
  DeviceFacts facts;
  std::vector<MeasuredFigure> figures;
  std::vector<TransferPoint> transfers;
  std::vector<ProductPoint> products;
  // A launch while the device's work is watched, and while that is with the call of each.
  double kernels_watched_launch_ns = 0;
  double watched_launch_ns = 0;
  std::vector<std::string> left_out;  // a sentence each: what was not measured, and why

  // Null: it was not measured.
  const MeasuredFigure* find(std::string_view name) const;
};

using CalibrationProgress = std::function<void(std::string_view part, const Calibration& so_far)>;

// `peak_16`: the GPU's peak in 16-bit types, in operations a second, where a data sheet says it:
// the efficiency of products is a share of it. 0: the fastest product is taken for it. `progress`
// gets a few words before each part, and what is measured by then. A part that the device refuses,
// and all from where the device is lost, are left out with a sentence; what was measured before is
// kept.
Calibration calibrate(DeviceCalls& device, const CalibrationPlan& plan, double peak_16,
                      const CalibrationProgress& progress = {});

// The parts of it: each adds what it measures.
void measure_calls(Bench& bench, const CalibrationPlan& plan, Calibration& to);
void measure_order(Bench& bench, const CalibrationPlan& plan, Calibration& to);
void measure_graphs(Bench& bench, const CalibrationPlan& plan, Calibration& to);
void measure_copies(Bench& bench, const CalibrationPlan& plan, Calibration& to);
void measure_memory(Bench& bench, const CalibrationPlan& plan, Calibration& to);
void measure_products(Bench& bench, const CalibrationPlan& plan, double peak_16, Calibration& to);

// The rate of both directions together while two copies of `bytes` each overlap. `alone`: what each
// takes without the other, in ns: latency, and ns a byte. Nothing where they hardly overlap.
struct OneWay {
  Activity activity;
  Line alone;
};
std::optional<double> rate_of_both(const OneWay& there, const OneWay& back);

}  // namespace trainscope::cuda
