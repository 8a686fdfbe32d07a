// The workspace's runs beside A and B, and how B stands to A.

#include <algorithm>

#include "analysis/measured_run.h"
#include "ui/app/workspace.h"

namespace trainscope::ui {

void Workspace::set_offset(Nanos offset) {
  if (sides_.size() != 2) return;
  // No further than that the runs still touch.
  const Nanos a = sides_[0].view ? sides_[0].view->trace->end() : 0;
  const Nanos b = sides_[1].view ? sides_[1].view->trace->end() : 0;
  offset_ = std::clamp(offset, -b, a);
}

bool Workspace::can_measure() const {
  return knobs_free() && !busy();
}

void Workspace::measure() {
  if (!can_measure()) return;
  const std::vector<std::size_t> sides = sides_with_knobs();
  if (const std::string why = same_when_measured(sides); !why.empty()) {
    notice = "Nothing was measured: " + why;
    return;
  }
  for (const std::size_t i : sides) {
    sides_[i].busy = true;
    sides_[i].progress = {};
    worker_->measure(i, SideModel::label_of(i), sides_[i].config);
  }
}

std::string Workspace::same_when_measured(const std::vector<std::size_t>& sides) const try {
  if (sides.size() < 2) return "";
  return analysis::same_on_a_device(sides_[sides[0]].config, sides_[sides[1]].config);
} catch (const InputError& error) {
  return error.what();
}

bool Workspace::is_measured(std::size_t side) const {
  const SideModel& model = sides_[side];
  return model.run && trace::is_measured(*model.run->trace);
}

bool Workspace::can_simulate_again() const {
  if (!can_measure()) return false;
  for (const std::size_t i : sides_with_knobs())
    if (is_measured(i)) return true;
  return false;
}

void Workspace::simulate_again() {
  if (!can_simulate_again()) return;
  for (const std::size_t i : sides_with_knobs())
    if (is_measured(i)) start(i);
}

bool Workspace::can_keep(std::size_t side) const {
  if (side >= sides_.size() || !revealed() || kept_runs_.size() >= kMostKept) return false;
  const SideModel& model = sides_[side];
  return model.run && model.view && !model.busy &&
         std::none_of(kept_runs_.begin(), kept_runs_.end(),
                      [&](const KeptRun& kept) { return kept.run == model.run; });
}

void Workspace::keep(std::size_t side) {
  if (!can_keep(side)) return;
  kept_runs_.push_back({std::to_string(++kept_so_far_), sides_[side].run, sides_[side].view});
}

void Workspace::drop_kept(std::size_t number) {
  if (number < kept_runs_.size())
    kept_runs_.erase(kept_runs_.begin() + static_cast<std::ptrdiff_t>(number));
}

void Workspace::take_kept(std::size_t side, std::size_t number) {
  if (number >= kept_runs_.size() || side >= sides_.size()) return;
  const program::Config& from = kept_runs_[number].run->config;
  std::vector<std::pair<std::string, program::Value>> values;
  for (const std::string& knob : program::differing_knobs(sides_[side].config, from))
    values.emplace_back(knob, from.value(knob));
  set_knobs(side, values);
}

}  // namespace trainscope::ui
