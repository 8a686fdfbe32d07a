// The constants of an SM that no machine's file has (architecture.h), as figures beside those of
// one.

#include <algorithm>
#include <cmath>

#include "machine/architecture.h"
#include "machine/figures.h"

namespace trainscope::machine {
namespace {

constexpr const char* kTable =
    "table 3 of PMC10448217 (Ultrasonics Sonochemistry 99:106546), of V100, A100 and H100";

// Whether the table has a GPU of this compute capability.
bool is_in_table(const Gpu& gpu) {
  const auto capability = std::lround(10 * gpu.compute_capability);
  return capability == 70 || capability == 80 || capability == 90;
}

Figure of_table(const Gpu& gpu, const char* name, double cycles) {
  const std::string table = kTable;
  if (is_in_table(gpu)) return {name, cycles, "cycles", Provenance::kDatasheet, table};
  return {name, cycles, "cycles", Provenance::kFitted, table + "; carried over"};
}

}  // namespace

std::vector<Figure> architecture_figures(const Gpu& gpu) {
  return {of_table(gpu, "architecture.arithmetic_latency", kArithmeticLatency),
          of_table(gpu, "architecture.memory_latency", kMemoryLatency),
          of_table(gpu, "architecture.l2_latency", kL2Latency),
          {"architecture.sm_port", kSmPort, "B a cycle", Provenance::kFitted,
           "assumed: the power of two above 5120 B a cycle to the 108 SMs of an A100"},
          {"architecture.sub_partitions", kSubPartitions, "", Provenance::kDatasheet,
           "`cuda_occupancy.h`, CUDA 13.0"}};
}

std::vector<Figure> all_figures(const Machine& machine) {
  std::vector<Figure> figures = machine.figures;
  const auto last = std::find_if(figures.rbegin(), figures.rend(),
                                 [](const Figure& one) { return one.name.starts_with("gpu."); });
  const std::vector<Figure> more = architecture_figures(machine.gpu);
  figures.insert(last.base(), more.begin(), more.end());
  return figures;
}

}  // namespace trainscope::machine
