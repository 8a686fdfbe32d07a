#include "data/digits.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

#include "data/draws.h"
#include "data/pen.h"

namespace trainscope::data {
namespace {

constexpr std::int64_t kTrainSamples = 10'000;
constexpr std::int64_t kTestSamples = 2'000;

// Mean and standard deviation of pixel / 255 over the training samples of seed 0, so that those
// have mean 0 and standard deviation 1; other seeds nearly so.
constexpr Normalization kNormalization = {{0.1038F, 0, 0}, {0.2537F, 1, 1}};

// Corners of a grid over the glyph that are each pulled a little; points between them follow.
class Wobble {
 public:
  Wobble(Draws& draws, float strength) {
    for (Point& pull : pulls_) {
      pull.x = strength * draws.normal();
      pull.y = strength * draws.normal();
    }
  }

  Point operator()(Point point) const {
    const float column = std::clamp((point.x + 0.5F) * (kSide - 1), 0.0F, kSide - 1.001F);
    const float row = std::clamp((point.y + 0.5F) * (kSide - 1), 0.0F, kSide - 1.001F);
    const auto left = static_cast<std::size_t>(column), top = static_cast<std::size_t>(row);
    const float x = column - static_cast<float>(left), y = row - static_cast<float>(top);
    const Point above = mix(at(left, top), at(left + 1, top), x);
    const Point below = mix(at(left, top + 1), at(left + 1, top + 1), x);
    const Point pull = mix(above, below, y);
    return {point.x + pull.x, point.y + pull.y};
  }

 private:
  static constexpr std::size_t kSide = 4;

  static Point mix(Point from, Point to, float t) {
    return {from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t};
  }

  Point at(std::size_t column, std::size_t row) const { return pulls_[row * kSide + column]; }

  std::array<Point, kSide * kSide> pulls_{};
};

// Slant, turn, size and place: from the glyph's unit square to pixels.
class Hand {
 public:
  explicit Hand(Draws& draws) {
    const float width = kHeight * draws.between(0.75F, 1.2F);
    const float height = kHeight * draws.between(0.85F, 1.1F);
    const float slant = 0.23F * draws.normal();
    // A turn by an angle whose half has this tangent: no sine that platforms round differently.
    const float half = 0.075F * draws.normal();
    const float cosine = (1 - half * half) / (1 + half * half);
    const float sine = 2 * half / (1 + half * half);
    xx_ = cosine * width;
    xy_ = -(cosine * slant + sine) * height;
    yx_ = sine * width;
    yy_ = (cosine - sine * slant) * height;
    x_ = kMiddle + 1.2F * draws.normal();
    y_ = kMiddle + 1.0F * draws.normal();
  }

  Point operator()(Point point) const {
    return {x_ + xx_ * point.x + xy_ * point.y, y_ + yx_ * point.x + yy_ * point.y};
  }

 private:
  static constexpr float kHeight = 18;  // pixels
  static constexpr float kMiddle = (kCanvasSide - 1) / 2.0F;

  float xx_, xy_, yx_, yy_, x_, y_;
};

Canvas write_digit(int digit, Draws& draws) {
  constexpr int kParts = 5;
  const std::vector<Glyph>& ways = glyphs_of(digit);
  const Glyph& glyph = ways[draws.below(ways.size())];
  const Wobble wobble(draws, 0.045F);
  const Hand hand(draws);
  const float radius = draws.between(0.7F, 1.6F);
  Canvas canvas{};
  for (const Stroke& stroke : glyph) {
    Path written;
    for (const Point& point : stroke.points) {
      const float x = point.x + 0.02F * draws.normal(), y = point.y + 0.02F * draws.normal();
      written.add(hand(wobble({x, y})));
    }
    const float first = radius * draws.between(0.8F, 1.2F);
    const float last = radius * draws.between(0.8F, 1.2F);
    const Path path = stroke.curved ? smooth(written.points(), kParts) : written;
    draw(canvas, path.points(), first, last);
  }
  return canvas;
}

// Ink that is not quite even on paper that is not quite clean.
void to_pixels(const Canvas& canvas, Draws& draws, std::uint8_t* pixels) {
  const float strength = draws.between(0.75F, 1.0F);
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    const std::uint32_t word = draws.word();
    const float grain = static_cast<float>(word & 0xFFFF) * 0x1p-16F - 0.5F;
    const float ink = strength * canvas[i];
    const float value = ink + grain * (0.04F + 0.3F * ink);
    pixels[i] = static_cast<std::uint8_t>(std::clamp(value, 0.0F, 1.0F) * 255 + 0.5F);
  }
}

}  // namespace

DigitsDataset::DigitsDataset(Split split, std::uint64_t seed)
    : split_(split), seed_(seed), shape_{1, kCanvasSide, kCanvasSide, 0, 1, 10} {
  const auto samples = static_cast<std::size_t>(size());
  drawn_ = std::make_unique<std::once_flag[]>(samples);
  // Memory that no sample is drawn into yet is not touched either.
  pixels_ = std::make_unique_for_overwrite<std::uint8_t[]>(samples * Canvas{}.size());
  labels_ = std::make_unique_for_overwrite<std::uint8_t[]>(samples);
}

std::int64_t DigitsDataset::size() const {
  return split_ == Split::kTrain ? kTrainSamples : kTestSamples;
}

void DigitsDataset::draw_sample(std::int64_t index, std::uint8_t* pixels,
                                std::uint8_t& label) const {
  Draws draws(seed_, stream_of(DrawsOf::kDigits, split_, index));
  const auto digit = static_cast<int>(draws.below(10));
  to_pixels(write_digit(digit, draws), draws, pixels);
  label = static_cast<std::uint8_t>(digit);
}

void DigitsDataset::read(std::int64_t index, std::span<float> values, std::span<std::int64_t>,
                         std::span<std::int64_t> targets) const {
  assert(index >= 0 && index < size() && targets.size() == 1);
  const auto sample = static_cast<std::size_t>(index), area = Canvas{}.size();
  std::uint8_t* const pixels = pixels_.get() + sample * area;
  std::call_once(drawn_[sample], [&] { draw_sample(index, pixels, labels_[sample]); });
  read_pixels({pixels, area}, shape_, kNormalization, values);
  targets[0] = labels_[sample];
}

}  // namespace trainscope::data
