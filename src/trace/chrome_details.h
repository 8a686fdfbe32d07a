// A span's detail as the args of an event, both ways: PyTorch's names where it has one, and
// "Trainscope ..." for what it has no name for.
#pragma once

#include <optional>
#include <string>

#include "trace/chrome_event.h"
#include "trace/chrome_text.h"

namespace trainscope::trace::chrome {

// The detail that the event's args hold; nullopt if such events have none. `device` and `stream`
// are the lane's.
std::optional<Detail> read_detail(const Event& event, const NameFacts& facts, std::int32_t device,
                                  std::int32_t stream);

// Appends `"key": value` pairs with ", " between them.
class ArgList {
 public:
  explicit ArgList(std::string& out) : out_(out) {}
  void text(std::string_view key, std::string_view value);
  // Also under `bytes_key`, exactly, if the text is not UTF-8.
  void text(std::string_view key, std::string_view bytes_key, std::string_view value);
  void number(std::string_view key, std::int64_t value);
  void number(std::string_view key, double value);  // nothing if it is not finite
  void triple(std::string_view key, const std::int32_t (&value)[3]);

 private:
  void key(std::string_view key);
  std::string& out_;
  bool first_ = true;
};

// How the writer shows a span, as far as its detail's args depend on it.
struct ShownSpan {
  EventKind kind = EventKind::kOwn;
  NameFacts facts;         // of the name that is written
  bool on_stream = false;  // args.device and args.stream are written, as these:
  std::int32_t device = 0;
  std::int32_t stream = 0;
  Nanos duration = 0;
  int multiprocessors = 0;  // of the device; 0: unknown
};
void append_detail(ArgList& args, const Detail* detail, const ShownSpan& shown);

}  // namespace trainscope::trace::chrome
