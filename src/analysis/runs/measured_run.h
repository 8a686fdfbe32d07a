// A config carried out on a real device: the run that a simulated one is put beside.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "analysis/runs/run.h"
#include "cuda/device_calls.h"

namespace trainscope::analysis {

// Whether a GPU of a machine file is the device: by its id or name, as `calibrate` wrote it, else
// by the name of its model, its SMs and its form.
bool describes(const machine::Gpu& gpu, const cuda::DeviceFacts& facts);

// The machine of one GPU that is the device: what `calibrate` wrote of it, else by its name, its
// SMs and, of several, the nearest memory. Nothing where no file describes it.
std::optional<machine::Machine> machine_of_device(const cuda::DeviceFacts& facts);

// What a trace says where a program has more GPUs than there are, or collectives that no library
// carries out; else nothing.
std::string sharing_note(const program::Program& program, cuda::DeviceCalls& device);

// "2026-11-22", in UTC.
std::string today();

// Of what was measured on the device today.
trace::Origin measured_origin(const cuda::DeviceFacts& facts);

// What an origin says before the name of the machine whose figures a run's shares are of, where no
// file describes the device, or there are several.
constexpr const char* kSharesOf = "shares are of ";

// Whether the machine of a run's metrics is the device: not where the origin says kSharesOf.
bool is_of_device(const trace::Origin& origin);

// Whether a run's GPUs were virtual ones that shared real ones: no links joined them.
bool has_virtual_gpus(const trace::Origin& origin);

// After a run whose origin began with `before`: what the device says of itself now, which may be
// more (that it could compile no kernels).
void renew_origin(trace::Trace& trace, const cuda::DeviceFacts& before,
                  const cuda::DeviceCalls& device);

// Looks on from a thread of its own, some twenty times a second. Empty parts are left out.
struct Watch {
  std::function<bool()> wanted = {};       // false: it ends before its next commands
  std::function<void(double)> share = {};  // of the program's commands that are carried out, 0..1
  std::function<void(Nanos)> took = {};    // at the end: what it took, set-up not among it
};

// Why measuring both on one device shows nothing: they differ only in what a simulated machine is,
// which a device takes no notice of. Empty: they differ in more, or in nothing. Throws InputError.
std::string same_on_a_device(const program::Config& a, const program::Config& b);

// Throws what measured_run would throw of it before anything is carried out.
void require_measurable(const program::Config& config, cuda::DeviceCalls& device);

// Carries it out from start to end; a device that fails ends it, and what was measured before is
// in it. The machine of metrics is the device's where a file describes that (the config's, if it
// does), else the config's, and the trace's origin says so. Throws InputError for a config that is
// wrong, MissingError for a program that a device cannot carry out, and on a device that an earlier
// run has lost.
Run measured_run(std::string label, const program::Config& config, cuda::DeviceCalls& device,
                 const Watch& watch = {});

}  // namespace trainscope::analysis
