// The heads of an attention: where they stand, and dealing them to as many workers as there is room
// for.
#pragma once

#include <algorithm>
#include <cstddef>

#include "host/attention.h"
#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

// Where one head begins in the inputs, in the outputs, and in what is kept of all for backward.
struct HeadPlace {
  std::size_t in;
  std::size_t out;
  std::size_t at;
};

// `kept`: values of one head.
inline HeadPlace place_of(const AttentionShape& shape, std::size_t index, std::size_t kept) {
  const std::size_t b = index / shape.heads;
  const std::size_t h = index % shape.heads;
  return {b * shape.inputs.batch + h * shape.inputs.head,
          b * shape.outputs.batch + h * shape.outputs.head, index * kept};
}

// Calls body(head, own) for each of `heads`, `own` being `room` values of the workspace that no
// other head uses meanwhile. Heads do not depend on one another, so neither do results on the room.
template <typename Body>
void deal_heads(std::size_t heads, std::size_t room, Results workspace, const Workers& workers,
                const Body& body) {
  const std::size_t fitting = room == 0 ? heads : workspace.size() / room;
  const std::size_t shares = std::min(fitting, heads);
  workers.for_each(shares, [&](std::size_t share) {
    const Results own = workspace.subspan(share * room, room);
    const std::size_t end = (share + 1) * heads / shares;
    for (std::size_t head = share * heads / shares; head < end; ++head) body(head, own);
  });
}

}  // namespace trainscope::host
