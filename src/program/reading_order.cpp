#include "program/reading_order.h"

namespace trainscope::program {

data::EpochOrderOptions reading_order(const DataSource& source, std::int64_t length, int rank) {
  data::EpochOrderOptions options;
  options.length = length;
  options.batch_size = source.batch_size;
  options.shuffle = source.shuffle;
  options.seed = source.seed;
  options.replicas = source.replicas;
  options.rank = rank;
  options.set_epoch = source.set_epoch;
  options.strided = source.strided;
  options.drop_last = source.drop_last;
  return options;
}

}  // namespace trainscope::program
