// Processes that a test starts, one a rank, as torchrun does.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace trainscope::test {

// Of this machine's own network.
int free_port();

// What torchrun says to a rank: "RANK=1", "WORLD_SIZE=4", …
std::vector<std::string> torchrun_words(int rank, int ranks, int port);

struct Start {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // goes before what this process has
  std::string out = "/dev/null";         // files
  std::string err = {};                  // empty: this process's
};
pid_t start(const Start& what);

// How it ended, as a shell says it: 137 for one that was killed. Still there after so long: it is
// killed, and -1.
int end_of(pid_t child, std::chrono::seconds most);

}  // namespace trainscope::test
