// Long runs at the command line: Ctrl-C ends them with one sentence, a terminal sees their
// progress.

#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

#include "support/skip.h"

namespace {

struct Ended {
  int code = -1;
  std::string printed;
};

Ended carry_out(const std::string& command) {
  Ended ended;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  char buffer[4096];
  while (const std::size_t read = std::fread(buffer, 1, sizeof buffer, pipe))
    ended.printed.append(buffer, read);
  const int status = pclose(pipe);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

const std::string kLongRun = TRAINSCOPE_BINARY " run --set workload=train --set steps=";

}  // namespace

TEST_CASE("Ctrl-C ends a run with one sentence that says how far it was") {
  const Ended ended =
      carry_out("timeout --preserve-status -s INT 1 " + kLongRun + "100000 2>&1 </dev/null");
  INFO(ended.printed);
  CHECK(ended.code == 1);
  CHECK(ended.printed.starts_with("trainscope: "));
  CHECK(ended.printed.find("nothing of it was written") != std::string::npos);
  CHECK(ended.printed.find('\n') == ended.printed.size() - 1);
}

TEST_CASE("Ctrl-C ends a sweep with the combinations that are over") {
  const Ended ended = carry_out("timeout --preserve-status -s INT 4 " TRAINSCOPE_BINARY
                                " sweep --set workload=train --vary steps=1,2,100000 2>&1 "
                                "</dev/null");
  INFO(ended.printed);
  CHECK(ended.code == 1);
  CHECK(ended.printed.find("stopped after 2 of 3 combinations") != std::string::npos);
}

TEST_CASE("a run of more than a second says on a terminal how far it is") {
  if (std::system("command -v script >/dev/null") != 0)
    TRAINSCOPE_SKIP("no `script` to make a terminal with");
  // With sanitizers the program alone takes seconds to write.
  const Ended ended = carry_out("timeout 60 script -qec \"timeout -s INT 15 " + kLongRun +
                                "100000\" /dev/null 2>&1 </dev/null");
  INFO(ended.printed);
  CHECK(ended.printed.find("% of the program, ") != std::string::npos);
  CHECK(ended.printed.find("\033[K") != std::string::npos);
}

TEST_CASE("progress never goes to standard output or into a file") {
  const Ended ended = carry_out(kLongRun + "3 --json 2>/dev/null </dev/null");
  CHECK(ended.code == 0);
  CHECK(ended.printed.starts_with("{"));
}
