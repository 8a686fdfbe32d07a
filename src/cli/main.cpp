// The command line: parses arguments, calls one command, and turns errors into exit codes.

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/commands.h"

namespace {

using namespace trainscope;

constexpr int kBadUsage = 2;
constexpr int kOurBug = 70;

int exit_code(Fault fault) {
  switch (fault) {
    case Fault::kFailed:
      return 1;
    case Fault::kBadInput:
      return kBadUsage;
    case Fault::kMissing:
      return 3;
    case Fault::kInternal:
      break;
  }
  return kOurBug;
}

void add_outputs(CLI::App& command, cli::Outputs& outputs) {
  command.add_option("--trace", outputs.trace, "write a Chrome trace: FILE.json or FILE.json.gz");
  command.add_option("--save", outputs.save, "write the run: FILE.tsrun");
  command.add_option("--html", outputs.html, "write a report that opens in any browser");
  command.add_option("--png", outputs.png, "write a picture of the window");
  command.add_option("--series", outputs.series, "print this metric, one value a step");
  command.add_flag("--json", outputs.json, "print JSON");
}

// Everything the arguments say.
struct Arguments {
  std::vector<std::string> files;
  cli::RunOptions run;
  std::vector<std::string> traces;
  cli::Outputs import_outputs;
  std::string compared_a, compared_b;
  cli::Outputs compare_outputs;
  std::vector<std::string> checked;
  cli::MachinesOptions machines;
  bool published = false;
  bool json = false;
};

void add_run(CLI::App& app, Arguments& arguments) {
  cli::RunOptions& options = arguments.run;
  CLI::App& run = *app.add_subcommand("run", "run a lesson, a config file, or knobs alone");
  run.add_option("WHAT", options.what, "a lesson's id, a lesson file, or a config file");
  run.add_option("--set", options.settings, "knob=value; A.knob=value for one side")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  run.add_option("--machine", options.machine, "a machine's id or file");
  run.add_option("--executor", options.executor, "sim, cuda or auto");
  run.add_option("--steps", options.steps, "training steps");
  run.add_option("--seed", options.seed, "seed of every random number");
  add_outputs(run, options.outputs);
}

void add_machines(CLI::App& app, Arguments& arguments) {
  cli::MachinesOptions& options = arguments.machines;
  CLI::App& machines = *app.add_subcommand("machines", "the machines, or one with every figure");
  machines.add_option("MACHINE", options.machine, "an id or a file: its data sheet");
  machines.add_option("--html", options.html, "write a page that opens in any browser");
  machines.add_flag("--json", options.json, "print JSON");
}

void add_commands(CLI::App& app, Arguments& arguments) {
  app.add_option("FILE", arguments.files, "lessons, runs and traces to open in the window");
  add_run(app, arguments);
  CLI::App& import = *app.add_subcommand("import", "read PyTorch traces");
  import.add_option("TRACE", arguments.traces, "trace files, plain or gzipped")->required();
  add_outputs(import, arguments.import_outputs);
  CLI::App& compare = *app.add_subcommand("compare", "put two runs beside each other");
  compare.add_option("A", arguments.compared_a, "LESSON:A, LESSON:B, a config or a trace")
      ->required();
  compare.add_option("B", arguments.compared_b, "the same")->required();
  add_outputs(compare, arguments.compare_outputs);
  CLI::App& check = *app.add_subcommand("check", "check lessons, machines, GPUs and configs");
  check.add_option("FILE", arguments.checked, "files, or folders of them")->required();
  check.add_flag("--json", arguments.json, "print JSON");
  CLI::App& validate = *app.add_subcommand("validate", "how far the simulator is from the truth");
  validate.add_flag("--published", arguments.published, "beside published measurements");
  validate.add_flag("--json", arguments.json, "print JSON");
  const auto registry = [&](const char* name, const char* help) {
    app.add_subcommand(name, help)->add_flag("--json", arguments.json, "print JSON");
  };
  registry("lessons", "the lessons");
  registry("knobs", "every setting of a run");
  registry("metrics", "every number that is computed");
  add_machines(app, arguments);
  registry("actions", "what can be done in the window");
  registry("doctor", "what this machine has, and what is missing");
  for (const char* later : {"sweep", "sampler", "grade", "calibrate"})
    app.add_subcommand(later, "not built yet")->allow_extras()->group("");
}

int carry_out(const CLI::App& app, const Arguments& arguments) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return cli::window_command(arguments.files);
  if (!arguments.files.empty())
    throw InputError(arguments.files.front() + ": a file before a command; write `trainscope " +
                     chosen.front()->get_name() + " …`");
  const std::string& name = chosen.front()->get_name();
  if (name == "run") return cli::run_command(arguments.run);
  if (name == "import") return cli::import_command(arguments.traces, arguments.import_outputs);
  if (name == "compare")
    return cli::compare_command(arguments.compared_a, arguments.compared_b,
                                arguments.compare_outputs);
  if (name == "check") return cli::check_command(arguments.checked, arguments.json);
  if (name == "lessons") return cli::lessons_command(arguments.json);
  if (name == "knobs") return cli::knobs_command(arguments.json);
  if (name == "metrics") return cli::metrics_command(arguments.json);
  if (name == "machines") return cli::machines_command(arguments.machines);
  if (name == "actions") return cli::actions_command(arguments.json);
  if (name == "validate") return cli::validate_command(arguments.published, arguments.json);
  if (name == "doctor") return cli::doctor_command(arguments.json);
  throw InputError("the command " + name + " is declared but not built yet");
}

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  std::string sentence = error.what();
  while (!sentence.empty() && sentence.back() == '\n') sentence.pop_back();
  std::cerr << "trainscope: " << sentence << "; `trainscope --help` shows the usage\n";
  return kBadUsage;
}

int run_main(int argc, char** argv) {
  CLI::App app{"Trainscope: see why one configuration of GPU training is faster than another"};
  app.name("trainscope");
  app.set_version_flag("--version", TRAINSCOPE_VERSION);
  app.require_subcommand(0, 1);
  Arguments arguments;
  add_commands(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  }
  const int code = carry_out(app, arguments);
  std::cout.flush();
  if (!std::cout) throw InputError("standard output cannot be written; give a file that can");
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an output that cannot be written
  try {
    return run_main(argc, argv);
  } catch (const Error& error) {
    std::cerr << "trainscope: " << error.what() << "\n";
    return exit_code(error.fault());
  } catch (const std::bad_alloc&) {
    std::cerr << "trainscope: this needs more memory than there is; make it smaller\n";
    return kBadUsage;
  } catch (const std::exception& error) {
    std::cerr << "trainscope: a bug of ours: " << error.what()
              << "; please report the command and this line\n";
    return kOurBug;
  }
}
