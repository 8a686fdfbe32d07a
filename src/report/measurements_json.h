// What `validate` and `calibrate` print with --json on a GPU; values in base units.
#pragma once

#include <string>

#include "analysis/runs/validation.h"
#include "cuda/calibration/calibration.h"

namespace trainscope::report {

std::string measured_validation_json(const analysis::Validation& validation);
std::string calibration_json(const cuda::Calibration& calibration);

}  // namespace trainscope::report
