// The workspace's runs on the GPU of this machine.

#include <algorithm>

#include "analysis/runs/measured_run.h"
#include "base/error.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

bool Workspace::can_measure() const {
  return knobs_free() && !busy();
}

void Workspace::measure() {
  if (!can_measure()) return;
  const std::vector<std::size_t> own = sides_with_knobs();
  if (const std::string why = same_when_measured(own); !why.empty()) {
    notice = "Nothing was measured: " + why;
    return;
  }
  for (const std::size_t i : own) desk_.measure(i);
}

std::string Workspace::same_when_measured(const std::vector<std::size_t>& own) const try {
  if (own.size() < 2) return "";
  return analysis::same_on_a_device(sides()[own[0]].config, sides()[own[1]].config);
} catch (const InputError& error) {
  return error.what();
}

bool Workspace::can_simulate_again() const {
  return can_measure() && std::ranges::any_of(sides_with_knobs(), [this](std::size_t i) {
           return is_measured(sides()[i]);
         });
}

void Workspace::simulate_again() {
  if (!can_simulate_again()) return;
  for (const std::size_t i : sides_with_knobs())
    if (is_measured(sides()[i])) desk_.start(i);
}

}  // namespace trainscope::ui
