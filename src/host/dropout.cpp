#include "host/dropout.h"

#include <fmt/format.h>

#include <cassert>
#include <cstddef>

#include "base/error.h"
#include "base/random.h"

namespace trainscope::host {

bool is_kept(const Dropout& dropout, std::uint64_t element) {
  return unit_float(random_word(dropout.seed, dropout.offset + element, dropout.stream)) >=
         dropout.p;
}

void apply_dropout(const Dropout& dropout, Values x, Results y) {
  assert(x.size() == y.size());
  if (!(dropout.p >= 0 && dropout.p <= 1)) {
    throw InputError(fmt::format("dropout drops a share from 0 to 1, not {}", dropout.p));
  }
  const float scale =
      dropout.p < 1 ? static_cast<float>(1 / (1 - static_cast<double>(dropout.p))) : 0;
  std::uint64_t drawn_block = 0;
  PhiloxCounter block = random_block(dropout.seed, drawn_block, dropout.stream);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint64_t word = dropout.offset + i;
    if (word / 4 != drawn_block) {
      drawn_block = word / 4;
      block = random_block(dropout.seed, drawn_block, dropout.stream);
    }
    y[i] = unit_float(block.words[word % 4]) >= dropout.p ? x[i] * scale : 0.0F;
  }
}

}  // namespace trainscope::host
