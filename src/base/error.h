// Errors that a person can act on: one sentence saying what, where, and what to do instead.
#pragma once

#include <stdexcept>
#include <string>

namespace trainscope {

// Decides the exit code of the command line.
enum class Fault {
  kFailed,    // 1: a check, an expectation or a comparison failed
  kBadInput,  // 2: bad usage, bad input, an output that cannot be written
  kMissing,   // 3: this machine lacks something (a GPU, a display)
  kInternal,  // 70: our own bug
};

// Text of others (a name, a line of a file) may stand in the sentence: what would break the line or
// the terminal is spelled out, and the middle of a very long one is left out.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& sentence);
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

class InputError : public Error {
 public:
  explicit InputError(const std::string& sentence) : Error(Fault::kBadInput, sentence) {}
};

class MissingError : public Error {
 public:
  explicit MissingError(const std::string& sentence) : Error(Fault::kMissing, sentence) {}
};

// A place in a text file; line and column count from 1, 0 means unknown.
struct SourcePlace {
  std::string file;
  int line = 0;
  int column = 0;
};

// Text of others as it may stand in one line of a terminal: control characters are spelled out, and
// the middle of a very long one is left out.
std::string one_line(const std::string& text);

// "file:line:column: " with the unknown parts left out.
std::string describe(const SourcePlace& place);

}  // namespace trainscope
