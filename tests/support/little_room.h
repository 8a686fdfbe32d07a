// A child process that has little memory left; on Linux, and without a sanitizer, which takes far
// more than a program of its own accord.
#pragma once

#ifdef __linux__

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <functional>

namespace trainscope::test {

// From here on this process gets no more than `bytes` of address space beyond what it has.
inline void leave_room(rlim_t bytes) {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit limit{most, most};
  if (pages == 0 || setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
}

// Whether `body` says so in a child process. It may not assert anything.
inline bool holds_in_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bool holds = false;
    try {
      holds = body();
    } catch (...) {
      _exit(3);
    }
    _exit(holds ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  INFO("the child's status is " << status);
  CHECK(WIFEXITED(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace trainscope::test

#endif
