// The lesson's card: text, question, verdict, buttons, how far one is.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ui/app/window/layout.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// What may come onto a card below its text.
enum class News : std::uint8_t { kRemark, kVerdict, kGoal, kHint, kNotice };

struct LessonPanel {
  std::string number;  // as typed
  std::string words;
  std::size_t step = 0;    // that these belong to
  std::vector<int> hands;  // as they were drawn last, of a room's question
  // The buttons stand above the foot where the text leaves them no room in sight.
  bool pinned = false;
  bool pin_next = false;
  float buttons = 0;  // their height
  float room = 0;     // for the text and them
  // In front of a room so much of the window as its question's options need to be seen at once.
  CardWidth choice_width = CardWidth::kUsual;
  bool tight = false;     // the options stand closely, which no width has helped
  int choice_frames = 0;  // before the card has the width that it asked for last
  // What has come onto the card since the step was entered, and where it is to be seen.
  std::array<std::string, 5> said;  // by News
  struct {
    float top = 0, bottom = 0;
  } news;
  int news_frames = 0;  // left in which it comes into sight
  bool fresh = true;    // the step has not been drawn yet
  int drawn_in = -1;    // the frame in which the card was drawn last
  // Frames in which the keys are yet to go to the button that goes on: it may find another place.
  int key_frames = 0;
  bool gives_keys = false;  // in this frame
};

// How far a card of that height is scrolled so that what lies from `top` to `bottom` of its text is
// in sight, or its beginning where there is no room for all of it; in pixels, as all are. As far as
// it is where it is in sight already.
float scroll_to_show(float top, float bottom, float scroll, float height);

// In front of a room the window's notice stands on the card, where it covers nothing.
bool notice_on_card(const Workspace& workspace);

void draw_lesson(const PanelContext& context, LessonPanel& panel, const char* name, bool* open);

}  // namespace trainscope::ui
