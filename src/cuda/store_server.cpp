#include "cuda/store_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/rank_words.h"
#include "cuda/store.h"

namespace trainscope::cuda {
namespace {

using asio::ip::tcp;

constexpr std::chrono::milliseconds kAcceptPause{100};

}  // namespace

// One connection and the request it made last.
struct StoreServer::Session {
  explicit Session(tcp::socket connected)
      : socket(std::move(connected)), timer(socket.get_executor()) {}

  bool is_rank() const { return rank >= 0; }

  tcp::socket socket;
  asio::steady_timer timer;
  int rank = -1;      // none before its hello
  HeadBytes bytes{};  // of the next head, which is read while a request waits, to see a hang-up
  MessageHead head;
  std::string key, value;
  std::uint64_t round = 0;     // of its barrier
  std::uint64_t requests = 0;  // so far: a timer's call may come after the next one
  bool reads = false;
  bool waits = false;
};

StoreServer::StoreServer(int port, int ranks)
    : ranks_(ranks), acceptor_(io_), pause_(io_), linger_(io_) {
  listen(port);
  accept();
  thread_ = std::thread([this] { io_.run(); });
}

StoreServer::~StoreServer() {
  asio::post(io_, [this] { finish(); });
  thread_.join();
}

// IPv6 with IPv4 in it, where this machine has it.
void StoreServer::listen(int port) {
  const auto number = static_cast<asio::ip::port_type>(port);
  std::error_code no_v6;
  acceptor_.open(tcp::v6(), no_v6);
  if (no_v6) {
    acceptor_.open(tcp::v4());
  } else {
    acceptor_.set_option(asio::ip::v6_only(false));
  }
  acceptor_.set_option(tcp::acceptor::reuse_address(true));
  acceptor_.bind(tcp::endpoint(no_v6 ? tcp::v4() : tcp::v6(), number));
  acceptor_.listen();
}

void StoreServer::accept() {
  acceptor_.async_accept([this](std::error_code wrong, tcp::socket socket) {
    if (finishes_) return;
    if (wrong) {  // too many open files, say: some will be closed
      pause_.expires_after(kAcceptPause);
      pause_.async_wait([this](std::error_code stopped) {
        if (!stopped) accept();
      });
      return;
    }
    std::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    read_head(*sessions_.insert(std::make_shared<Session>(std::move(socket))).first);
    accept();
  });
}

void StoreServer::read_head(const SessionPtr& session) {
  if (std::exchange(session->reads, true)) return;
  asio::async_read(session->socket, asio::buffer(session->bytes),
                   [this, session](std::error_code wrong, std::size_t) {
                     // A rank waits for its reply before it asks again.
                     if (wrong || session->waits) return drop(session);
                     const std::optional<MessageHead> head = decode(session->bytes);
                     if (!head) return drop(session);
                     session->head = *head;
                     read_body(session);
                   });
}

// Before memory is taken. Of another version only the head is understood, which is answered.
bool StoreServer::is_welcome(const SessionPtr& session) const {
  const MessageHead& head = session->head;
  if (head.kind == MessageKind::kHello) return head.key_bytes == 0 && head.value_bytes == 0;
  const std::uint64_t most = head.kind == MessageKind::kSet ? Store::kMostBytes : 0;
  return session->is_rank() && head.version == kStoreVersion &&
         head.key_bytes <= Store::kMostKeyBytes && head.value_bytes <= most;
}

void StoreServer::read_body(const SessionPtr& session) {
  if (!is_welcome(session)) return drop(session);
  try {
    session->key.resize(session->head.key_bytes);
    session->value.resize(session->head.value_bytes);
  } catch (const std::bad_alloc&) {
    return drop(session);
  }
  const std::array<asio::mutable_buffer, 2> room{asio::buffer(session->key),
                                                 asio::buffer(session->value)};
  asio::async_read(session->socket, room, [this, session](std::error_code wrong, std::size_t) {
    if (wrong) return drop(session);
    session->reads = false;
    handle(session);
  });
}

void StoreServer::handle(const SessionPtr& session) {
  ++session->requests;
  switch (session->head.kind) {
    case MessageKind::kHello:
      return hello(session);
    case MessageKind::kSet:
      return set(session);
    case MessageKind::kGet:
      return get(session);
    case MessageKind::kGetOf:
      get(session);
      return look_for_gone(session);
    case MessageKind::kPeek:
      return peek(session);
    case MessageKind::kWho:
      return reply(session, MessageKind::kDone,
                   std::make_shared<std::string>(
                       gone_.empty() ? "" : rank_words({gone_.begin(), gone_.end()})));
    case MessageKind::kBarrier:
      barrier(session);
      return look_for_gone(session);
    default:
      return drop(session);
  }
}

void StoreServer::hello(const SessionPtr& session) {
  const MessageHead& head = session->head;
  std::string why_not;
  if (head.version != kStoreVersion) {
    why_not = "another version";  // which the reply's head names
  } else if (head.number != static_cast<std::uint64_t>(ranks_) || head.rank >= head.number) {
    why_not =
        fmt::format("it has {} ranks, and this is rank {} of {}", ranks_, head.rank, head.number);
  } else if (std::any_of(sessions_.begin(), sessions_.end(), [&](const SessionPtr& other) {
               return other->rank == static_cast<int>(head.rank);
             })) {
    why_not = fmt::format("rank {} is there already", head.rank);
  }
  if (!why_not.empty())
    return reply(session, MessageKind::kRefused, std::make_shared<std::string>(why_not));
  session->rank = static_cast<int>(head.rank);
  gone_.erase(session->rank);
  reply(session, MessageKind::kDone, nullptr);
}

void StoreServer::set(const SessionPtr& session) {
  const std::string key = session->key;
  const Value& value = values_[key] =
      std::make_shared<const std::string>(std::exchange(session->value, {}));
  for (const SessionPtr& other : sessions_)
    if (other->waits && other->head.kind != MessageKind::kBarrier && other->key == key)
      reply(other, MessageKind::kDone, value);
  reply(session, MessageKind::kDone, nullptr);
}

void StoreServer::get(const SessionPtr& session) {
  const auto known = values_.find(session->key);
  if (known == values_.end()) return wait(session);
  reply(session, MessageKind::kDone, known->second);
}

void StoreServer::peek(const SessionPtr& session) {
  const auto known = values_.find(session->key);
  if (known == values_.end()) return reply(session, MessageKind::kNothing, nullptr);
  reply(session, MessageKind::kDone, known->second);
}

void StoreServer::barrier(const SessionPtr& session) {
  std::vector<std::uint64_t>& arrived = arrivals_[session->key];
  arrived.resize(static_cast<std::size_t>(ranks_));
  session->round = ++arrived[static_cast<std::size_t>(session->rank)];
  wait(session);
  const std::uint64_t rounds = *std::min_element(arrived.begin(), arrived.end());
  for (const SessionPtr& other : sessions_)
    if (other->waits && other->head.kind == MessageKind::kBarrier && other->key == session->key &&
        other->round <= rounds)
      reply(other, MessageKind::kDone, nullptr);
}

void StoreServer::wait(const SessionPtr& session) {
  session->waits = true;
  const std::uint64_t most = static_cast<std::uint64_t>(kMostWait.count());
  session->timer.expires_after(std::chrono::milliseconds(std::min(session->head.number, most)));
  session->timer.async_wait([this, session, request = session->requests](std::error_code stopped) {
    if (!stopped && session->waits && session->requests == request) time_out(session);
  });
  read_head(session);
}

void StoreServer::time_out(const SessionPtr& session) {
  const bool is_barrier = session->head.kind == MessageKind::kBarrier;
  reply(session, MessageKind::kTimeOut,
        is_barrier ? std::make_shared<std::string>(rank_words(missing(*session))) : nullptr);
}

std::vector<int> StoreServer::missing(const Session& session) const {
  std::vector<int> ranks;
  const std::vector<std::uint64_t>& arrived = arrivals_.at(session.key);
  for (int rank = 0; rank < ranks_; ++rank)
    if (arrived[static_cast<std::size_t>(rank)] < session.round) ranks.push_back(rank);
  return ranks;
}

std::vector<int> StoreServer::gone_of(const std::vector<int>& ranks) const {
  std::vector<int> gone;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(gone),
               [this](int rank) { return gone_.contains(rank); });
  return gone;
}

