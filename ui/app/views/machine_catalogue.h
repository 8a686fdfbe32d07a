// The machines as a person chooses among them: a list to search, and the data sheet of one. Pure.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "machine/machine.h"

namespace trainscope::ui {

struct CatalogueEntry {
  std::string id;                  // as the knob `machine` takes it; of a person's own: the file
  std::string name;                // "1 x H200, PCIe 5.0 x16"
  std::string gpu;                 // "H200 SXM"
  std::string memory, pcie, gpus;  // "140 GiB", "5.0 x16", "8"
  std::shared_ptr<const machine::Machine> machine;  // null: it cannot be read
  std::string fault;                                // and why, as a sentence
};

// The shipped machines, and those of `also` that are not among them (a person's own files).
std::vector<CatalogueEntry> read_catalogue(const std::vector<std::string>& also);

// Those that every word of `words` is found in, in the catalogue's order. A word that ends in "gb"
// or is a number is looked for as it stands: "80gb", "8", "pcie 5".
std::vector<std::size_t> matching_machines(const std::vector<CatalogueEntry>& catalogue,
                                           const std::string& words);

struct FigureRow {
  std::string name;   // "memory bandwidth"
  std::string value;  // "4.8 TB/s"
  machine::Provenance provenance = machine::Provenance::kDatasheet;
  std::string note;
};

// Figures whose names begin alike ("gpu."), in the order in which the machine has them.
struct FigureGroup {
  std::string title;  // "GPU"
  std::vector<FigureRow> rows;
};

std::vector<FigureGroup> figure_groups(const machine::Machine& machine);

}  // namespace trainscope::ui
