#include "data/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "base/error.h"
#include "data/draws.h"
#include "data/stories.h"

namespace trainscope::data {
namespace {

constexpr std::string_view kAlphabet = "\n \",.?ABCDEFGHIJKLMOSTWabcdefghijklmnopqrstuvwxyz";
constexpr std::int64_t kLongest = 4096;  // tokens of a sample

SampleShape shape_of(std::int64_t seq_len) {
  if (seq_len < 1 || seq_len > kLongest)
    throw InputError(fmt::format(
        "a sample of text cannot have {} tokens; give a seq_len from 1 to {}", seq_len, kLongest));
  SampleShape shape;
  shape.tokens = shape.targets = seq_len;
  shape.classes = static_cast<std::int64_t>(kAlphabet.size());
  return shape;
}

std::string write_text(Split split, std::uint64_t seed) {
  const std::size_t enough = split == Split::kTrain ? 200'000 : 20'000;
  std::string text;
  for (std::int64_t story = 0; text.size() < enough; ++story) {
    Draws draws(seed, stream_of(DrawsOf::kText, split, story));
    text += write_story(draws);
  }
  return text;
}

std::int64_t token_of(char character) {
  const std::size_t place = kAlphabet.find(character);
  assert(place != std::string_view::npos);
  return static_cast<std::int64_t>(place);
}

}  // namespace

std::string_view text_alphabet() {
  return kAlphabet;
}

TextDataset::TextDataset(Split split, std::uint64_t seed, std::int64_t seq_len)
    : shape_(shape_of(seq_len)), text_(write_text(split, seed)) {}

std::int64_t TextDataset::size() const {
  return (static_cast<std::int64_t>(text_.size()) - 1) / shape_.tokens;  // the last has a target
}

void TextDataset::read(std::int64_t index, std::span<float>, std::span<std::int64_t> tokens,
                       std::span<std::int64_t> targets) const {
  assert(index >= 0 && index < size());
  assert(std::ssize(tokens) == shape_.tokens && targets.size() == tokens.size());
  const char* piece = text_.data() + index * shape_.tokens;
  std::transform(piece, piece + tokens.size(), tokens.begin(), token_of);
  std::transform(piece + 1, piece + 1 + tokens.size(), targets.begin(), token_of);
}

}  // namespace trainscope::data
