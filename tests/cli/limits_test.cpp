// The program at the limits of what it runs on: memory, pipes, a full disk, a file without an end.

#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/program.h"
#include "support/skip.h"

using namespace trainscope::test;

namespace {

// What a run of the program said, and the most memory that it held.
struct Peak {
  Result result;
  long kilobytes = 0;
};

Peak peak_of(const std::string& arguments) {
  const Folder folder;
  const std::string err = folder.file("err");
  const std::string command =
      std::string(TRAINSCOPE_BINARY " ") + arguments + " >/dev/null 2>" + err;
  const pid_t child = ::fork();
  if (child == 0) {
    ::unsetenv("DISPLAY");
    ::unsetenv("WAYLAND_DISPLAY");
    ::execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  return {{WIFEXITED(status) ? WEXITSTATUS(status) : -1, "", read(err)}, used.ru_maxrss};
}

// The program lists its knobs, after a command and into what is told by `behind`.
Result listed_into(const std::string& before, const std::string& behind) {
  const Folder folder;
  const std::string err = folder.file("err"), code = folder.file("code");
  const std::string command =
      "(" + before + TRAINSCOPE_BINARY " knobs 2>" + err + "; echo $? >" + code + ") " + behind;
  REQUIRE(std::system(command.c_str()) == 0);
  return {std::stoi(read(code)), "", read(err)};
}

}  // namespace

TEST_CASE("a run that no machine has room for is refused before it fills one") {
  for (const char* large :
       {"workload=launch --set launch.count=100000 --steps 1000",
        "accumulate_steps=1024 --steps 100000", "accumulate_steps=40 --steps 100000",
        "model.name=gpt2-large --steps 100000",
        "workload=kernel --set kernel.count=10000 --steps 100000",
        "workload=collective --set collective.count=100 --steps 100000 --machine h200-8"}) {
    const Peak peak = peak_of(std::string("run --set ") + large);
    INFO(large << "\n" << peak.result.err);
    CHECK(peak.result.code == 2);
    CHECK_THAT(peak.result.err, Catch::Contains("more than 20 million commands"));
    CHECK(peak.kilobytes < 2'000'000);
  }
}

TEST_CASE("a closed pipe ends the program without a word") {
  const Result piped = listed_into("sleep 0.2; ", "| true");
  CHECK(piped.code == 128 + SIGPIPE);
  CHECK(piped.err.empty());
}

TEST_CASE("a full disk ends the program with one sentence") {
  if (!std::filesystem::exists("/dev/full")) TRAINSCOPE_SKIP("no /dev/full on this machine");
  const Result full = listed_into("", ">/dev/full");
  CHECK(full.code == 2);
  CHECK_THAT(full.err, Catch::Contains("standard output cannot be written"));
}

TEST_CASE("a file without an end is refused at its beginning") {
  const Folder folder;
  const std::string run_file = folder.file("r.tsrun"), trace = folder.file("t.json");
  std::filesystem::create_symlink("/dev/zero", run_file);
  std::filesystem::create_symlink("/dev/zero", trace);
  for (const std::string& arguments :
       {"run " + run_file, run_file, "import " + trace, "compare pinned-vs-pageable " + trace}) {
    const Peak peak = peak_of(arguments);
    INFO(arguments << "\n" << peak.result.err);
    CHECK(peak.result.code == 2);
    CHECK(peak.kilobytes < 2'000'000);
  }
  refuses("import " + trace, 2, "does not begin with { or [ as JSON does");
}

TEST_CASE("a trace and a run come through a pipe too") {
  const Folder folder;
  const std::string trace = folder.file("t.json"), saved = folder.file("r.tsrun");
  REQUIRE(run("run --set workload=copy --trace " + trace + " --save " + saved).code == 0);
  for (const auto& [command, file] : {std::pair("import ", trace), std::pair("run ", saved)}) {
    const std::string pipe = folder.file("pipe" + std::filesystem::path(file).extension().string());
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::jthread writer([&] { std::ofstream(pipe, std::ios::binary) << read(file); });
    const Result result = run(command + pipe);
    INFO(result.err);
    CHECK(result.code == 0);
  }
}
