// A machine as a data sheet: its figures in groups, each with its value as the file writes it, its
// provenance, what it means and where it comes from. As text for a terminal, and as data for the
// page of the machines (machines_page.h).
#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"

namespace trainscope::report {

struct SheetLine {
  std::string key;      // "launch_call"
  std::string value;    // "2.5 us", "132", "yes"
  std::string meaning;  // "a kernel launch, on the host"
  machine::Provenance provenance = machine::Provenance::kDatasheet;
  std::string note;  // "" where the file has none
};

struct SheetGroup {
  std::string title;   // "Host"
  std::string remark;  // "NVIDIA H200 SXM"; often ""
  std::vector<SheetLine> lines;
};

// In the order machine, GPU, its SMs, PCIe, host, links, network; a group without figures is left
// out.
std::vector<SheetGroup> sheet_groups(const machine::Machine& machine);

// How many figures have each provenance, in the order of the enumeration.
struct SourceCount {
  machine::Provenance provenance;
  int figures = 0;
};
std::vector<SourceCount> count_sources(const machine::Machine& machine);

// The whole sheet, 80 characters wide at most (longer words are not broken), a newline at the end.
std::string data_sheet(const machine::Machine& machine);

}  // namespace trainscope::report
