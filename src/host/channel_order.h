// Programs whose images have their channels innermost (torch.channels_last). PyTorch draws weights
// and reads images in the order of their dimensions, channels before pixels, and then moves them:
// model.to(memory_format=torch.channels_last), x.to(device, memory_format=torch.channels_last).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "host/interpreter.h"
#include "program/program.h"

namespace trainscope::host {

// Tensors [.., channels, pixels] that lie [.., pixels, channels].
struct ChannelOrder {
  std::int64_t channels = 1;
  std::int64_t pixels = 1;

  // The place, in the order of the dimensions, of the number that lies at one.
  std::size_t dimensions_of(std::size_t place) const;
};

// Of convolutions whose images lie so, the weights, and what autocast's copies and gathered weights
// are made of.
std::map<program::Index, ChannelOrder> weights_by_channel(const program::Program& program);

// The sets, their samples as the program's convolutions read them.
DataSets as_convolutions_read(const program::Program& program, const DataSets& sets);

}  // namespace trainscope::host