// Whoever waits for a rank that has hung up is told so.
void StoreServer::look_for_gone(const SessionPtr& session) {
  if (!session->waits) return;
  if (session->head.kind == MessageKind::kGetOf &&
      gone_.contains(static_cast<int>(session->head.rank)))
    return reply(session, MessageKind::kNothing, nullptr);
  if (session->head.kind != MessageKind::kBarrier) return;
  const std::vector<int> gone = gone_of(missing(*session));
  if (!gone.empty())
    reply(session, MessageKind::kGone, std::make_shared<std::string>(rank_words(gone)));
}

// Of nothing where there is no value. Whose hello was refused hangs up when it has read why.
void StoreServer::reply(const SessionPtr& session, MessageKind kind, Value value) {
  session->waits = false;
  session->timer.cancel();
  if (!value) value = std::make_shared<const std::string>();
  auto head = std::make_shared<HeadBytes>(encode({.kind = kind, .value_bytes = value->size()}));
  const std::array<asio::const_buffer, 2> both{asio::buffer(*head), asio::buffer(*value)};
  asio::async_write(session->socket, both,
                    [this, session, head, value](std::error_code wrong, std::size_t) {
                      if (wrong) return drop(session);
                      read_head(session);
                    });
}

void StoreServer::drop(const SessionPtr& session) {
  session->waits = false;
  session->timer.cancel();
  std::error_code ignored;
  session->socket.close(ignored);
  if (sessions_.erase(session) > 0 && session->is_rank()) {
    gone_.insert(session->rank);
    for (const SessionPtr& other : sessions_) look_for_gone(other);
  }
  if (finishes_ && is_deserted()) io_.stop();
}

bool StoreServer::is_deserted() const {
  return std::none_of(sessions_.begin(), sessions_.end(),
                      [](const SessionPtr& session) { return session->is_rank(); });
}

void StoreServer::finish() {
  finishes_ = true;
  std::error_code ignored;
  acceptor_.close(ignored);
  if (is_deserted()) return io_.stop();
  linger_.expires_after(kLinger);
  linger_.async_wait([this](std::error_code) { io_.stop(); });
}

}  // namespace trainscope::cuda
