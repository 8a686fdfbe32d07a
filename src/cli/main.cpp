// The program: calls the command that the arguments name, and turns errors into exit codes.

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>

#include "base/error.h"
#include "base/memory.h"
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

// A pipe whose other end was closed, as `head` does once it has its lines.
bool has_no_reader(int file) {
  pollfd output{file, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

// As tools that do not ignore the signal.
void end_as_by_a_closed_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
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
  if (has_no_reader(STDOUT_FILENO)) end_as_by_a_closed_pipe();
  throw InputError("standard output cannot be written; give a file that can");
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // of a file: an output that cannot be written, which is said
  keep_freed_memory();
  try {
    return run_main({argv + (argc > 0 ? 1 : 0), argv + argc});
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
