#include "ui/app/workspace/run_desk.h"

#include <algorithm>
#include <utility>

#include "analysis/runs/level.h"
#include "analysis/runs/run_file.h"

namespace trainscope::ui {
namespace {

// It can be drawn, with all that is said of it, before anyone notices a wait.
bool is_at_once(const analysis::Run& run) {
  constexpr std::uint32_t kMostSpans = 100'000;
  return analysis::is_analysed(run) && run.trace->spans().size() <= kMostSpans;
}

// Its own metrics are there, and those of all of it are being computed.
bool is_being_levelled(const SideModel& side) {
  return side.busy && side.progress.opening && side.run;
}

}  // namespace

RunDesk::RunDesk(std::function<void()> wake, analysis::GpuRuns::OpenDevice open)
    : worker_(std::move(wake), std::move(open)) {}

bool RunDesk::busy() const {
  return std::ranges::any_of(sides_, &SideModel::busy);
}

bool RunDesk::outlining() const {
  return std::ranges::any_of(sides_, [](const SideModel& side) {
    return !side.busy && !side.outline && !side.run && side.error.empty() && side.file.empty();
  });
}

// ---- What is on the sides ----------------------------------------------------------------------

void RunDesk::clear() {
  for (std::size_t slot = 0; slot < Worker::kSlots; ++slot) worker_.abandon(slot);
  sides_.clear();
}

void RunDesk::drop_last() {
  worker_.abandon(sides_.size() - 1);
  sides_.pop_back();
}

SideModel& RunDesk::place(std::size_t slot, program::Config config) {
  worker_.abandon(slot);
  sides_.resize(std::max(sides_.size(), slot + 1));
  return sides_[slot] = side_of(slot, std::move(config));
}

void RunDesk::outline(std::size_t slot, program::Config config) {
  const SideModel& side = place(slot, std::move(config));
  worker_.outline(slot, side.label, side.config);
}

void RunDesk::carry_out(std::size_t slot, program::Config config) {
  sides_[slot].config = std::move(config);
  start(slot);
}

void RunDesk::start(std::size_t slot) {
  SideModel& side = sides_[slot];
  side.busy = true;
  side.progress = {};
  side.error.clear();
  worker_.run(slot, side.label, side.config);
}

void RunDesk::measure(std::size_t slot) {
  SideModel& side = sides_[slot];
  side.busy = true;
  side.progress = {};
  worker_.measure(slot, side.label, side.config);
}

void RunDesk::read_run(std::size_t slot, const RunPointer& run, const std::filesystem::path& file) {
  SideModel& side = place(slot, run->config);
  // Of a trace that was read before: a replay reads it again.
  if (!run->program && !file.empty() && !analysis::is_run_file(file)) side.file = file;
  if (is_at_once(*run)) {
    show_run(side, run);
    return;
  }
  side.busy = true;
  side.progress.opening = true;
  worker_.open(slot, side.label, run, file.string());
}

void RunDesk::read_trace(std::size_t slot, const std::filesystem::path& file) {
  SideModel& side = place(slot, {});
  side.file = file;
  side.busy = true;
  worker_.import(slot, side.label, file);
}

void RunDesk::expect(std::size_t slot, const analysis::Run& run) {
  sides_[slot].opened = run.config;
  if (run.program)
    sides_[slot].outline = std::make_shared<Outline>(outline_of(*run.program, *run.trace));
}

void RunDesk::show(std::size_t slot, const RunPointer& run) {
  sides_[slot].config = run->config;
  show_run(sides_[slot], run);
}

void RunDesk::put_back(std::size_t slot, SideModel side) {
  worker_.abandon(slot);
  sides_[slot] = std::move(side);
}

void RunDesk::put_back(std::vector<SideModel> sides) {
  clear();
  sides_ = std::move(sides);
}

// ---- Metrics that can be held against each other -----------------------------------------------

void RunDesk::level() {
  if (sides_.size() != 2 || busy()) return;
  if (!sides_[0].run || !sides_[1].run) return;
  for (std::size_t i = 0; i < 2; ++i)
    if (sides_[i].stepped && !analysis::stepped_one(*sides_[i].stepped, *sides_[1 - i].run))
      sides_[i].run = std::exchange(sides_[i].stepped, nullptr);
  const auto stepped = analysis::stepped_one(*sides_[0].run, *sides_[1].run);
  if (!stepped) return;
  SideModel& side = sides_[*stepped];
  side.busy = true;
  side.progress = {};
  side.progress.opening = true;
  worker_.measure_whole(*stepped, side.run);
}

void RunDesk::unlevel() {
  SideModel& a = sides_.front();
  if (is_being_levelled(a)) {
    worker_.abandon(0);
    a.busy = false;
  }
  if (a.stepped) a.run = std::exchange(a.stepped, nullptr);
}

// ---- What comes back ---------------------------------------------------------------------------

RunDesk::Taken RunDesk::take() {
  Taken taken;
  for (Report& report : worker_.reports()) {
    taken.any = true;
    take(report, taken);
  }
  return taken;
}

void RunDesk::take(Report& report, Taken& taken) {
  if (report.slot >= sides_.size()) return;
  SideModel& side = sides_[report.slot];
  if (report.outline) side.outline = std::move(report.outline);
  if (report.progress) side.progress = *report.progress;
  if (report.view) side.view = std::move(report.view);
  if (report.run) {
    if (!side.file.empty() && !side.run && report.slot == 0)
      taken.look_at = report.run->facts.measured.first_window().start;
    side.stepped = report.whole ? side.run : nullptr;
    side.run = std::move(report.run);
  }
  if (!report.over) return;
  side.busy = false;
  if (!report.refusal.empty()) {
    taken.notice = "Nothing was measured, and what is shown stays: " + report.refusal;
    return;
  }
  side.error = std::move(report.error);
  if (!side.error.empty()) {
    side.run = nullptr;
    side.view = nullptr;
  }
}

namespace {

// Of a side of which something was seen.
std::string cancelled_sentence(const SideModel& side) {
  if (side.progress.opening) return "Opening it was cancelled; open it again to see it.";
  if (side.file.empty())
    return "It was cancelled at " + side.progress.percent() + ", and what there was of it is gone.";
  return "Reading " + side.file.filename().string() + " was cancelled; open it again to see it.";
}

}  // namespace

std::string RunDesk::cancel(bool all) {
  std::string notice;
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    SideModel& side = sides_[i];
    if (!side.busy && !all) continue;
    worker_.abandon(i);
    const bool stopped = std::exchange(side.busy, false);
    if (stopped && side.progress.measuring) {
      notice = "Measuring was cancelled, and what is shown stays.";
      continue;
    }
    side.run = nullptr;
    side.view = nullptr;
    if (all && !side.outline) worker_.outline(i, side.label, side.config);
    if (stopped && !all) side.error = cancelled_sentence(side);
  }
  return notice;
}

}  // namespace trainscope::ui
