// The pieces of the copy path: a place with its level, the driver's buffers, a link, a thread.
#pragma once

#include <string>
#include <vector>

#include "analysis/views/copy_path.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

// A box on the path: title and figure above, words and a level below.
struct PlaceBox {
  std::string title;        // "pageable memory"
  std::string brief;        // "pageable", where the title has no room
  std::string figure;       // "12 MiB"; monospaced, to the right
  std::string words;        // "batch 3"
  std::string fewer_words;  // where they have no room; empty: they are cut
  float level = 0;          // 0..1
  Color fill;
  bool used = true;  // else: dashed, with the words alone
};
void paint_place(const Theme& theme, const Box& box, const PlaceBox& place);

// The driver's buffers: each filled by one copy and emptied by the other.
void paint_buffers(const Theme& theme, const Box& box, const PlaceBox& place,
                   const std::vector<analysis::PathChunk>& chunks, int buffers);

// One direction of the link, or both under each other.
void paint_links(const Theme& theme, const Box& box, const analysis::PathState& state, bool both);

// A host thread: hatched where it is held, with the cause.
void paint_thread(const Theme& theme, const Box& box, const analysis::PathThread& thread);

// Between two boxes.
void paint_step(const Theme& theme, ImVec2 from, ImVec2 to, bool forth, bool back);

}  // namespace trainscope::ui
