// A calibration as the two files that the catalogue reads: the GPU (assets/gpus), and the machine
// (assets/machines) with what the host and its link cost. Pure: text in, text out.
//
// Every figure that was measured says so, with the device, the driver, the date and the command. A
// GPU file has all figures of a GPU: what no measurement tells (arithmetic peaks) is the known
// GPU's, with its own source, or follows from the capability and says how. A machine file has the
// figures that were measured and starts from the known machine, or from one that is named.
#pragma once

#include <optional>
#include <string>

#include "cuda/calibration/calibration.h"
#include "machine/machine.h"

namespace trainscope::cuda {

// What the figures say of their origin.
struct CalibrationStamp {
  std::string date;     // "2026-11-22"
  std::string command;  // "trainscope calibrate"
  std::string clocks;   // "SM clock 1980 of 1980 MHz"; empty: not known
};

struct CalibrationFiles {
  std::string gpu;
  std::string machine;
};

// `id`: of the GPU; the machine is called the same with "-1". `known`: the shipped machine that is
// the device; nothing: none is. `gpu_reference`: how the machine file names the GPU, an id or a
// file beside it.
CalibrationFiles machine_files(const Calibration& calibration, const CalibrationStamp& stamp,
                               const std::string& id, const std::optional<machine::Machine>& known,
                               const std::string& gpu_reference);

// A figure's value in words: "3.35 TB/s" of gpu.memory_bandwidth, "132" of gpu.sm_count.
std::string figure_text(const std::string& name, double value);

// The unit of its values: "B/s", "ns"; "" for a count, a share, and a name that no figure has.
std::string figure_unit(const std::string& name);

// "nvidia-h100-80gb-hbm3" of "NVIDIA H100 80GB HBM3".
std::string id_of_device(const std::string& name);

}  // namespace trainscope::cuda
