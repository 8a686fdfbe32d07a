// `trainscope machines`: the table of all machines, the data sheet of one, the page of both.

#include <fmt/format.h>

#include <iostream>

#include "base/files.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/endings.h"
#include "cli/table.h"
#include "machine/machine.h"
#include "report/data_sheet.h"
#include "report/json.h"
#include "report/machines_page.h"

namespace trainscope::cli {
namespace {

using machine::Machine;

constexpr const char* kUnits =
    "\nmemory: GiB of 2^30 bytes, as PyTorch and nvidia-smi count; the GB in a name are its "
    "maker's\n";

std::vector<Machine> chosen_machines(const std::string& id_or_file) {
  if (!id_or_file.empty()) return {machine::load_machine(id_or_file)};
  std::vector<Machine> machines;
  for (const std::string& id : machine::machine_ids())
    machines.push_back(machine::load_machine(id));
  return machines;
}

std::string table_of(const std::vector<Machine>& machines) {
  TextTable table(
      {Align::kLeft, Align::kLeft, Align::kRight, Align::kLeft, Align::kRight, Align::kRight});
  table.add({"machine", "what it is", "GPUs", "each", "SMs", "memory"});
  for (const Machine& one : machines)
    table.add({one.id, one.name, machine::gpus_in_words(one), one.gpu.name,
               std::to_string(one.gpu.sm_count),
               format_bytes(static_cast<double>(one.gpu.memory_bytes))});
  return table.text();
}

}  // namespace

int machines_command(const MachinesOptions& options) {
  check_page(options.html);
  const std::vector<Machine> machines = chosen_machines(options.machine);
  if (!options.html.empty()) {
    write_file(options.html, report::machines_html(machines, TRAINSCOPE_VERSION));
    std::cerr << "wrote " << options.html << "\n";
  }
  if (options.json)
    std::cout << report::machines_json(machines) << "\n";
  else if (!options.html.empty())
    return 0;
  else if (!options.machine.empty())
    std::cout << report::data_sheet(machines.front());
  else
    std::cout << table_of(machines) << kUnits;
  return 0;
}

}  // namespace trainscope::cli
