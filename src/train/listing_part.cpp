#include "train/listing_part.h"

#include <fmt/format.h>

#include "train/writer.h"

namespace trainscope::train {

ListingPart::ListingPart(ListingText& text, TrainLines& lines, const ListedRun& run)
    : text_(text), lines_(lines), run_(run), config_(run.config), settings_(run.settings) {}

std::uint16_t ListingPart::add(const std::string& line) {
  return text_.listing.add(line.empty() ? "" : std::string(4 * text_.indent, ' ') + line);
}

void ListingPart::write_zero_grad() {
  if (settings_.zero_never) return;
  lines_.zero_grad = add(fmt::format("optimizer.zero_grad(set_to_none={})",
                                     python(config_.flag("zero_grad.set_to_none"))));
}

}  // namespace trainscope::train
