// The link between host and GPU of a trace that was recorded.
#pragma once

#include "machine/machine.h"
#include "program/config.h"
#include "trace/trace.h"

namespace trainscope::train {

// That of the config's machine where it names one; else that of a shipped machine whose GPU is of
// the model that the trace's origin names ("NVIDIA A100-SXM4-80GB"); else of the machine that a
// config has unless it names one.
machine::Pcie recorded_link(const program::Config& config, const trace::Trace& trace);

}  // namespace trainscope::train
