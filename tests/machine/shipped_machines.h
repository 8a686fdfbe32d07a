// The shipped machines, and their figures by name.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "machine/machine.h"

namespace trainscope::test {

inline std::vector<machine::Machine> shipped_machines() {
  std::vector<machine::Machine> machines;
  for (const std::string& id : machine::machine_ids())
    machines.push_back(machine::load_machine(id));
  return machines;
}

inline const machine::Figure& figure_of(const machine::Machine& machine, const std::string& name) {
  for (const machine::Figure& figure : machine.figures)
    if (figure.name == name) return figure;
  throw std::runtime_error(machine.id + " has no figure " + name);
}

}  // namespace trainscope::test
