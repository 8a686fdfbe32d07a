#include "analysis/runs/measured_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "cuda/calibration/machine_files.h"
#include "cuda/execution.h"
#include "program/knobs.h"
#include "train/build.h"
#include "train/parallel/parallel.h"
#include "train/parallel/ranks.h"

namespace trainscope::analysis {
namespace {

// "h100-sxm" is H100; letters as a driver writes them.
std::string model_of(const std::string& id) {
  std::string model = id.substr(0, id.find('-'));
  std::transform(model.begin(), model.end(), model.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return model;
}

// "NVIDIA GeForce RTX 4090" has RTX4090, and no L4.
bool names(const std::string& device, const std::string& model) {
  std::string letters;
  std::string words = " ";
  for (const char c : device) {
    const auto letter = static_cast<unsigned char>(c);
    words += std::isalnum(letter) ? static_cast<char>(std::toupper(letter)) : ' ';
    if (std::isalnum(letter)) letters += static_cast<char>(std::toupper(letter));
  }
  words += ' ';
  const bool is_word = words.find(" " + model + " ") != std::string::npos;
  return (is_word && model != "NVIDIA") || (model.size() > 4 && letters.ends_with(model));
}

// "NVIDIA A100-SXM4-80GB" is no card in a slot, "NVIDIA A100 80GB PCIe" is one.
bool has_other_form(const std::string& device, const std::string& id) {
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  return (has(device, "SXM") && has(id, "pcie")) || (has(device, "PCI") && has(id, "sxm"));
}

// Of several GPUs the config's machine: a device by itself says nothing of its links.
bool has_several_gpus(const program::Config& config) {
  const bool joins = config.word("workload") == "collective" || train::trains_in_parallel(config);
  return joins && machine::all_gpus(train::machine_of(config)) > 1;
}

// Tells how a run goes on, and ends it once it is no longer wanted; as long as this lives.
class Watching {
 public:
  Watching(const Watch& watch, const program::Program& program, cuda::Execution& execution) {
    if (!watch.wanted && !watch.share) return;
    double commands = 0;
    for (const program::Thread& thread : program.threads)
      commands += static_cast<double>(thread.commands.size());
    thread_ = std::jthread([this, &watch, &execution, commands](const std::stop_token& stop) {
      std::unique_lock lock(mutex_);
      while (!changed_.wait_for(lock, stop, kPause, [&] { return stop.stop_requested(); })) {
        if (watch.wanted && !watch.wanted()) execution.cancel();
        if (watch.share && commands > 0)
          watch.share(std::min(1.0, static_cast<double>(execution.commands_done()) / commands));
      }
    });
  }

 private:
  static constexpr std::chrono::milliseconds kPause{50};

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace

std::string sharing_note(const program::Program& program, cuda::DeviceCalls& device) {
  const int wanted = cuda::gpus_with_streams(program), there = device.gpus();
  std::string note;
  if (wanted > there) {
    const std::string name = device.facts().name;
    note = fmt::format(
        "{} GPUs are virtual ones that share {} {}: transfers between those on one GPU are copies "
        "inside its memory, and their kernels share its SMs",
        wanted, there, there == 1 ? name : name + "s");
  }
  const std::string ring = cuda::ring_note(program, device);
  return note + (note.empty() || ring.empty() ? "" : "; ") + ring;
}

std::string today() {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

trace::Origin measured_origin(const cuda::DeviceFacts& facts) {
  trace::Origin origin;
  origin.kind = trace::OriginKind::kMeasured;
  origin.subject = facts.name;
  origin.detail = facts.driver + ", built with " + facts.toolkit + ", commit " TRAINSCOPE_COMMIT +
                  ", " + today();
  return origin;
}

bool is_of_device(const trace::Origin& origin) {
  return origin.detail.find(kSharesOf) == std::string::npos;
}

namespace {

constexpr std::string_view kVirtual = " virtual GPUs";

}  // namespace

bool has_virtual_gpus(const trace::Origin& origin) {
  return origin.subject.ends_with(kVirtual);
}

void renew_origin(trace::Trace& trace, const cuda::DeviceFacts& before,
                  const cuda::DeviceCalls& device) {
  trace::Origin origin = trace.origin();
  origin.detail.replace(0, before.driver.size(), device.facts().driver);
  trace.set_origin(std::move(origin));
}

bool describes(const machine::Gpu& gpu, const cuda::DeviceFacts& facts) {
  return gpu.id == cuda::id_of_device(facts.name) || gpu.name == facts.name ||
         (gpu.sm_count == facts.sm_count && names(facts.name, model_of(gpu.id)) &&
          !has_other_form(facts.name, gpu.id));
}

std::optional<machine::Machine> machine_of_device(const cuda::DeviceFacts& facts) {
  std::optional<machine::Machine> best;
  const auto distance = [&](const machine::Machine& machine) {
    return std::abs(static_cast<double>(machine.gpu.memory_bytes - facts.memory_bytes));
  };
  const std::string calibrated = cuda::id_of_device(facts.name);
  for (const std::string& id : machine::machine_ids()) {
    machine::Machine machine = machine::load_machine(id);
    const bool alone = machine.gpu_count == 1 && machine.nodes == 1;
    if (alone && machine.gpu.id == calibrated) return machine;
    if (!alone || !describes(machine.gpu, facts)) continue;
    if (!best || distance(machine) < distance(*best)) best = std::move(machine);
  }
  return best;
}

namespace {

// Knobs of a simulated machine, which change nothing on a real one.
constexpr std::array kOfMachines{"power_limit", "pcie.lanes", "nvlink"};

bool is_of_a_simulation(const std::string& knob) {
  return knob == "machine" || knob == "host.profile" ||
         std::find(kOfMachines.begin(), kOfMachines.end(), knob) != kOfMachines.end();
}

struct Prepared {
  bool has_several_gpus = false;
  bool is_known = false;  // a file describes the device
  std::shared_ptr<machine::Machine> machine;
  std::shared_ptr<program::Program> program;
  std::string without_effect;  // "power_limit, pcie.lanes"

  void leave_out(const std::string& knob) { add_to_list(without_effect, knob); }
};

// The machine of a person's choice, where that is the device (a calibration of it, say); else the
// shipped one that is.
std::optional<machine::Machine> machine_of_run(const program::Config& config,
                                               const cuda::DeviceFacts& facts, Prepared& made) {
  if (!config.is_set("machine")) return machine_of_device(facts);
  machine::Machine asked = train::machine_of(config);
  if (describes(asked.gpu, facts)) return asked;
  made.leave_out("machine");
  return machine_of_device(facts);
}

Prepared prepare(const program::Config& config, const cuda::DeviceFacts& facts) {
  Prepared made;
  program::Config real = config;
  for (const char* name : kOfMachines) {
    const program::Knob& knob = program::find_knob(name);
    if (config.value(name) == knob.initial) continue;
    real.set(name, knob.initial);
    made.leave_out(name);
  }
  if (config.is_set("host.profile") && config.word("host.profile") != "native")
    made.leave_out("host.profile");
  made.has_several_gpus = has_several_gpus(real);
  const auto known = made.has_several_gpus ? std::nullopt : machine_of_run(real, facts, made);
  made.is_known = known.has_value();
  made.machine = std::make_shared<machine::Machine>(known ? *known : train::machine_of(real));
  made.program = std::make_shared<program::Program>(
      train::with_every_rank(train::build_program(real, *made.machine)));
  return made;
}

}  // namespace

std::string same_on_a_device(const program::Config& a, const program::Config& b) {
  const std::vector<std::string> differing = program::differing_knobs(a, b);
  if (differing.empty() || !std::all_of(differing.begin(), differing.end(), is_of_a_simulation) ||
      machine::all_gpus(train::machine_of(a)) != machine::all_gpus(train::machine_of(b)))
    return "";
  return fmt::format(
      "the two sides differ in {} alone, and a real GPU is what it is: both would be the same; "
      "simulate them with --executor sim",
      fmt::join(differing, " and "));
}

void require_measurable(const program::Config& config, cuda::DeviceCalls& device) {
  const Prepared made = prepare(config, device.facts());
  if (const std::string why = cuda::refusal_of(*made.program, device); !why.empty())
    throw MissingError(why);
}

Run measured_run(std::string label, const program::Config& config, cuda::DeviceCalls& device,
                 const Watch& watch) {
  if (!device.is_usable())
    throw MissingError(
        "the GPU was lost in an earlier run, and this process has no other; start "
        "the program again");
  const cuda::DeviceFacts facts = device.facts();
  const Prepared made = prepare(config, facts);
  Run run;
  run.label = std::move(label);
  run.config = config;
  run.machine = made.machine;
  run.program = made.program;
  trace::Origin origin = measured_origin(facts);
  if (const int wanted = cuda::gpus_with_streams(*run.program); wanted > device.gpus())
    origin.subject += fmt::format(" as {}{}", wanted, kVirtual);
  if (const std::string note = sharing_note(*run.program, device); !note.empty())
    origin.detail += ", " + note;
  if (run.program->parameters > 0 && run.program->timing_only)
    origin.detail += ", timing only: on noise in place of batches";
  if (!made.without_effect.empty())
    origin.detail += ", without effect on a real GPU: " + made.without_effect;
  if (made.has_several_gpus) {
    origin.detail += ", " + (kSharesOf + run.machine->name);
  } else if (!made.is_known) {
    origin.detail += ", no machine file describes it: " + (kSharesOf + run.machine->name);
  }
  const auto trace = std::make_shared<trace::Trace>(std::move(origin));
  cuda::Execution execution(*run.program, *run.machine, device, *trace);
  {
    const Watching watching(watch, *run.program, execution);
    if (const auto failure = execution.run())
      run.ending = sim::DeviceFailed{failure->time, failure->line, failure->sentence,
                                     failure->out_of_memory};
  }
  if (watch.took) watch.took(execution.duration());
  renew_origin(*trace, facts, device);
  run.trace = trace;
  analyse(run);
  return run;
}

}  // namespace trainscope::analysis
