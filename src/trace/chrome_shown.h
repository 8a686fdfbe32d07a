// How the writer shows a span: as which kind of event, under which name.
#pragma once

#include <string>
#include <string_view>

#include "trace/chrome_words.h"
#include "trace/trace.h"

namespace trainscope::trace::chrome {

// The kind of event that PyTorch would write, or kOwn where it has none.
EventKind shown_kind(const Lane& lane, Category category, std::string_view name);

// The `cat` of such an event.
std::string_view cat_of(EventKind kind);

// The span's name, but where HTA tells copies, memsets and collectives by theirs, one that it
// knows.
std::string shown_name(EventKind kind, Category category, const std::string& name,
                       const Detail* detail);

}  // namespace trainscope::trace::chrome
