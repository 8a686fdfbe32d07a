// Launches of what a model writes out operator by operator: each reads and writes tensors, and the
// last of them names the function.
#pragma once

#include <string>
#include <vector>

#include "program/program.h"
#include "train/kernels/eager_attention.h"

namespace trainscope::train {

// One of the launches, and whether the node of autograd that made the one before it makes it, too.
struct WrittenLaunch {
  program::Operation operation;
  bool same_operator = false;
};

// What a pass is called; of an operand that is repeated over rows or columns its kernel moves a
// number a thread (one_by_one.h).
struct PassOf {
  const char* kernel;
  const char* framework;
  bool same_operator = false;
};

// Collects them. Not copied: it refers to the operation.
class WrittenPasses {
 public:
  // `whole`: forward or backward as one operation.
  WrittenPasses(const program::Program& program, const program::Operation& whole,
                const NewBuffer& new_buffer);
  WrittenPasses(const WrittenPasses&) = delete;
  WrittenPasses& operator=(const WrittenPasses&) = delete;

  program::Index make(const std::string& what, std::int64_t elements, program::ElementType type);
  program::ElementType type_of(program::Index buffer) const {
    return program_.buffers[buffer].type;
  }
  double bytes_of(program::Index buffer) const {
    return static_cast<double>(program_.buffers[buffer].bytes);
  }
  // Reads and writes each of these once, or parts of them of so many bytes; gives where it writes
  // to.
  program::Index pass(const PassOf& of, const std::vector<program::Index>& reads, program::Index to,
                      double bytes = 0);
  // Writes so many numbers of a buffer that is there.
  void in_place(const PassOf& of, const std::vector<program::Index>& reads, program::Index to,
                std::int64_t elements);
  // To another type; it computes, so that what it gives may be read in place of what it reads.
  program::Index cast(const char* framework, program::Index from, program::Index to);
  // Of each row, one number.
  program::Index sum_rows(const PassOf& of, std::int64_t rows, program::Index from,
                          program::Index to);
  // Of each column, one number.
  program::Index sum_columns(const PassOf& of, program::Index from, program::Index to);

  // The last launch names the function, and has its results and its work as one call. `reads`: its
  // operands, as the function states them.
  std::vector<WrittenLaunch> finish(std::vector<program::Index> reads);

 private:
  program::Index add(program::Operation operation, const PassOf& of,
                     const std::vector<program::Index>& reads, program::Index to);
  void push(program::Operation operation, bool same_operator);
  double bytes(const std::vector<program::Index>& reads, program::Index to) const;

  const program::Program& program_;
  const program::Operation& whole_;
  std::string name_;  // of what is written
  const NewBuffer& new_buffer_;
  std::vector<WrittenLaunch> launches_;
};

}  // namespace trainscope::train
