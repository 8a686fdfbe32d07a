// A part of the listing: writes lines, one below the other, and notes where commands stand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/listing.h"
#include "train/listing/listed_run.h"
#include "train/listing/train_listing.h"

namespace trainscope::train {

// The listing as it grows. A loop's head leaves the depth at which its body goes on.
struct ListingText {
  program::Listing& listing;
  std::size_t indent = 0;  // of the next line, in steps of four columns
};

class ListingPart {
 protected:
  ListingPart(ListingText& text, TrainLines& lines, const ListedRun& run);

  // Returns the line's number.
  std::uint16_t add(const std::string& line);
  void write_zero_grad();
  // What a forward and its loss stand under: `with` these.
  std::vector<std::string> contexts_of_forward() const;
  std::string loss_line() const;
  // What nn.DataParallel wraps computes the loss, too: its replicas take targets.
  bool has_loss_inside() const;

  ListingText& text_;
  TrainLines& lines_;
  const ListedRun& run_;
  const program::Config& config_;
  const TrainSettings& settings_;
};

}  // namespace trainscope::train
