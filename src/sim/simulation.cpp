#include "sim/simulation.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "base/error.h"
#include "sim/device.h"
#include "sim/event_queue.h"
#include "sim/host.h"
#include "sim/recorder.h"

namespace trainscope::sim {

struct Simulation::State {
  State(const program::Program& what, const machine::Machine& machine, const std::string& profile,
        trace::Trace& trace, program::Numbers* numbers, const Detail& detail)
      : program(what),
        recorder(what, machine, trace,
                 what.recording.trace ? Recorder::Sms::kUnknown : Recorder::Sms::kPlaced),
        device(what, machine, detail.chunks, events, recorder),
        host(what, machine, profile, events, recorder, device, numbers) {}

  void handle(const Event& event) {
    switch (event.kind) {
      case EventKind::kThread:
        host.on_thread(now, event.index);
        break;
      case EventKind::kStart:
        device.on_start(now, event.index);
        break;
      case EventKind::kKernelFloor:
        device.on_kernel_floor(now, event.index);
        break;
      case EventKind::kEngineReady:
        device.on_engine_ready(now, event.index);
        break;
      case EventKind::kRate:
        device.on_rate(now, event.index, event.version);
        break;
      case EventKind::kHostRate:
        host.on_rate(now, event.index, event.version);
        break;
      case EventKind::kSms:
        device.on_sms(now, event.index, event.version);
        break;
      case EventKind::kLinks:
        device.on_links(now, event.version);
        break;
    }
  }

  // When nothing goes on any more and the program is not done. Throws InputError where ranks of a
  // collective are not the reason.
  void explain_standstill() {
    deadlock = device.standstill(now);
    if (deadlock) {
      deadlock->missing_line = host.line_of(deadlock->missing.front());
      deadlock->call = text_of(deadlock->line);
      deadlock->missing_call = text_of(deadlock->missing_line);
    } else if (device.recorded_ranks_wait()) {
      throw InputError(
          "the ranks' collectives wait for one another in a circle; their traces are not of one "
          "run");
    } else if (!host.finished()) {
      throw InputError("the program cannot go on: " + host.waiting());
    }
  }

  std::string text_of(std::uint16_t line) const {
    if (line == 0) return "";
    const std::string& text = program.listing.lines[line - 1u];
    return text.substr(std::min(text.size(), text.find_first_not_of(' ')));
  }

  const program::Program& program;
  EventQueue events;
  Recorder recorder;
  Device device;
  Host host;
  Nanos now = 0;
  std::uint64_t done = 0;  // commands, as was told last
  std::optional<Deadlock> deadlock;
};

Simulation::Simulation(const program::Program& program, const machine::Machine& machine,
                       const std::string& profile, trace::Trace& trace, program::Numbers* numbers,
                       const Detail& detail) {
  program::validate(program);
  state_ = std::make_unique<State>(program, machine, profile, trace, numbers, detail);
  state_->host.start();
}

Simulation::~Simulation() = default;

namespace {

// Times are whole nanoseconds of 64 bits: sums of them must stay far below.
void refuse_too_late(Nanos now, Nanos time) {
  constexpr Nanos kLatest = 100'000'000 * kSecond;
  if (time > kLatest || time < now)
    throw InputError(
        "the run would last more than three years; give it less work, or fewer and shorter steps");
}

}  // namespace

bool Simulation::advance(Nanos until, std::uint64_t budget) {
  State& state = *state_;
  while (!state.events.empty()) {
    if (budget-- == 0) return false;
    if (state.events.top().time > until) {
      state.now = std::max(state.now, until);
      return false;
    }
    const Event event = state.events.pop();
    refuse_too_late(state.now, event.time);
    state.now = event.time;
    state.handle(event);
  }
  state.host.record_overwritten();
  if (!state.host.stopped() && !state.deadlock) state.explain_standstill();
  return true;
}

void Simulation::finish() {
  advance(std::numeric_limits<Nanos>::max(), std::numeric_limits<std::uint64_t>::max());
}

std::optional<Ending> Simulation::ending() const {
  if (out_of_memory()) return *out_of_memory();
  if (const auto& why = state_->host.diverged()) return *why;
  if (state_->deadlock) return *state_->deadlock;
  return std::nullopt;
}
const std::optional<OutOfMemory>& Simulation::out_of_memory() const {
  return state_->host.out_of_memory();
}

Nanos Simulation::now() const {
  return state_->now;
}
// A host that is far ahead has given all commands long before the end: they are done as far as the
// GPU is with what it was given. Of several looks the largest, so that it only grows.
std::uint64_t Simulation::commands_done() const {
  const double done =
      static_cast<double>(state_->host.commands_done()) * state_->device.share_done();
  return state_->done = std::max(state_->done, static_cast<std::uint64_t>(done));
}

}  // namespace trainscope::sim
