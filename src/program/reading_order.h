// The order in which a rank reads a program's samples.
#pragma once

#include "data/epoch_order.h"
#include "program/program.h"

namespace trainscope::program {

// `length`: samples of the data set.
data::EpochOrderOptions reading_order(const DataSource& source, std::int64_t length, int rank);

}  // namespace trainscope::program
