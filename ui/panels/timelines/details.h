// The card of one span: what it is, how long it took, what it moved, and what it waited for.
#pragma once

#include "ui/panels/window/context.h"

namespace trainscope::ui {

// Where the card stands.
enum class DetailsRoom {
  kLow,   // below a listing, in a low window: a line each, each whole or not at all
  kCard,  // below a listing
  kTall,  // in a column of its own, with every row that is known
};

// Draws at the cursor.
void draw_details(const PanelContext& context, DetailsRoom in);

}  // namespace trainscope::ui
