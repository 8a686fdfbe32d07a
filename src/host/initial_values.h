// What the buffers of a program hold before it begins, the same for every executor that computes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "host/channel_order.h"
#include "host/views.h"
#include "program/program.h"

namespace trainscope::host {

class InitialValues {
 public:
  // The program must outlive it.
  explicit InitialValues(const program::Program& program);

  // Fills `values` with the first numbers of a buffer of that rank; of whole numbers, which begin
  // at 0, none.
  void read(program::Index buffer, Results values, int rank = 0) const;

 private:
  const program::Program& program_;
  // A buffer's stream of random words follows from how many random ones of its device stand before
  // it, so that a model begins the same whatever else a program has, and on every rank.
  std::vector<std::uint64_t> streams_;
  // A weight's numbers are drawn in the order of its dimensions, however they lie.
  const std::map<program::Index, ChannelOrder> orders_;
};

}  // namespace trainscope::host
