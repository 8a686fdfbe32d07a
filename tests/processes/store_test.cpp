// A store among threads and among processes, and what strangers and the dead do to it.

#include "cuda/store.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "support/processes.h"

using namespace trainscope;
using namespace std::chrono_literals;
using Catch::Contains;
using cuda::Store;
using test::free_port;

namespace {

class Socket {
 public:
  ~Socket() { ::close(fd_); }

  // 0: any that is free. The port.
  int bind(int port) const {
    sockaddr_in at = local(port);
    socklen_t size = sizeof at;
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&at), size) == 0);
    REQUIRE(::listen(fd_, 4) == 0);
    REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size) == 0);
    return ntohs(at.sin_port);
  }
  void connect(int port) const {
    const sockaddr_in at = local(port);
    REQUIRE(::connect(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
  }
  void send(const std::string& bytes) const {
    REQUIRE(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  bool is_hung_up() const {
    char byte = 0;
    return ::recv(fd_, &byte, 1, 0) <= 0;
  }

 private:
  static sockaddr_in local(int port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
  }

  int fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
};

cuda::ProcessPlace place(int rank, int ranks, int port) {
  return {rank, ranks, rank, "127.0.0.1", port, ""};
}

std::string complaint(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// What a rank leaves for the next, it gets from the one before; true where all was as it should be.
bool goes_round(int rank, int ranks, int port) {
  Store store(place(rank, ranks, port), 20s);
  for (int round = 0; round < 20; ++round) {
    const std::string name = std::to_string(round) + "/";
    store.set(name + std::to_string(rank), std::to_string(rank * 100 + round));
    const int before = (rank + ranks - 1) % ranks;
    if (store.get(name + std::to_string(before)) != std::to_string(before * 100 + round))
      return false;
    store.barrier("round");
  }
  return true;
}

}  // namespace

TEST_CASE("ranks as threads leave values for each other and meet") {
  const int port = free_port();
  std::vector<char> well(4);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank)
    threads.emplace_back(
        [&, rank] { well[static_cast<std::size_t>(rank)] = goes_round(rank, 4, port); });
  for (std::thread& thread : threads) thread.join();
  CHECK(well == std::vector<char>(4, 1));
}

TEST_CASE("ranks as processes leave values for each other and meet") {
  const int port = free_port();
  std::vector<pid_t> children;
  for (int rank = 1; rank < 4; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool well = false;
      complaint([&] { well = goes_round(rank, 4, port); });
      ::_exit(well ? 0 : 1);
    }
    children.push_back(child);
  }
  CHECK(goes_round(0, 4, port));
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

TEST_CASE("a value may be empty or long, and is replaced") {
  Store store(place(0, 1, 0), 5s);
  const std::string large(20'000'000, 'x');
  for (const std::string& value : {std::string(), large, std::string("a\0b", 3)}) {
    store.set("key", value);
    CHECK((store.get("key") == value));
  }
  CHECK_THROWS_AS(store.set(std::string(5000, 'k'), ""), InputError);
}

TEST_CASE("who waits in vain is told for what") {
  const int port = free_port();
  Store first(place(0, 3, port), 200ms);
  Store second(place(1, 3, port), 200ms);
  CHECK_THAT(complaint([&] { second.get("id"); }), Contains("\"id\"") && Contains("200 ms"));
  CHECK_THAT(complaint([&] { second.barrier("start"); }),
             Contains("ranks 0 and 2") && Contains("\"start\""));
  second.set("id", "7");
  CHECK(first.get("id") == "7");
}

TEST_CASE("without a server, or with another one, a rank is told so with host and port") {
  const int port = free_port();
  CHECK_THAT(complaint([&] { Store(place(1, 2, port), 200ms); }),
             Contains("127.0.0.1:" + std::to_string(port)));
  const Socket taken;
  const int in_use = taken.bind(0);
  CHECK_THAT(complaint([&] { Store(place(0, 2, in_use), 200ms); }),
             Contains("127.0.0.1:" + std::to_string(in_use)) && Contains("in use"));
  Store server(place(0, 2, port), 5s);
  CHECK_THAT(complaint([&] { Store(place(1, 3, port), 5s); }), Contains("2 ranks"));
  CHECK_THAT(complaint([&] { Store(place(0, 2, port), 5s); }), Contains("in use"));
}

TEST_CASE("a stranger is dropped, and the others go on") {
  const int port = free_port();
  Store store(place(0, 1, port), 5s);
  const Socket web, greedy;
  web.connect(port);
  web.send("GET / HTTP/1.1\r\nHost: gpu0.example.org\r\n\r\n");
  CHECK(web.is_hung_up());
  greedy.connect(port);  // a set of 2^63 bytes, without a hello
  greedy.send(std::string("TSst\1\0\2\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0\0", 32));
  CHECK(greedy.is_hung_up());
  store.set("a", "b");
  CHECK(store.get("a") == "b");
}

TEST_CASE("a rank that dies hurts no other; when the server goes, who waits is told at once") {
  const int port = free_port();
  auto server = std::make_unique<Store>(place(0, 3, port), 30s);
  const pid_t child = ::fork();
  if (child == 0) {
    complaint([&] { Store(place(1, 3, port), 30s).get("never"); });
    ::_exit(0);
  }
  std::this_thread::sleep_for(200ms);
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  server->set("a", "b");
  std::string told;
  std::thread other([&] {
    told = complaint([&] {
      Store store(place(2, 3, port), 30s);
      if (store.get("a") != "b") return;
      store.get("never");
    });
  });
  std::this_thread::sleep_for(300ms);
  server.reset();
  other.join();
  CHECK_THAT(told, Contains("lost the store") && Contains("never"));
}

TEST_CASE(
    "who waits for a rank that has hung up is told at once; what that has left is still there") {
  const int port = free_port();
  Store store(place(0, 3, port), 30s);
  CHECK(store.gone().empty());
  {
    Store leaves(place(2, 3, port), 30s);
    leaves.set("left", "7");
  }
  CHECK(store.get_of(2, "left") == "7");
  CHECK_FALSE(store.get_of(2, "never"));
  CHECK(store.gone() == "rank 2");
  CHECK(store.peek("left") == "7");
  CHECK_FALSE(store.peek("never"));
  // While somebody waits already; a rank that comes again is not gone.
  std::string told;
  std::thread waits([&] { told = complaint([&] { store.barrier("end"); }); });
  {
    Store comes_again(place(2, 3, port), 30s);
  }
  waits.join();
  CHECK_THAT(told, Contains("rank 2 ended without") && Contains("\"end\""));
  while (store.gone() != "rank 2") std::this_thread::sleep_for(1ms);
  const Store again(place(2, 3, port), 30s);
  CHECK(store.gone().empty());
}
