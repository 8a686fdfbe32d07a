// Walks the JSON of a Chrome trace once, event by event, without building a tree of it.
#pragma once

#include <string_view>

#include "trace/chrome_event.h"
#include "trace/padded_bytes.h"

namespace trainscope::trace::chrome {

// Takes events in the order of the file.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // Our own header stands before the events, so that it is known when they come.
  virtual void begin(const FileHeader& header) = 0;
  virtual void take(const Event& event) = 0;
  virtual void take_broken() = 0;  // an element of traceEvents that is no object
};

// Reads the whole file; what it says about itself is complete on return. Throws InputError naming
// `name` and the byte when the text is not JSON, or is JSON but no trace.
FileHeader parse_chrome(std::string_view name, const PaddedBytes& bytes, EventSink& sink);

}  // namespace trainscope::trace::chrome
