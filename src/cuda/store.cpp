#include "cuda/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <asio.hpp>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "cuda/store_messages.h"
#include "cuda/store_server.h"

namespace trainscope::cuda {
namespace {

using asio::ip::tcp;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// The server tells when time is up; if it does not even do that, this much later.
constexpr milliseconds kGrace{5000};
constexpr milliseconds kBetweenTries{50};
// Of one try, so that a host that is still starting does not take the whole time.
constexpr milliseconds kMostOfTry{5000};

std::string words(milliseconds time) {
  return format_nanos(1e6 * static_cast<double>(time.count()));
}

Error failure(const std::string& sentence) {
  return {Fault::kFailed, sentence};
}

}  // namespace

struct Store::Reply {
  MessageHead head;
  std::string value;
};

// One rank's way to the server.
class Store::Connection {
 public:
  // Connects to `host`:`port` and says who is there. `where` is what sentences call it.
  Connection(const ProcessPlace& place, const std::string& host, int port, milliseconds time_out);

  // Asks and waits for the reply.
  Reply ask(MessageKind kind, const std::string& key, const std::string& value);
  Reply ask(MessageHead head, const std::string& key, const std::string& value);

  const std::string& where() const { return where_; }

 private:
  void connect(const std::string& host, int port, Clock::time_point deadline);
  tcp::resolver::results_type resolve(const std::string& host, int port,
                                      Clock::time_point deadline);
  std::error_code try_all(const tcp::resolver::results_type& ends, Clock::time_point deadline);
  std::error_code say_hello(Clock::time_point deadline);
  std::error_code send(const MessageHead& head, const std::string& key, const std::string& value,
                       Clock::time_point deadline);
  std::error_code receive(Reply& reply, Clock::time_point deadline);
  std::error_code finish_by(Clock::time_point deadline, const std::error_code& result);

