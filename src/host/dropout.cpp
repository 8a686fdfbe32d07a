#include "host/dropout.h"

#include <fmt/format.h>

#include <cassert>
#include <cstddef>

#include "base/error.h"
#include "base/random.h"

namespace trainscope::host {
namespace {

// A word costs several nanoseconds.
constexpr std::size_t kDropoutGrain = kGrain / 4;

// `begin` is the element of the whole that x[0] is.
void apply_range(const Dropout& dropout, std::size_t begin, Values x, Results y) {
  const float p = dropout.p;
  const float scale = p < 1 ? static_cast<float>(1 / (1 - static_cast<double>(p))) : 0;
  const std::uint64_t first = dropout.offset + begin;
  std::uint64_t drawn = first / 4;
  PhiloxCounter block = random_block(dropout.seed, drawn, dropout.stream);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint64_t word = first + i;
    if (word / 4 != drawn) {
      drawn = word / 4;
      block = random_block(dropout.seed, drawn, dropout.stream);
    }
    y[i] = unit_float(block.words[word % 4]) >= p ? x[i] * scale : 0.0F;
  }
}

}  // namespace

bool is_kept(const Dropout& dropout, std::uint64_t element) {
  return unit_float(random_word(dropout.seed, dropout.offset + element, dropout.stream)) >=
         dropout.p;
}

void apply_dropout(const Dropout& dropout, Values x, Results y, const Workers& workers) {
  assert(x.size() == y.size());
  if (!(dropout.p >= 0 && dropout.p <= 1)) {
    throw InputError(fmt::format("dropout drops a share from 0 to 1, not {}", dropout.p));
  }
  workers.for_ranges(x.size(), kDropoutGrain, [&](std::size_t begin, std::size_t end) {
    apply_range(dropout, begin, x.subspan(begin, end - begin), y.subspan(begin, end - begin));
  });
}

}  // namespace trainscope::host
