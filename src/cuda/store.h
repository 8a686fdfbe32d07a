// Values by name that the ranks of several processes leave for each other, over TCP: rank 0 serves
// them from a thread of its own, all ranks ask, rank 0 too.
//
// There is no secrecy in it and no password: who reaches the port can read and write. A stranger
// who speaks something else is dropped; nothing is kept of what it sent.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cuda/process_place.h"

namespace trainscope::cuda {

class StoreServer;

// For one thread at a time; several in one process, as different ranks, are well.
class Store {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // of a value
  static constexpr std::size_t kMostKeyBytes = 4096;

  // Rank 0 listens on the port, of all interfaces; the others try to connect until `time_out`,
  // which is also how long each call below waits. Throws Error in one sentence with host and port:
  // address in use, host unknown, nobody there in time, another program or version there, a rank
  // that is there already.
  Store(const ProcessPlace& place, std::chrono::milliseconds time_out);

  // Rank 0 serves on until the others have hung up, for three seconds at most, so that the last
  // reply is not lost.
  ~Store();

  // Replaces what was there. InputError for a value or key that is too long.
  void set(const std::string& key, std::string value);

  // Waits until someone has set it. Throws Error after the time-out, naming the key; at once where
  // the server is gone.
  std::string get(const std::string& key);

  // The same of what that rank sets. Nothing, and at once: it has hung up and has not set it.
  std::optional<std::string> get_of(int rank, const std::string& key);

  // What is there now; nothing: nobody has set it.
  std::optional<std::string> peek(const std::string& key);

  // The ranks that have been there and have hung up, as "ranks 1 and 3"; empty: none.
  std::string gone();

  // Waits until every rank has called it with this name as often as this one. Throws Error after
  // the time-out, naming the ranks that are missing; at once where one of these has hung up, or the
  // server is gone. A call that ran out of time counts.
  void barrier(const std::string& name);

 private:
  class Connection;
  struct Reply;

  std::optional<std::string> value_of(Reply reply, const std::string& key) const;

  std::chrono::milliseconds time_out_;
  std::unique_ptr<StoreServer> server_;     // of rank 0
  std::unique_ptr<Connection> connection_;  // ends before the server
};

}  // namespace trainscope::cuda