  ProcessPlace place_;
  milliseconds time_out_;
  std::string where_;
  asio::io_context io_;
  tcp::socket socket_{io_};
};

Store::Connection::Connection(const ProcessPlace& place, const std::string& host, int port,
                              milliseconds time_out)
    : place_(place),
      time_out_(std::clamp(time_out, milliseconds(0), kMostWait)),
      where_(fmt::format("{}:{}", place.master, port)) {
  connect(host, port, Clock::now() + time_out_);
}

// Carries out what was begun on the socket; what has not ended by then is given up, and the socket
// with it. `result` is written by its handler.
std::error_code Store::Connection::finish_by(Clock::time_point deadline,
                                             const std::error_code& result) {
  io_.restart();
  io_.run_until(deadline);
  if (io_.stopped()) return result;
  std::error_code ignored;
  socket_.close(ignored);
  io_.run();
  return asio::error::timed_out;
}

void Store::Connection::connect(const std::string& host, int port, Clock::time_point deadline) {
  const tcp::resolver::results_type ends = resolve(host, port, deadline);
  while (true) {
    std::error_code wrong = try_all(ends, std::min(deadline, Clock::now() + kMostOfTry));
    if (!wrong) wrong = say_hello(deadline);
    if (!wrong) return;
    if (Clock::now() + kBetweenTries >= deadline)
      throw failure(
          fmt::format("rank {} finds no store at {} within {} ({}); look whether rank 0 is "
                      "running there and its port can be reached",
                      place_.rank, where_, words(time_out_), wrong.message()));
    std::this_thread::sleep_for(kBetweenTries);
  }
}

// A name server that does not know now may know later.
tcp::resolver::results_type Store::Connection::resolve(const std::string& host, int port,
                                                       Clock::time_point deadline) {
  tcp::resolver resolver(io_);
  while (true) {
    std::error_code wrong;
    const auto ends = resolver.resolve(host, std::to_string(port), wrong);
    if (!wrong) return ends;
    if (wrong != asio::error::host_not_found_try_again || Clock::now() + kBetweenTries >= deadline)
      throw failure(
          fmt::format("rank {} cannot find the host of rank 0, {} ({}); set MASTER_ADDR "
                      "to a name or an address that every rank's host knows",
                      place_.rank, where_, wrong.message()));
    std::this_thread::sleep_for(kBetweenTries);
  }
}

std::error_code Store::Connection::try_all(const tcp::resolver::results_type& ends,
                                           Clock::time_point deadline) {
  std::error_code result;
  asio::async_connect(socket_, ends,
                      [&](std::error_code wrong, const tcp::endpoint&) { result = wrong; });
  if (const std::error_code wrong = finish_by(deadline, result)) return wrong;
  std::error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  return {};
}

// Who answers something else is another program; who hangs up may be a server that is ending.
std::error_code Store::Connection::say_hello(Clock::time_point deadline) {
  const MessageHead hello{.kind = MessageKind::kHello,
                          .rank = static_cast<std::uint32_t>(place_.rank),
                          .number = static_cast<std::uint64_t>(place_.ranks)};
  if (const std::error_code wrong = send(hello, "", "", deadline)) return wrong;
  Reply reply;
  if (const std::error_code wrong = receive(reply, deadline)) return wrong;
  if (reply.head.version != kStoreVersion)
    throw failure(
        fmt::format("the store at {} speaks version {}, rank {} version {}; start all "
                    "ranks with the same Trainscope",
                    where_, reply.head.version, place_.rank, kStoreVersion));
  if (reply.head.kind != MessageKind::kDone)
    throw failure(
        fmt::format("the store at {} refuses rank {}: {}; look whether another job uses "
                    "this port",
                    where_, place_.rank, reply.value));
  return {};
}

std::error_code Store::Connection::send(const MessageHead& head, const std::string& key,
                                        const std::string& value, Clock::time_point deadline) {
  const HeadBytes bytes = encode(head);
  const std::array<asio::const_buffer, 3> all{asio::buffer(bytes), asio::buffer(key),
                                              asio::buffer(value)};
  std::error_code result;
  asio::async_write(socket_, all, [&](std::error_code wrong, std::size_t) { result = wrong; });
  return finish_by(deadline, result);
}

std::error_code Store::Connection::receive(Reply& reply, Clock::time_point deadline) {
  HeadBytes bytes;
  std::error_code result;
  const auto keep = [&](std::error_code wrong, std::size_t) { result = wrong; };
  asio::async_read(socket_, asio::buffer(bytes), keep);
  if (const std::error_code wrong = finish_by(deadline, result)) return wrong;
  const std::optional<MessageHead> head = decode(bytes);
  if (!head || head->key_bytes != 0 || head->value_bytes > kMostBytes)
    throw failure(
        fmt::format("what listens at {} is not Trainscope's store; choose another "
                    "MASTER_PORT",
                    where_));
  reply.head = *head;
  reply.value.resize(head->value_bytes);
  asio::async_read(socket_, asio::buffer(reply.value), keep);
  return finish_by(deadline, result);
}

Store::Reply Store::Connection::ask(MessageKind kind, const std::string& key,
                                    const std::string& value) {
  return ask({.kind = kind, .rank = static_cast<std::uint32_t>(place_.rank)}, key, value);
}

Store::Reply Store::Connection::ask(MessageHead head, const std::string& key,
                                    const std::string& value) {
  const Clock::time_point deadline = Clock::now() + time_out_ + kGrace;
  head.key_bytes = static_cast<std::uint32_t>(key.size());
  head.value_bytes = value.size();
  head.number = static_cast<std::uint64_t>(time_out_.count());
  Reply reply;
  std::error_code wrong = send(head, key, value, deadline);
  if (!wrong) wrong = receive(reply, deadline);
  if (wrong)
    throw failure(
        fmt::format("rank {} lost the store at {} while it asked for \"{}\" ({}); look "
                    "at why rank 0 ended",
                    place_.rank, where_, key, wrong.message()));
  return reply;
}

namespace {

std::unique_ptr<StoreServer> serve(const ProcessPlace& place) {
  try {
    return std::make_unique<StoreServer>(place.port, place.ranks);
  } catch (const std::system_error& wrong) {
    throw failure(fmt::format("rank 0 cannot listen at {}:{} ({}); choose another MASTER_PORT",
                              place.master, place.port, wrong.code().message()));
  }
}

void require_short(const std::string& key) {
  if (key.size() > Store::kMostKeyBytes)
    throw InputError(fmt::format("a key of the store has {} bytes, more than {}: {}", key.size(),
                                 Store::kMostKeyBytes, key));
}

}  // namespace

Store::Store(const ProcessPlace& place, milliseconds time_out) : time_out_(time_out) {
  if (place.rank == 0) server_ = serve(place);
  connection_ = std::make_unique<Connection>(place, server_ ? "127.0.0.1" : place.master,
                                             server_ ? server_->port() : place.port, time_out);
}

Store::~Store() = default;

void Store::set(const std::string& key, std::string value) {
  require_short(key);
  if (value.size() > kMostBytes)
    throw InputError(
        fmt::format("the value of \"{}\" has {} bytes, more than the {} that the "
                    "store takes",
                    key, value.size(), kMostBytes));
  connection_->ask(MessageKind::kSet, key, value);
}

std::string Store::get(const std::string& key) {
  require_short(key);
  return *value_of(connection_->ask(MessageKind::kGet, key, ""), key);
}

std::optional<std::string> Store::get_of(int rank, const std::string& key) {
  require_short(key);
  const auto asked = static_cast<std::uint32_t>(rank);
  return value_of(connection_->ask({.kind = MessageKind::kGetOf, .rank = asked}, key, ""), key);
}

std::optional<std::string> Store::peek(const std::string& key) {
  require_short(key);
  return value_of(connection_->ask(MessageKind::kPeek, key, ""), key);
}

std::string Store::gone() {
  return connection_->ask(MessageKind::kWho, "", "").value;
}

// Nothing: there is none, and will be none.
std::optional<std::string> Store::value_of(Reply reply, const std::string& key) const {
  if (reply.head.kind == MessageKind::kDone) return std::move(reply.value);
  if (reply.head.kind == MessageKind::kNothing) return std::nullopt;
  throw failure(
      fmt::format("no rank has set \"{}\" in the store at {} within {}; look at what the "
                  "rank that should is doing",
                  key, connection_->where(), words(time_out_)));
}

void Store::barrier(const std::string& name) {
  require_short(name);
  const Reply reply = connection_->ask(MessageKind::kBarrier, name, "");
  if (reply.head.kind == MessageKind::kDone) return;
  if (reply.head.kind == MessageKind::kGone)
    throw failure(fmt::format(
        "{} ended without coming to the barrier \"{}\" of the store at {}; look at what "
        "was printed there",
        reply.value, name, connection_->where()));
  throw failure(
      fmt::format("{} did not come to the barrier \"{}\" of the store at {} within {}; "
                  "look at what is done there instead",
                  reply.value, name, connection_->where(), words(time_out_)));
}

}  // namespace trainscope::cuda
