// Dealing the heads of an attention to as many workers as there is room for.
#pragma once

#include <algorithm>
#include <cstddef>

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

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
