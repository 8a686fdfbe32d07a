// The screens and the scales that people have, and whether what stands on one can be read.
#pragma once

#include <string>

#include "ui/driver.h"
#include "ui/words.h"

namespace trainscope::ui {

struct Monitor {
  int width, height;
};
inline constexpr Monitor kMonitors[] = {{1280, 720}, {1920, 1080}, {3840, 2160}};
inline constexpr float kScales[] = {0.75F, 1, 2};

// TRAINSCOPE_PICTURES=FOLDER keeps what was looked at.
inline void check_words(Driver& driver, const std::string& where) {
  driver.settle();
  INFO(where);
  keep_picture(driver, where);
  check_words_are_whole(30);
  check_words_are_apart();
}

}  // namespace trainscope::ui
