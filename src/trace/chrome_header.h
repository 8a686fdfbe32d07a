// What a Chrome trace says about itself beside its events: PyTorch's fields, and ours.
#pragma once

#include <string_view>

#include "trace/chrome_event.h"
#include "trace/chrome_json.h"

namespace trainscope::trace::chrome {

// Reads a top-level field that is not the events. False if the reader has no use for it.
bool read_header_field(const char* key, json::value value, FileHeader& header);

// Reads the object "trainscope". Throws InputError naming `name` when it is damaged or newer than
// this program.
OwnHeader read_own_header(std::string_view name, json::value value);

// That object as text. `lanes` say where in the file each lane stands.
void append_own_header(std::string& out, const OwnHeader& header);

}  // namespace trainscope::trace::chrome
