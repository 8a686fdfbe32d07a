// The data set `text`: characters for a small language model, from stories of our own making.
//
// About 200 kB to train with and 20 kB to test with, cut into pieces of seq_len characters one
// behind the other. A token is a character's place in text_alphabet(); the targets of a sample are
// its tokens one place on. A story comes from (seed, split, its number) alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/dataset.h"

namespace trainscope::data {

// Every character that the stories hold, each once, sorted: the same for each seed and split.
std::string_view text_alphabet();

class TextDataset : public Dataset {
 public:
  // Throws InputError for a seq_len that is not from 1 to 4096.
  TextDataset(Split split, std::uint64_t seed, std::int64_t seq_len);

  const SampleShape& shape() const override { return shape_; }
  std::int64_t size() const override;
  void read(std::int64_t index, std::span<float> values, std::span<std::int64_t> tokens,
            std::span<std::int64_t> targets) const override;

  const std::string& text() const { return text_; }

 private:
  SampleShape shape_;
  std::string text_;
};

}  // namespace trainscope::data
