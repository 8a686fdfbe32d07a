// How the figures of a machine are told, on the data sheet, on the page of the machines and in the
// window. What each measures is meaning_of (machine.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"

namespace trainscope::machine {

// "SMs" of "gpu.sm_count"; empty for one that has no such name.
std::string_view short_name_of(std::string_view figure);
// The same; one without is called as its file has it, "read rate".
std::string figure_name(std::string_view figure);

// What all SMs of the GPU's compute capability are reckoned with, and no file says: latencies, the
// port to L2, the parts of an SM.
std::vector<Figure> architecture_figures(const Gpu& gpu);

// The machine's own figures, and those behind the GPU's.
std::vector<Figure> all_figures(const Machine& machine);

// With its unit: "55.43 GB/s", "65,536", "140 GiB", "yes".
std::string value_of(const Figure& figure);

}  // namespace trainscope::machine
