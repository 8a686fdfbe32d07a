// Pictures kept beside the tests, and how a new one differs from them.
#pragma once

#include <filesystem>

#include "ui/app/window/window.h"

namespace trainscope::ui {

// Throws InputError when it cannot be read.
Picture read_png(const std::filesystem::path& path);

// A pixel differs when the mean of the 3 x 3 around it has another red, green or blue by more than
// `kSame`: letters that another version of the drawing library moves by a fraction of a pixel stay
// the same.
struct PictureDifference {
  static constexpr int kSame = 24;  // of 255

  bool same_size = false;
  double share = 1;  // of the pixels that differ, 0 ... 1
  Picture picture;   // grey where the same, red where they differ; empty if the sizes are not
};

PictureDifference difference(const Picture& kept, const Picture& now);

}  // namespace trainscope::ui
