// Carries out a program on a simulated machine, in virtual time, and writes what happened into a
// trace. The same program, machine and profile give the same trace, byte for byte.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "machine/machine.h"
#include "program/numbers.h"
#include "program/program.h"
#include "sim/ending.h"
#include "trace/trace.h"

namespace trainscope::sim {

// What is simulated in more detail than it need be.
struct Detail {
  // Collectives of rings and trees send each chunk over each link, which copies and other
  // collectives share; else the closed form tells the time of the whole.
  bool chunks = false;
};

class Simulation {
 public:
  // The program is checked here: throws InputError. `profile` is the knob host.profile. What
  // computes the program's numbers may be null: then every value is 0. Program, machine, trace and
  // numbers must outlive the simulation.
  Simulation(const program::Program& program, const machine::Machine& machine,
             const std::string& profile, trace::Trace& trace, program::Numbers* numbers = nullptr,
             const Detail& detail = {});
  ~Simulation();

  // Goes on until virtual time passes `until`, or `budget` events have been handled, or the
  // program ends, or the device's memory does, or training diverges, or ranks wait for one that
  // never comes. Returns true at that end. Throws InputError when every thread waits for another.
  bool advance(Nanos until, std::uint64_t budget);

  // Runs to the end.
  void finish();

  // Why the run ended before the program did; nothing when it did not.
  std::optional<Ending> ending() const;
  const std::optional<OutOfMemory>& out_of_memory() const;

  Nanos now() const;
  std::uint64_t commands_done() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainscope::sim
