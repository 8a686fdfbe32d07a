// Which file to write of what is open: kinds to choose from, and a name whose ending says the same.
#pragma once

#include "ui/panels/sheets/sheet.h"

namespace trainscope::ui {

// True once it is confirmed: `sheet.path` is to be written. The arrows choose among the kinds.
bool draw_export_sheet(const PanelContext& context, PathSheet& sheet);

}  // namespace trainscope::ui
