// The copy path: where the bytes of each side's copies are at the playhead, from the loader to
// device memory and back, and which host thread is held by them.
#pragma once

#include <memory>

#include "analysis/views/copy_path.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// The paths of the runs shown, read once a run.
struct CopyPathPanel {
  RunPointer runs[2];
  std::shared_ptr<const analysis::CopyPath> paths[2];
};

// `beside` is the panel in whose place it stands where no layout says otherwise.
void draw_copy_path(const PanelContext& context, CopyPathPanel& panel, const char* name,
                    const char* beside, bool* open);

}  // namespace trainscope::ui
