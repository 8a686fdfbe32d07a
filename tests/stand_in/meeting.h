// Where the ranks of a communicator meet that are processes of their own: a thread of the process
// that has made its id. Each rank has a way to it, over a socket that has a name and no file: when
// the processes have ended, whatever ended them, nothing is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "stand_in/collective_numbers.h"

namespace trainscope::stand_in {

enum class MessageKind : std::uint32_t {
  // A rank's.
  kHello,
  kGive,  // asked, sequence, numbers
  kBye,   // it wants no more
  // The meeting's.
  kAllHere,
  kGet,      // sequence, numbers
  kBroken,   // words: the rule that a rank has broken; nothing goes on
  kGone,     // words: who ended without a bye; nothing goes on
  kLeft,     // somebody has said bye
  kWritten,  // to a bye: whatever others are to get is on its way
};

struct MessageHead {
  MessageKind kind = MessageKind::kHello;
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  std::int32_t gpu = 0;  // of the machine
  std::uint64_t sequence = 0;
  Asked asked = {};
  std::uint64_t bytes = 0;  // that follow
};

// Takes the first whole message out of what was read; false: there is none.
bool take_message(std::string& read, MessageHead& head, std::string& body);
std::string message_of(MessageHead head, const std::string& body);

std::string bytes_of(const std::vector<float>& numbers);
std::vector<float> numbers_in(const std::string& bytes);

// Begins one. Its name, which others reach it by; empty: there is no socket for it. It ends when
// all who came have hung up.
std::string open_meeting();

// A way to it; negative: it is no more.
int reach_meeting(const std::string& name);

}  // namespace trainscope::stand_in
