#include "stand_in/meeting.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace trainscope::stand_in {

bool take_message(std::string& read, MessageHead& head, std::string& body) {
  if (read.size() < sizeof(head)) return false;
  std::memcpy(&head, read.data(), sizeof(head));
  if (read.size() - sizeof(head) < head.bytes) return false;
  body = read.substr(sizeof(head), head.bytes);
  read.erase(0, sizeof(head) + head.bytes);
  return true;
}

std::string message_of(MessageHead head, const std::string& body) {
  head.bytes = body.size();
  return std::string(reinterpret_cast<const char*>(&head), sizeof(head)) + body;
}

std::string bytes_of(const std::vector<float>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

std::vector<float> numbers_in(const std::string& bytes) {
  std::vector<float> numbers(bytes.size() / sizeof(float));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
  return numbers;
}

namespace {

// Abstract (unix(7)): the name begins with a zero, and is the kernel's alone.
socklen_t address_of(const std::string& name, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

struct Guest {
  int way = -1;
  int rank = -1;  // before its hello
  int gpu = 0;
  bool says_bye = false;
  bool is_answered = false;
  bool has_hung_up = false;
  std::string in = {};
  std::string out = {};
};

// All of it belongs to one thread.
class Meeting {
 public:
  explicit Meeting(int door) : door_(door) {}
  ~Meeting() { ::close(door_); }
  Meeting(const Meeting&) = delete;

  void hold() {
    while (!anybody_came_ || !guests_.empty()) {
      wait();
      for (Guest& guest : guests_) read(guest);
      for (Guest& guest : guests_) write(guest);
      answer_byes();
      guests_.remove_if([](const Guest& guest) {
        if (guest.has_hung_up) ::close(guest.way);
        return guest.has_hung_up;
      });
    }
  }

 private:
  struct Collective {
    Asked asked;
    std::uint64_t sequence = 0;
    int first = 0;  // the rank that came first
    std::vector<std::optional<std::vector<float>>> given;
  };

  void wait() {
    std::vector<pollfd> all{{door_, POLLIN, 0}};
    for (const Guest& guest : guests_) {
      const short events = guest.out.empty() ? POLLIN : POLLIN | POLLOUT;
      all.push_back({guest.way, events, 0});
    }
    ::poll(all.data(), all.size(), -1);
    if ((all.front().revents & POLLIN) == 0) return;
    const int way = ::accept4(door_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (way < 0) return;
    guests_.push_back({.way = way});
    anybody_came_ = true;
  }

  void read(Guest& guest) {
    char bytes[65536];
    ssize_t count = 0;
    while ((count = ::recv(guest.way, bytes, sizeof(bytes), 0)) > 0)
      guest.in.append(bytes, static_cast<std::size_t>(count));
    const bool hangs_up = count == 0 || (errno != EAGAIN && errno != EINTR);
    MessageHead head;
    std::string body;
    while (take_message(guest.in, head, body)) handle(guest, head, body);
    if (hangs_up) hang_up(guest);
  }

  void write(Guest& guest) {
    const ssize_t count = ::send(guest.way, guest.out.data(), guest.out.size(), MSG_NOSIGNAL);
    if (count > 0) guest.out.erase(0, static_cast<std::size_t>(count));
    if (count < 0 && errno != EAGAIN && errno != EINTR) hang_up(guest);
  }

  void hang_up(Guest& guest) {
    if (std::exchange(guest.has_hung_up, true)) return;
    guest.out.clear();
    if (guest.rank >= 0 && !guest.says_bye) end(MessageKind::kGone, name_of(guest) + " is gone");
  }

  void handle(Guest& guest, const MessageHead& head, const std::string& body) {
    switch (head.kind) {
      case MessageKind::kHello:
        return hello(guest, head);
      case MessageKind::kGive:
        return give(guest, head, body);
      case MessageKind::kBye:
        return bye(guest);
      default:
        return end(MessageKind::kBroken, "a rank speaks as only the meeting does");
    }
  }

  // NCCL, "ncclCommInitRank": each rank once, each on a GPU of its own.
  void hello(Guest& guest, const MessageHead& head) {
    if (ranks_ == 0) ranks_ = head.ranks;
    const std::string who = "rank " + std::to_string(head.rank);
    std::string rule;
    if (head.ranks != ranks_)
      rule = who + " is one of " + std::to_string(head.ranks) + " ranks, and others are of " +
             std::to_string(ranks_);
    for (const Guest& other : guests_) {
      if (other.rank < 0) continue;
      if (other.rank == head.rank)
        rule = who + " is there twice";
      else if (other.gpu == head.gpu)
        rule = name_of(other) + " and " + who + " are on the same GPU, " + std::to_string(head.gpu);
    }
    guest.rank = head.rank;
    guest.gpu = head.gpu;
    if (ended_) return send(guest, *ended_, words_);
    if (!rule.empty()) return end(MessageKind::kBroken, rule);
    if (++here_ < ranks_) return;
    for (Guest& one : guests_) send(one, MessageKind::kAllHere, "");
  }

  void give(Guest& guest, const MessageHead& head, const std::string& body) {
    if (ended_) return;
    if (!has_left_.empty()) return end(MessageKind::kGone, has_left_ + " has left");
    if (!collective_)
      collective_ = Collective{head.asked, head.sequence, guest.rank,
                               decltype(Collective::given)(static_cast<std::size_t>(ranks_))};
    auto& given = collective_->given[static_cast<std::size_t>(guest.rank)];
    const Asked wanted =
        guest.rank == collective_->first ? collective_->asked : other_side(collective_->asked);
    if (given || head.sequence != collective_->sequence || head.asked != wanted)
      return end(MessageKind::kBroken, different(guest, head));
    given = numbers_in(body);
    if (std::all_of(collective_->given.begin(), collective_->given.end(),
                    [](const auto& one) { return one.has_value(); }))
      carry_out_all();
  }

  std::string different(const Guest& guest, const MessageHead& head) const {
    const auto number = [](std::uint64_t sequence) {
      return " as collective " + std::to_string(sequence);
    };
    return "ranks call for different collectives, or in another order: rank " +
           std::to_string(collective_->first) + " for " + words_of(collective_->asked) +
           number(collective_->sequence) + ", " + name_of(guest) + " for " + words_of(head.asked) +
           number(head.sequence);
  }

  void bye(Guest& guest) {
    guest.says_bye = true;
    has_left_ = name_of(guest);
    for (Guest& other : guests_) send(other, MessageKind::kLeft, "");
    if (collective_) end(MessageKind::kGone, has_left_ + " has left in a collective");
  }

  void carry_out_all() {
    Numbers given;
    for (auto& one : collective_->given) given.push_back(std::move(*one));
    const Numbers gotten = carry_out(collective_->asked, given);
    for (Guest& guest : guests_)
      if (guest.rank >= 0)
        guest.out += message_of({.kind = MessageKind::kGet, .sequence = collective_->sequence},
                                bytes_of(gotten[static_cast<std::size_t>(guest.rank)]));
    collective_.reset();
  }

  void answer_byes() {
    if (std::any_of(guests_.begin(), guests_.end(),
                    [](const Guest& guest) { return !guest.out.empty(); }))
      return;
    for (Guest& guest : guests_)
      if (guest.says_bye && !std::exchange(guest.is_answered, true))
        send(guest, MessageKind::kWritten, "");
  }

  void end(MessageKind how, const std::string& words) {
    if (ended_) return;
    ended_ = how;
    words_ = words;
    for (Guest& guest : guests_) send(guest, how, words);
  }

  static void send(Guest& guest, MessageKind kind, const std::string& words) {
    if (!guest.has_hung_up) guest.out += message_of({.kind = kind}, words);
  }

  static std::string name_of(const Guest& guest) { return "rank " + std::to_string(guest.rank); }

  int door_;
  int ranks_ = 0;
  int here_ = 0;
  bool anybody_came_ = false;
  std::list<Guest> guests_;
  std::optional<Collective> collective_;
  std::string has_left_;
  std::optional<MessageKind> ended_;
  std::string words_;
};

}  // namespace

std::string open_meeting() {
  static std::atomic<int> count = 0;
  const std::string name =
      "trainscope-meeting-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
  const int door = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address;
  const socklen_t size = address_of(name, address);
  if (door < 0 || ::bind(door, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(door, SOMAXCONN) != 0) {
    ::close(door);
    return "";
  }
  std::thread([door] { Meeting(door).hold(); }).detach();
  return name;
}

int reach_meeting(const std::string& name) {
  const int way = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address;
  const socklen_t size = address_of(name, address);
  if (way >= 0 && ::connect(way, reinterpret_cast<const sockaddr*>(&address), size) == 0)
    return way;
  ::close(way);
  return -1;
}

}  // namespace trainscope::stand_in
