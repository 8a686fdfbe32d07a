#include "train/listing/listing_part.h"

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

std::vector<std::string> ListingPart::contexts_of_forward() const {
  std::vector<std::string> contexts;
  if (settings_.precision.autocast != program::ElementType::kFp32)
    contexts.push_back(fmt::format("torch.autocast(\"cuda\", dtype={})",
                                   torch_name(settings_.precision.autocast)));
  // Left to itself PyTorch takes a fused kernel where it has one, so the choice is always
  // written.
  const std::string& kernel = config_.word("attention.kernel");
  const bool chosen = kernel == "math" || kernel == "flash";
  if (chosen && settings_.data.shape.tokens > 0)
    contexts.push_back(fmt::format("sdpa_kernel(SDPBackend.{})", kernel != "flash" ? "MATH"
                                                                 : settings_.has_flash
                                                                     ? "FLASH_ATTENTION"
                                                                     : "EFFICIENT_ATTENTION"));
  return contexts;
}

std::string ListingPart::loss_line() const {
  return settings_.data.shape.tokens > 0 ? "loss = F.cross_entropy(out.flatten(0, 1), y.flatten())"
                                         : "loss = F.cross_entropy(out, y)";
}

bool ListingPart::has_loss_inside() const {
  return settings_.dp && config_.flag("dp.loss_in_forward");
}

}  // namespace trainscope::train
