// What of a GPU's buffers L2 still holds when the next kernel wants them.
//
// Kernels touch their operands whole, one kernel after another. What a kernel reads was last
// touched by another kernel; in between went the distinct bytes of that operand, of what was
// touched since, and of the kernel's other operands: that is the footprint of the re-use, and
// machine::l2_hits says which share of it L2 serves, all of it where it fits. What a kernel writes
// goes to device memory in the end and counts there in full.
//
// Assumed, since what GPUs replace is not published: the above, and that a buffer that is a part of
// another, or that gets the memory of one that was freed, is found by none under its other name.
// Copies and collectives touch nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/machine.h"
#include "program/program.h"

namespace trainscope::sim {

class L2Residency {
 public:
  L2Residency(const program::Program& program, const machine::Gpu& gpu);

  // The share of the kernel's traffic that L2 serves, in steps of 1/64, rounded down so that alike
  // kernels stay alike. From then on its operands are what was touched last. 0 where the bandwidth
  // of L2 is not known. Costs the logarithm of the buffers that there are.
  double touch(const program::Operation& operation);

 private:
  struct Touched {
    program::Index buffer = program::kNoIndex;  // kNoIndex: of no name
    std::int64_t bytes = 0;
  };
  struct Operand {
    std::size_t place = 0;
    program::Index buffer = 0;
    double bytes = 0;
    int times = 1;  // that it is read or written
    bool read = false;
  };
  struct ReadAgain {
    double bytes = 0;
    double footprint = 0;  // distinct bytes between two readings
  };
  ReadAgain read_again(const program::Operation& operation) const;
  void gather(const program::Operation& operation);
  std::size_t place_of(program::Index buffer) const;
  std::uint32_t& place_for(program::Index buffer);
  double hits_of(std::size_t place, double own) const;
  void touch(program::Index buffer, std::int64_t bytes);
  std::int64_t bytes_behind(std::size_t place) const;
  void add(std::size_t place, std::int64_t bytes);
  void compact();

  const program::Program& program_;
  const machine::Gpu& gpu_;
  std::vector<Touched> order_;      // as touched, the last last; bytes 0: touched again since
  std::vector<std::int64_t> sums_;  // of order_'s bytes, as a Fenwick tree
  // Of the buffers from first_ on: the place in order_ + 1, 0 of those that were not touched. A
  // program of many ranks has many times the buffers that one GPU touches, which lie together.
  program::Index first_ = program::kNoIndex;
  std::vector<std::uint32_t> places_;
  std::int64_t all_ = 0;           // bytes in order_
  std::vector<Operand> operands_;  // of the kernel at hand; kept for its memory
};

}  // namespace trainscope::sim
