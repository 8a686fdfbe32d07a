#include "support/processes.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

namespace trainscope::test {

int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  REQUIRE(::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  ::close(socket);
  return ntohs(address.sin_port);
}

std::vector<std::string> torchrun_words(int rank, int ranks, int port) {
  return {"RANK=" + std::to_string(rank), "WORLD_SIZE=" + std::to_string(ranks),
          "LOCAL_RANK=" + std::to_string(rank), "MASTER_ADDR=127.0.0.1",
          "MASTER_PORT=" + std::to_string(port)};
}

namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

pid_t start(const Start& what) {
  std::vector<std::string> words = what.arguments, environment = what.environment;
  words.insert(words.begin(), what.program);
  for (char** one = environ; *one; ++one) environment.emplace_back(*one);
  posix_spawn_file_actions_t actions;
  REQUIRE(::posix_spawn_file_actions_init(&actions) == 0);
  const auto send = [&](int stream, const std::string& file) {
    if (file.empty()) return;
    REQUIRE(::posix_spawn_file_actions_addopen(&actions, stream, file.c_str(),
                                               O_WRONLY | O_CREAT | O_TRUNC, 0600) == 0);
  };
  send(STDOUT_FILENO, what.out);
  send(STDERR_FILENO, what.err);
  pid_t child = 0;
  const int wrong = ::posix_spawn(&child, what.program.c_str(), &actions, nullptr,
                                  pointers_to(words).data(), pointers_to(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  REQUIRE(wrong == 0);
  return child;
}

int end_of(pid_t child, std::chrono::seconds most) {
  const auto deadline = std::chrono::steady_clock::now() + most;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace trainscope::test
