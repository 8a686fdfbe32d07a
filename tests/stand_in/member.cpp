#include "stand_in/member.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace trainscope::stand_in {

Member::Member(const std::string& meeting, const Place& place)
    : way_(reach_meeting(meeting)), place_(place) {
  if (way_ < 0) {
    end(State::kGone, "the rank that has made the id is gone");
    return;
  }
  listener_ = std::thread([this] { listen(); });
  send({.kind = MessageKind::kHello}, "");
  std::unique_lock held(mutex_);
  changed_.wait(held, [&] { return state_ != State::kWaits; });
}

Member::~Member() {
  abort();
  if (listener_.joinable()) listener_.join();
  if (way_ >= 0) ::close(way_);
}

Member::State Member::state() const {
  const std::lock_guard held(mutex_);
  return state_;
}

std::string Member::why() const {
  const std::lock_guard held(mutex_);
  return why_;
}

// Who is gone is told as well where sending fails.
bool Member::send(const MessageHead& to_send, const std::string& body) {
  MessageHead head = to_send;
  head.rank = place_.rank;
  head.ranks = place_.ranks;
  head.gpu = place_.gpu;
  const std::string all = message_of(head, body);
  for (std::size_t sent = 0; sent < all.size();) {
    const ssize_t count = ::send(way_, all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

void Member::give(const Asked& asked, const std::vector<float>& numbers, Get get) {
  std::uint64_t sequence = 0;
  {
    std::unique_lock held(mutex_);
    if (is_aborted_) {
      held.unlock();
      return get({});
    }
    get_ = std::move(get);
    sequence = sequence_++;
  }
  if (!send({.kind = MessageKind::kGive, .sequence = sequence, .asked = asked}, bytes_of(numbers)))
    end(State::kGone, "the rank that has made the id is gone");
}

void Member::abort() {
  Get get;
  {
    const std::lock_guard held(mutex_);
    is_aborted_ = true;
    get = std::exchange(get_, nullptr);
  }
  if (way_ >= 0) ::shutdown(way_, SHUT_RDWR);
  if (get) get({});
}

void Member::leave() {
  if (!send({.kind = MessageKind::kBye}, "")) return;
  std::unique_lock held(mutex_);
  changed_.wait_for(held, std::chrono::seconds(2),
                    [&] { return is_bye_answered_ || state_ != State::kWell; });
}

void Member::listen() {
  std::string read, body;
  MessageHead head;
  char bytes[65536];
  while (true) {
    const ssize_t count = ::recv(way_, bytes, sizeof(bytes), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    read.append(bytes, static_cast<std::size_t>(count));
    while (take_message(read, head, body)) handle(head, body);
  }
  // Where ranks go home and nothing is under way, so may that one.
  std::unique_lock held(mutex_);
  if (has_somebody_left_ && !get_) return;
  held.unlock();
  end(State::kGone, "the rank that has made the id is gone");
}

void Member::handle(const MessageHead& head, const std::string& body) {
  Get get;
  switch (head.kind) {
    case MessageKind::kAllHere: {
      const std::lock_guard held(mutex_);
      state_ = State::kWell;
      changed_.notify_all();
      return;
    }
    case MessageKind::kGet: {
      {
        const std::lock_guard held(mutex_);
        get = std::exchange(get_, nullptr);
      }
      if (get) get(numbers_in(body));
      return;
    }
    case MessageKind::kWritten: {
      const std::lock_guard held(mutex_);
      is_bye_answered_ = true;
      changed_.notify_all();
      return;
    }
    case MessageKind::kLeft: {
      const std::lock_guard held(mutex_);
      has_somebody_left_ = true;
      return;
    }
    case MessageKind::kBroken:
      return end(State::kBroken, body);
    default:
      return end(State::kGone, body);
  }
}

// The first reason is the one that counts; after this rank's own goodbye there is none.
void Member::end(State state, const std::string& why) {
  const std::lock_guard held(mutex_);
  if (is_aborted_ || state_ == State::kBroken || state_ == State::kGone) return;
  state_ = state;
  why_ = why;
  changed_.notify_all();
}

}  // namespace trainscope::stand_in
