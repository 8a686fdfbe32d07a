// Grouped-query attention (Ainslie et al., arXiv:2305.13245): heads of queries that follow one
// another share a head of keys and values. What attention is given is repeated for each of them,
// and its gradients are summed.
#pragma once

#include <cstddef>

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

struct HeadGroups {
  std::size_t tokens = 0;
  std::size_t key_heads = 0;
  std::size_t each = 1;  // heads of queries that share one of keys
  std::size_t width = 0;

  std::size_t shared() const { return tokens * key_heads * width; }  // values
  std::size_t all() const { return shared() * each; }
};

// x [tokens, key_heads, width] becomes y [tokens, key_heads, each, width]: the same bits.
void repeat_heads(const HeadGroups& shape, Values x, Results y, const Workers& workers = {});

// x [tokens, key_heads, each, width] becomes y [tokens, key_heads, width]: sums in FP64.
void sum_heads(const HeadGroups& shape, Values x, Results y, const Workers& workers = {});

}  // namespace trainscope::host
