// The program: calls the command that the arguments name, and turns errors into exit codes.

#include <exception>
#include <iostream>

#include "base/error.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/shortage.h"
#include "cli/arguments.h"
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

int carry_out(const cli::Arguments& arguments) {
  const std::string& name = arguments.command;
  if (name.empty())
    return cli::window_command(arguments.files, arguments.look, arguments.student,
                               arguments.language);
  if (name == "run") return cli::run_command(arguments.run);
  if (name == "sweep") return cli::sweep_command(arguments.sweep);
  if (name == "import")
    return cli::import_command(arguments.traces, arguments.import_outputs, arguments.language);
  if (name == "compare")
    return cli::compare_command(arguments.compared_a, arguments.compared_b,
                                arguments.compare_outputs, arguments.language);
  if (name == "check") return cli::check_command(arguments.checked, arguments.json);
  if (name == "lessons") return cli::lessons_command(arguments.lessons);
  if (name == "knobs") return cli::knobs_command(arguments.json);
  if (name == "metrics") return cli::metrics_command(arguments.json);
  if (name == "machines") return cli::machines_command(arguments.machines);
  if (name == "sampler") return cli::sampler_command(arguments.sampler);
  if (name == "actions") return cli::actions_command(arguments.json);
  if (name == "validate") return cli::validate_command(arguments.validate);
  if (name == "calibrate") return cli::calibrate_command(arguments.calibrate);
  if (name == "grade") return cli::grade_command(arguments.grade);
  if (name == "handout") return cli::handout_command(arguments.handout);
  if (name == "doctor") return cli::doctor_command(arguments.json);
  throw InputError("there is no command " + name);
}

int run_main(const std::vector<std::string>& words) {
  const cli::Arguments arguments = cli::parse_arguments(words);
  int code = 0;
  if (arguments.help.empty()) {
    code = carry_out(arguments);
  } else {
    std::cout << arguments.help;
  }
  std::cout.flush();
  if (std::cout) return code;
  platform::end_where_nobody_reads();
  throw InputError("standard output cannot be written; give a file that can");
}

// What no sentence was written for: the system has no more of something, or it is our mistake.
int tell_unexpected(const std::exception& error) {
  if (const std::string lack = shortage(error); !lack.empty()) {
    platform::tell_error("trainscope: " + lack);
    return kBadUsage;
  }
  platform::tell_error(std::string("trainscope: a bug of ours: ") + error.what() +
                       "; please report the command and this line");
  return kOurBug;
}

}  // namespace

int main(int argc, char** argv) {
  const platform::Terminal terminal;
  keep_freed_memory();
  try {
    return run_main(platform::words_of(argc, argv));
  } catch (const Error& error) {
    platform::tell_error(std::string("trainscope: ") + error.what());
    return exit_code(error.fault());
  } catch (const std::exception& error) {
    return tell_unexpected(error);
  }
}
