// What the page's script draws, as compact JSON: each row of bars as columns of whole numbers. The
// format is private to the page; page/data.js reads it.
#pragma once

#include <string>
#include <vector>

#include "report/run_view.h"

namespace trainscope::report {

std::string page_data(const std::vector<RunView>& views);

}  // namespace trainscope::report
