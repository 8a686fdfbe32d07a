// Memory of one GPU: what each role has of it over time, below what the allocator holds and what
// the GPU has; what the peak is made of; the allocator's segments with their blocks and holes at
// the playhead; and whether a larger batch would fit.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/advice/batch_fit.h"
#include "analysis/views/memory_counters.h"
#include "analysis/views/memory_history.h"
#include "analysis/views/memory_map.h"
#include "ui/app/workspace/background.h"
#include "ui/panels/memory/memory_chart.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// What was read of a trace, off the window's thread.
struct MemoryFacts {
  // Of the GPU that is asked for, where the trace counts it; else of the fullest.
  MemoryFacts(std::shared_ptr<const trace::Trace> of,
              const std::optional<analysis::MemoryGpu>& asked);

  std::shared_ptr<const trace::Trace> trace;
  std::vector<analysis::MemoryGpu> gpus;  // that are counted
  analysis::MemoryGpu gpu;                // the one that is shown
  analysis::MemoryHistory history;
  std::vector<analysis::MemoryBlock> at_peak;  // the largest first
  analysis::MemoryMaps maps;
  MemoryColumns columns;
};

struct MemoryPanel {
  struct SideFacts {
    std::shared_ptr<const trace::Trace> trace;  // that is read, or was
    std::uint32_t samples = 0;                  // of it, then
    std::shared_ptr<MemoryFacts> facts;         // the last that were ready
    Background<MemoryFacts> reading;
    std::optional<analysis::MemoryGpu> asked;  // by hand
    RunPointer fitted;                         // the run whose batch is tried
    Background<analysis::BatchFit> fit;
  };
  SideFacts sides[2];
  bool whole = false;  // all of the timelines' range; else the steps around the playhead
};

// `beside` is the panel in whose place it stands where no layout says otherwise.
void draw_memory(const PanelContext& context, MemoryPanel& panel, const char* name,
                 const char* beside, bool* open);

// "largest batch that fits: 4,096; with checkpointing 9,000", and the same more briefly. Where the
// data set ends first, "all 60,000 samples".
std::vector<std::string> fit_words(const analysis::BatchFit& fit);

}  // namespace trainscope::ui
