// What `doctor` says of each GPU: its link, its limits, who else uses it, and what that changes of
// a measurement.
#pragma once

#include <string>
#include <vector>

#include "cuda/nvml.h"
#include "report/json.h"

namespace trainscope::cli {

// /proc/driver/nvidia/params, "Name: value" a line; empty where there is no driver.
std::string read_driver_settings();

// An entry for the driver's counters, then those of each GPU: one whose state makes measurements
// mean something else is a "no", with what it changes. `driver_settings`: as read_driver_settings
// gives them.
std::vector<report::DoctorEntry> gpu_entries(const cuda::GpuStates& states,
                                             const std::string& driver_settings);

// The path of a program in $PATH, or in one of the folders; empty: in none.
std::string find_program(const std::string& name, const std::vector<std::string>& folders);

}  // namespace trainscope::cli
