// What A and B, or one run, spend their time on, operation by operation, with the durations of the
// chosen one beside one another.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/views/operations.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// Names of operations as they fit into their column, while that and the rows are the same.
struct FittedNames {
  float width = 0, size = 0;  // pixels: of the column, of the font
  std::size_t rows = 0;       // that there were
  std::map<std::string, std::string> by_name;
};

struct OperationsPanel {
  RunPointer a, b;  // whose rows these are; b null: of one run
  std::vector<analysis::OperationRow> rows;
  analysis::OperationOrder order = analysis::OperationOrder::kDifference;
  bool ascending = false;
  std::string chosen;  // an operation's name; none of them: the first
  analysis::Operation::Where chosen_where = analysis::Operation::Where::kGpu;
  FittedNames names;
};

// All sides have run, and may be seen.
bool has_operations(const Workspace& workspace);

// Takes over the runs as they are now, sorted as before.
void refresh_operations(const Workspace& workspace, OperationsPanel& panel);

void draw_operations(const PanelContext& context, OperationsPanel& panel, const char* name,
                     const char* beside, bool* open);

}  // namespace trainscope::ui
