#include "ui/app/views/machine_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/letters.h"
#include "base/units.h"
#include "machine/figures.h"

namespace trainscope::ui {
namespace {

using machine::Figure;
using machine::Machine;

std::string without_maker(const std::string& gpu) {
  static const std::string maker = "NVIDIA ";
  return gpu.starts_with(maker) ? gpu.substr(maker.size()) : gpu;
}

CatalogueEntry entry_of(const std::string& id) {
  CatalogueEntry entry;
  entry.id = entry.name = id;
  try {
    auto machine = std::make_shared<Machine>(machine::load_machine(id));
    entry.name = machine->name;
    entry.gpu = without_maker(machine->gpu.name);
    entry.memory = format_bytes(static_cast<double>(machine->gpu.memory_bytes));
    entry.pcie = fmt::format("{}.0 x{}", machine->pcie.generation, machine->pcie.lanes);
    entry.gpus = machine::gpus_in_words(*machine);
    entry.machine = std::move(machine);
  } catch (const Error& error) {
    entry.fault = error.what();
  }
  return entry;
}

// With and without the blank in "80 GB" and "PCIe 5.0".
std::string searched(const CatalogueEntry& entry) {
  const std::string words =
      fmt::format("{} {} {} {} PCIe {} {} GPUs x{}", entry.id, entry.name, entry.gpu, entry.memory,
                  entry.pcie, entry.gpus, entry.gpus);
  std::string close = words;
  std::erase(close, ' ');
  return lowered(words + "\n" + close);
}

// Names of groups; a prefix that is new here is its own name.
std::string group_title(const Machine& machine, const std::string& prefix) {
  static const std::pair<const char*, const char*> kTitles[] = {
      {"", "Machine"},      {"gpu", "GPU"},   {"pcie", "PCIe"},
      {"host", "Host"},     {"link", "Link"}, {"network", "Network"},
      {"nvlink", "NVLink"}, {"node", "Node"}, {"pcie_tree", "PCIe tree"}};
  if (prefix == "gpu_link") return "Link between GPUs: " + machine::name_of(machine.gpu_link.kind);
  if (prefix == "architecture")
    return fmt::format("SMs of compute capability {:.1f}", machine.gpu.compute_capability);
  if (prefix == "gpu") return "GPU: " + machine.gpu.name;
  for (const auto& [name, title] : kTitles)
    if (prefix == name) return title;
  std::string title = prefix;
  std::replace(title.begin(), title.end(), '_', ' ');
  title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  return title;
}

FigureRow row_of(const Figure& figure) {
  return {machine::figure_name(figure.name), machine::value_of(figure), figure.provenance,
          figure.note};
}

}  // namespace

std::vector<CatalogueEntry> read_catalogue(const std::vector<std::string>& also) {
  std::vector<CatalogueEntry> catalogue;
  for (const std::string& id : machine::machine_ids()) catalogue.push_back(entry_of(id));
  for (const std::string& own : also)
    if (std::none_of(catalogue.begin(), catalogue.end(),
                     [&](const CatalogueEntry& entry) { return entry.id == own; }))
      catalogue.push_back(entry_of(own));
  return catalogue;
}

std::vector<std::size_t> matching_machines(const std::vector<CatalogueEntry>& catalogue,
                                           const std::string& words) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < catalogue.size(); ++i) {
    const std::string text = searched(catalogue[i]);
    std::istringstream each(lowered(words));
    bool fits = true;
    for (std::string word; each >> word;) fits = fits && text.find(word) != text.npos;
    if (fits) found.push_back(i);
  }
  return found;
}

std::vector<FigureGroup> figure_groups(const Machine& machine) {
  std::vector<FigureGroup> groups;
  std::vector<std::string> prefixes;
  for (const Figure& figure : machine::all_figures(machine)) {
    const std::size_t dot = figure.name.find('.');
    const std::string prefix = dot == figure.name.npos ? "" : figure.name.substr(0, dot);
    const auto at = std::find(prefixes.begin(), prefixes.end(), prefix);
    const auto number = static_cast<std::size_t>(at - prefixes.begin());
    if (at == prefixes.end()) {
      prefixes.push_back(prefix);
      groups.push_back({group_title(machine, prefix), {}});
    }
    groups[number].rows.push_back(row_of(figure));
  }
  return groups;
}

}  // namespace trainscope::ui
