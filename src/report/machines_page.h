// All machines as one HTML file that opens anywhere, without a network: a table that puts them
// beside each other, and below it the data sheet of each, every figure with its provenance in word
// and colour and with where it comes from.
//
// Without JavaScript everything is there; with it, the table sorts and a box filters. Light and
// dark follow the reader's system. Equal input gives equal bytes.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"

namespace trainscope::report {

// `version` is Trainscope's; "" is not shown.
std::string machines_html(const std::vector<machine::Machine>& machines,
                          const std::string& version);

}  // namespace trainscope::report
