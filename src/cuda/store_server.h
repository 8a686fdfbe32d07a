// The store's server: all its state belongs to one thread, which asio calls for what arrives.
#pragma once

#include <asio.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "cuda/store_messages.h"

namespace trainscope::cuda {

class StoreServer {
 public:
  // Listens on all interfaces, at a free port for 0. Throws std::system_error.
  StoreServer(int port, int ranks);

  // Serves on until all ranks have hung up, for kLinger at most; then nothing is left of it.
  ~StoreServer();

  int port() const { return acceptor_.local_endpoint().port(); }

 private:
  static constexpr std::chrono::seconds kLinger{3};

  struct Session;
  using SessionPtr = std::shared_ptr<Session>;
  using Value = std::shared_ptr<const std::string>;

  void listen(int port);
  void accept();
  void read_head(const SessionPtr& session);
  void read_body(const SessionPtr& session);
  bool is_welcome(const SessionPtr& session) const;
  void handle(const SessionPtr& session);
  void hello(const SessionPtr& session);
  void set(const SessionPtr& session);
  void get(const SessionPtr& session);
  void peek(const SessionPtr& session);
  void barrier(const SessionPtr& session);
  void look_for_gone(const SessionPtr& session);
  void wait(const SessionPtr& session);
  void time_out(const SessionPtr& session);
  std::vector<int> missing(const Session& session) const;
  std::vector<int> gone_of(const std::vector<int>& ranks) const;
  void reply(const SessionPtr& session, MessageKind kind, Value value);
  void drop(const SessionPtr& session);
  void finish();
  bool is_deserted() const;

  int ranks_;
  asio::io_context io_;  // goes last: the others are of it
  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer pause_, linger_;
  std::set<SessionPtr> sessions_;
  std::map<std::string, Value> values_;
  std::map<std::string, std::vector<std::uint64_t>> arrivals_;  // by barrier, then rank
  std::set<int> gone_;                                          // ranks that have hung up
  bool finishes_ = false;
  std::thread thread_;
};

}  // namespace trainscope::cuda
