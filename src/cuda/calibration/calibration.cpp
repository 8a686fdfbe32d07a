#include "cuda/calibration/calibration.h"

#include <algorithm>

namespace trainscope::cuda {
namespace {

void add_facts(Calibration& to) {
  const auto add = [&](const char* name, double value) {
    if (value > 0) to.figures.push_back({name, value, 0, 1, "the driver says so"});
  };
  const DeviceFacts& facts = to.facts;
  add("gpu.compute_capability", facts.capability / 10.0);
  add("gpu.sm_count", facts.sm_count);
  add("gpu.threads_per_sm", facts.threads_per_sm);
  add("gpu.blocks_per_sm", facts.blocks_per_sm);
  add("gpu.registers_per_sm", facts.registers_per_sm);
  add("gpu.shared_per_sm", static_cast<double>(facts.shared_bytes_per_sm));
  add("gpu.l2", static_cast<double>(facts.l2_bytes));
  add("gpu.boost_clock", static_cast<double>(facts.clock_hz));
  add("gpu.memory", static_cast<double>(facts.memory_bytes));
  add("gpu.copy_engines", facts.copy_engines);
}

}  // namespace

const MeasuredFigure* Calibration::find(std::string_view name) const {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [&](const MeasuredFigure& one) { return one.name == name; });
  return found == figures.end() ? nullptr : &*found;
}

Calibration calibrate(DeviceCalls& device, const CalibrationPlan& plan, double peak_16,
                      const CalibrationProgress& progress) {
  Calibration all;
  all.facts = device.facts();
  add_facts(all);
  Bench bench(device);
  const std::pair<const char*, std::function<void()>> parts[] = {
      {"nothing yet: the GPU wakes up",
       [&] {
         wake_up(device);
         device.watch(WatchLevel::kNothing);  // as the bench has it
       }},
      {"calls of the host", [&] { measure_calls(bench, plan, all); }},
      {"launches, kernels, waits", [&] { measure_order(bench, plan, all); }},
      {"graphs", [&] { measure_graphs(bench, plan, all); }},
      {"copies", [&] { measure_copies(bench, plan, all); }},
      {"device memory and L2", [&] { measure_memory(bench, plan, all); }},
      {"products", [&] { measure_products(bench, plan, peak_16, all); }}};
  for (const auto& [words, measure] : parts) {
    if (progress) progress(words, all);
    try {
      measure();
    } catch (const DeviceLost& error) {
      all.left_out.push_back(std::string(words) + " and what comes after: " + error.what());
      break;
    } catch (const Error& error) {
      all.left_out.push_back(std::string(words) + ": " + error.what());
      if (!bench.is_cleared()) {
        all.left_out.push_back("what comes after: the GPU was lost");
        break;
      }
    }
  }
  return all;
}

}  // namespace trainscope::cuda
