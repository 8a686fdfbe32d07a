#ifdef TRAINSCOPE_HAS_UI
#include "cli/picture_look.h"

#include <cmath>

#include "base/error.h"
#include "base/units.h"

namespace trainscope::cli {
namespace {

// "1366x768"; the least is what a window still says something in, the most what OSMesa can draw.
void read_size(const std::string& words, PictureLook& picture) {
  if (words.empty()) return;
  int width = 0, height = 0, used = 0;
  const bool read = std::sscanf(words.c_str(), "%5dx%5d%n", &width, &height, &used) == 2 &&
                    static_cast<std::size_t>(used) == words.size();
  if (!read || width < 640 || height < 400 || width > 8192 || height > 8192)
    throw InputError("--size is a width and a height from 640x400 to 8192x8192, as 1366x768, not " +
                     words);
  picture.width = width;
  picture.height = height;
}

}  // namespace

// Larger in pixels by the scale, so that it shows the same, sharper.
PictureLook picture_look(const Look& look) {
  PictureLook picture;
  if (!look.theme.empty()) picture.theme = ui::theme_named(look.theme);
  read_size(look.size, picture);
  if (look.scale <= 0) return picture;
  picture.scale = look.scale;
  picture.width = static_cast<int>(std::lround(static_cast<float>(picture.width) * look.scale));
  picture.height = static_cast<int>(std::lround(static_cast<float>(picture.height) * look.scale));
  return picture;
}

// "61.4ms"; a number alone is milliseconds.
std::optional<Nanos> playhead_of(const Look& look) {
  const std::string& words = look.at;
  if (words.empty()) return std::nullopt;
  double value = 0;
  char unit[4] = "ms";
  int used = 0;
  const bool named = std::sscanf(words.c_str(), "%lf %3[a-z]%n", &value, unit, &used) == 2 &&
                     static_cast<std::size_t>(used) == words.size();
  const bool bare = !named && std::sscanf(words.c_str(), "%lf%n", &value, &used) == 1 &&
                    static_cast<std::size_t>(used) == words.size();
  const std::string name = named ? unit : "ms";
  const bool known = name == "s" || name == "ms" || name == "us" || name == "ns";
  const double nanos = known ? value * *unit_factor(name) : -1;
  constexpr double kMost = 1e18;  // a run of thirty years
  if ((!named && !bare) || !(nanos >= 0) || nanos > kMost)
    throw InputError("--at is a time of the run, as 61.4ms or 3s, not " + words);
  return static_cast<Nanos>(nanos);
}

}  // namespace trainscope::cli
#endif
