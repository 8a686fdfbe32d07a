// `trainscope run` and `trainscope import`.

#include <algorithm>
#include <iostream>

#include "analysis/runs/level.h"
#include "analysis/runs/measured_run.h"
#include "analysis/runs/rank_run.h"
#include "base/error.h"
#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/opened.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/rank_process.h"
#include "cli/sides.h"
#include "cuda/calibration/bench.h"
#include "cuda/nvml.h"
#include "cuda/own_device.h"
#include "scenario/subject.h"
#include "scenario/translation.h"

namespace trainscope::cli {
namespace {

void check_executor(const std::string& executor) {
  const std::vector<std::string> known{"sim", "cuda", "auto"};
  if (std::find(known.begin(), known.end(), executor) != known.end()) return;
  throw InputError("there is no executor " + executor + did_you_mean(executor, known) +
                   "; give sim, cuda or auto");
}

// The exit code of a run that this machine's GPU could not carry through. One that found no room
// there is done, as a simulated one is.
constexpr int kDeviceFailed = 3;
constexpr int kExpectationFailed = 1;

bool any_device_failed(const Finished& finished) {
  return std::any_of(finished.runs.begin(), finished.runs.end(), [](const RunPointer& run) {
    const auto* failed = run->ending ? std::get_if<sim::DeviceFailed>(&*run->ending) : nullptr;
    return failed && !failed->out_of_memory;
  });
}

// Of a saved run nothing can be changed: it is over.
int show_saved(const RunOptions& options) {
  const char* flag = !options.settings.empty()   ? "--set"
                     : !options.machine.empty()  ? "--machine"
                     : !options.steps.empty()    ? "--steps"
                     : !options.seed.empty()     ? "--seed"
                     : options.executor != "sim" ? "--executor"
                                                 : nullptr;
  if (flag)
    throw InputError(options.what + " is a run that is over, and " + flag +
                     " would change it; run its lesson or config with " + flag + " instead");
  scenario::check_language(options.language);
  Finished finished{open_saved(options.what), {}, {}, {}, {}};
  // A lesson's words are saved in the language that it was run in.
  if (finished.subject.lesson.empty() && !options.language.empty())
    finished.subject.language = options.language;
  put_out(finished, options.outputs);
  return 0;
}

void simulate(const Request& request, Finished& finished) {
  finished.executor = "sim";
  for (const auto& [label, config] : request.sides)
    finished.runs.push_back(
        std::make_shared<const analysis::Run>(run_with_progress(label, config)));
}

void refuse_same_sides(const Request& request) {
  if (request.sides.size() < 2) return;
  const std::string why =
      analysis::same_on_a_device(request.sides[0].second, request.sides[1].second);
  if (!why.empty()) throw MissingError(why);
}

// Of the executor auto. A machine that has no GPU at all is not told so at every run.
void tell_why_simulated(const MissingError& why, const cuda::OpenDevice& device) {
  if (device || !cuda::gpu_states().gpus.empty())
    std::cerr << "trainscope: simulated instead: " << why.what() << "\n";
}

// On a device where the executor is to be one; auto: where there is one that can. False: nothing
// was carried out.
bool measure(const std::string& executor, const Request& request, Finished& finished) {
  if (executor == "sim") return false;
  cuda::OpenDevice device;
  try {
    device = executor == "cuda" ? cuda::open_own_device(cuda::kSimulateInstead)
                                : cuda::open_device(cuda::plugin_folder());
    refuse_same_sides(request);
    for (const auto& [label, config] : request.sides) analysis::require_measurable(config, *device);
    cuda::wake_up(*device);  // else A, which comes first, had the lower clocks
    std::vector<RunPointer> runs;
    for (const auto& [label, config] : request.sides) {
      if (!device->is_usable()) {
        std::cerr << "trainscope: " << label << " was not carried out: the GPU was lost in "
                  << runs.back()->label << "; start the program again\n";
        break;
      }
      runs.push_back(
          std::make_shared<const analysis::Run>(analysis::measured_run(label, config, *device)));
    }
    finished.runs = std::move(runs);
    finished.executor = "cuda";
    return true;
  } catch (const MissingError& why) {
    if (executor == "cuda") throw;
    tell_why_simulated(why, device);
    return false;
  }
}

// The words of its lesson, and, of what a GPU carried out, whether it is as the lesson expects:
// true where it is not.
bool put_beside_lesson(Finished& finished) {
  scenario::Sides sides;
  for (const RunPointer& run : finished.runs) sides.push_back(run.get());
  finished.subject = scenario::subject_of(*finished.lesson, sides);
  if (finished.executor != "cuda") return false;
  finished.expected = scenario::expected_of_a_gpu(*finished.lesson, sides);
  return scenario::any_fails(finished.expected, *finished.lesson, sides);
}

}  // namespace

int run_command(const RunOptions& options) {
  check_executor(options.executor);
  check_outputs(options.outputs);
  if (names_saved_run(options.what)) return show_saved(options);
  Request request = read_request(options);
  const auto place = options.executor == "cuda" ? place_among_processes() : std::nullopt;
  const bool among_processes = place && place->ranks > 1;
  if (among_processes)
    for (auto& [label, config] : request.sides) config = analysis::config_of_ranks(config, *place);
  if (!among_processes || place->rank == 0) note_idle_knobs(request, options);
  Finished finished;
  finished.seed = request.sides.front().second.whole("seed");
  finished.subject.language = options.language;
  bool ended_early = false;
  if (among_processes) {
    RunsOfRanks all = measure_among(*place, request);
    ended_early = all.ended_early;
    finished.runs = std::move(all.runs);
    finished.executor = "cuda";
    if (place->rank > 0) return ended_early ? kDeviceFailed : 0;  // the first rank has all to tell
  } else if (!measure(options.executor, request, finished)) {
    simulate(request, finished);
  }
  finished.lesson = std::move(request.lesson);
  finished.step = request.step;
  const bool expectation_failed = finished.lesson && put_beside_lesson(finished);
  put_out(finished, options.outputs);
  if (ended_early || any_device_failed(finished)) return kDeviceFailed;
  return expectation_failed ? kExpectationFailed : 0;
}

int import_command(const std::vector<std::string>& traces, const Outputs& outputs,
                   const std::string& language) {
  check_outputs(outputs);
  scenario::check_language(language);
  constexpr std::size_t kMostTraces = 26;  // A to Z
  if (traces.size() > kMostTraces)
    throw InputError(std::to_string(traces.size()) +
                     " traces are more than the 26 that can be named");
  Finished finished;
  char label = 'A';
  for (const std::string& trace : traces) {
    if (names_saved_run(trace))
      throw InputError(trace + ": is a saved run, not a trace; open it with `trainscope run " +
                       trace + "`");
    finished.runs.push_back(std::make_shared<const analysis::Run>(
        analysis::import_run(std::string(1, label++), trace)));
  }
  if (finished.runs.size() == 2) analysis::level(finished.runs);
  finished.executor = "imported";
  if (traces.size() == 1) finished.trace = traces.front();
  finished.subject.language = language;
  put_out(finished, outputs);
  return 0;
}

}  // namespace trainscope::cli
