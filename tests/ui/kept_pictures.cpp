#include "ui/kept_pictures.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/error.h"
#include "base/files.h"

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wuseless-cast"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace trainscope::ui {
namespace {

constexpr std::size_t kMostBytes = 16 << 20;

using Rgb = std::array<int, 3>;

std::size_t at(const Picture& picture, int x, int y) {
  return 4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
              static_cast<std::size_t>(x));
}

Rgb mean_around(const Picture& picture, int x, int y) {
  Rgb sum{};
  int count = 0;
  for (int v = std::max(y - 1, 0); v <= std::min(y + 1, picture.height - 1); ++v)
    for (int u = std::max(x - 1, 0); u <= std::min(x + 1, picture.width - 1); ++u, ++count)
      for (std::size_t channel = 0; channel < 3; ++channel)
        sum[channel] += picture.rgba[at(picture, u, v) + channel];
  for (int& channel : sum) channel /= count;
  return sum;
}

bool differs(const Rgb& a, const Rgb& b) {
  for (std::size_t channel = 0; channel < 3; ++channel)
    if (std::abs(a[channel] - b[channel]) > PictureDifference::kSame) return true;
  return false;
}

void paint(Picture& picture, int x, int y, const Rgb& around, bool red) {
  std::uint8_t* pixel = &picture.rgba[at(picture, x, y)];
  const auto grey = static_cast<std::uint8_t>((around[0] + around[1] + around[2]) / 6);
  pixel[0] = red ? 255 : grey;
  pixel[1] = pixel[2] = red ? 0 : grey;
  pixel[3] = 255;
}

}  // namespace

Picture read_png(const std::filesystem::path& path) {
  const std::string bytes = read_file(path, kMostBytes);
  Picture picture;
  int channels = 0;
  stbi_uc* pixels = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()),
                                          static_cast<int>(bytes.size()), &picture.width,
                                          &picture.height, &channels, 4);
  if (!pixels) throw InputError(path.string() + " is no picture: " + stbi_failure_reason());
  picture.rgba.assign(pixels, pixels + at(picture, 0, picture.height));
  stbi_image_free(pixels);
  return picture;
}

PictureDifference difference(const Picture& kept, const Picture& now) {
  PictureDifference result;
  result.same_size = kept.width == now.width && kept.height == now.height;
  if (!result.same_size) return result;
  result.picture = now;
  std::size_t count = 0;
  for (int y = 0; y < now.height; ++y)
    for (int x = 0; x < now.width; ++x) {
      const Rgb around = mean_around(now, x, y);
      const bool red = differs(mean_around(kept, x, y), around);
      paint(result.picture, x, y, around, red);
      count += red;
    }
  result.share = static_cast<double>(count) / (static_cast<double>(now.width) * now.height);
  return result;
}

}  // namespace trainscope::ui
