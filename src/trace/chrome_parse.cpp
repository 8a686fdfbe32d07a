#include "trace/chrome_parse.h"

#include <simdjson.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "trace/chrome_args.h"
#include "trace/chrome_header.h"
#include "trace/chrome_json.h"
#include "trace/chrome_text.h"

namespace trainscope::trace::chrome {
namespace {

// Remembers what each `cat` of the file means; a file has a dozen.
class KindTable {
 public:
  EventKind find(std::string_view token) {
    for (const auto& [known, kind] : known_)
      if (known == token) return kind;
    const EventKind kind = event_kind(text_of(token));
    if (known_.size() < 64) known_.emplace_back(token, kind);
    return kind;
  }

 private:
  std::vector<std::pair<std::string_view, EventKind>> known_;
};

// The report itself, and the database that it is exported to.
bool is_nsight_report(std::string_view name, std::string_view text) {
  return name.ends_with(".nsys-rep") || name.ends_with(".qdrep") ||
         text.starts_with("SQLite format 3");
}

class FileParser {
 public:
  FileParser(std::string_view name, const PaddedBytes& bytes, EventSink& sink)
      : name_(name), text_(bytes.text()), sink_(sink) {
    // The byte order mark is no JSON, but some editors put it there.
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
    skipped_ = bytes.size() - text_.size();
  }

  FileHeader parse();

 private:
  void parse_document(json::document& document);
  void read_field(const char* key, json::value value);
  void read_events(json::array events);
  void read_event(json::value object);
  void read_event_field(const char* key, json::value value);
  void read_args(json::value value);
  bool skips_args() const;
  std::string fault(simdjson::error_code error, const char* location) const;
  [[noreturn]] void fail_schema(const std::string& found) const;

  std::string name_;
  std::string_view text_;
  std::size_t skipped_ = 0;
  EventSink& sink_;
  FileHeader header_;
  Event event_;
  KindTable kinds_;
  bool is_own_ = false;
  bool names_nodes_ = false;  // the event whose category was read last
  int own_headers_ = 0;
  bool has_events_ = false;
  bool saw_phase_ = false;
  bool began_as_own_ = false;
  std::vector<std::string> found_;  // the first few top-level keys, for messages
};

FileHeader FileParser::parse() {
  json::parser parser;
  json::document document;
  const char* location = nullptr;
  const auto start = simdjson::padded_string_view(text_, text_.size() + PaddedBytes::kPadding);
  if (const auto error = parser.iterate(start).get(document))
    throw InputError(name_ + ": " + fault(error, location));
  try {
    parse_document(document);
    // A header of ours behind the events (some tool sorts keys): read again, knowing it.
    if (header_.own && !began_as_own_) {
      document.rewind();
      header_.devices.clear();
      parse_document(document);
    }
  } catch (const simdjson::simdjson_error& error) {
    if (document.current_location().get(location)) location = nullptr;
    throw InputError(name_ + ": " + fault(error.error(), location));
  }
  return std::move(header_);
}

void FileParser::parse_document(json::document& document) {
  is_own_ = began_as_own_ = header_.own.has_value();
  has_events_ = false;
  own_headers_ = 0;
  const json::json_type type = document.type();
  if (type == json::json_type::array) {
    read_events(document.get_array());
    if (!saw_phase_) fail_schema("a list without events");
  } else if (type == json::json_type::object) {
    for (auto field : document.get_object()) {
      const char* key = field.key().value().raw();
      read_field(key, field.value().value());
    }
  } else {
    fail_schema("a single value");
  }
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    throw simdjson::simdjson_error(simdjson::TRAILING_CONTENT);
  if (has_events_) return;
  const std::string keys = joined(found_);
  fail_schema(keys.empty() ? "an empty object" : "an object with " + keys);
}

void FileParser::read_field(const char* key, json::value value) {
  if (is(key, "traceEvents")) {
    if (!is_array(value)) fail_schema("traceEvents that are no list");
    read_events(value.get_array());
  } else if (is(key, "trainscope")) {
    // What was begun with the first one cannot go on with another.
    if (++own_headers_ > 1) fail_schema("\"trainscope\" twice");
    header_.own = read_own_header(name_, value);
    is_own_ = true;
  } else if (!read_header_field(key, value, header_) && found_.size() < 4) {
    found_.push_back(text_of(key_token(key)).substr(0, 40));
  }
}

void FileParser::read_events(json::array events) {
  if (!has_events_) {
    sink_.begin(header_);
    began_as_own_ = is_own_;
  }
  has_events_ = true;
  for (auto element : events) {
    const json::value value = element.value();
    if (is_object(value))
      read_event(value);
    else
      sink_.take_broken();
  }
}

void FileParser::read_event(json::value object) {
  event_.phase = 0;
  event_.has_kind = false;
  event_.kind = EventKind::kUnknown;
  event_.name = event_.pid = event_.tid = event_.ts = event_.dur = event_.id = {};
  if (event_.has_args) {
    event_.args = {};
    event_.own = {};
    event_.series.clear();
    event_.has_args = false;
  }
  each_field(object, [&](const char* key, json::value value) { read_event_field(key, value); });
  saw_phase_ = saw_phase_ || event_.phase != 0;
  sink_.take(event_);
}

void FileParser::read_event_field(const char* key, json::value value) {
  switch (key[0]) {
    case 'p':
      if (is(key, "ph")) {
        const std::string_view phase = inner(token_of(value));
        event_.phase = phase.empty() ? '\0' : phase.front();
      } else if (is(key, "pid")) {
        event_.pid = token_of(value);
      }
      break;
    case 'c':
      if (is(key, "cat")) {
        event_.kind = kinds_.find(token_of(value));
        names_nodes_ = inner(token_of(value)) == "Operator";
        event_.has_kind = true;
      }
      break;
    case 'n':
      if (is(key, "name")) event_.name = token_of(value);
      break;
    case 't':
      if (is(key, "ts")) event_.ts = token_of(value);
      if (is(key, "tid")) event_.tid = token_of(value);
      break;
    case 'd':
      if (is(key, "dur")) event_.dur = token_of(value);
      break;
    case 'i':
      if (is(key, "id")) event_.id = token_of(value);
      break;
    case 'a':
      if (is(key, "args") && !skips_args()) read_args(value);
      break;
    default:
      break;
  }
}

// Most of a file's text is args of operators that say nothing about time. Where they are spelled as
// in 2021, what they say of autograd is all that tells forward from the rest.
bool FileParser::skips_args() const {
  if (is_own_ || event_.phase == 0 || (event_.has_kind && names_nodes_)) return false;
  if (event_.phase == 's' || event_.phase == 'f') return true;
  if (event_.phase != 'X' || !event_.has_kind) return false;
  return !is_on_device(event_.kind) && event_.kind != EventKind::kRuntime;
}

void FileParser::read_args(json::value value) {
  if (!is_object(value)) return;
  event_.has_args = true;
  const bool counter = event_.phase == 'C' || event_.phase == 0;
  each_field(value, [&](const char* key, json::value arg) {
    if (counter) event_.series.emplace_back(key_token(key), token_of(arg));
    read_arg(key, arg, event_.args);
    if (is_own_) read_own_arg(key, arg, event_.own);
  });
}

std::string FileParser::fault(simdjson::error_code error, const char* location) const {
  const auto last = text_.find_last_not_of(" \t\r\n");
  if (last == text_.npos) return "holds nothing; name a trace that a profiler has written";
  if (is_nsight_report(name_, text_))
    return "is a report of Nsight Systems; name a Chrome trace, such as PyTorch's profiler writes "
           "with export_chrome_trace";
  if (error == simdjson::UTF8_ERROR)
    return "is no JSON text: byte " + std::to_string(first_bad_utf8(text_) + skipped_) +
           " is not UTF-8; name a Chrome trace, such as PyTorch's profiler writes";
  if (error == simdjson::MEMALLOC || error == simdjson::CAPACITY)
    return "does not fit into this machine's memory; record fewer steps";
  if (json_begins(text_) == text_.npos)
    return "is no JSON text: it begins with neither { nor [; name a Chrome trace, such as "
           "PyTorch's profiler writes";
  const std::size_t end = json_ends(text_);
  if (end == text_.npos)
    return "the JSON ends early, at byte " + std::to_string(text_.size() + skipped_) +
           "; was the file cut off while it was written or copied?";
  if (end <= last)
    return "holds more behind its JSON value, as files of one value a line do; name a Chrome "
           "trace, such as PyTorch's profiler writes";
  std::string sentence = "the JSON is broken";
  const auto control = std::ranges::find_if(
      text_, [](char c) { return c >= 0 && c < 0x20 && c != '\t' && c != '\r' && c != '\n'; });
  if (error == simdjson::UNESCAPED_CHARS && control != text_.end())
    sentence +=
        " at byte " + std::to_string(static_cast<std::size_t>(control - text_.begin()) + skipped_);
  else if (location >= text_.data() && location <= text_.data() + text_.size())
    sentence += " near byte " +
                std::to_string(static_cast<std::size_t>(location - text_.data()) + skipped_);
  return sentence + " (" + simdjson::error_message(error) + "); record or export the trace again";
}

void FileParser::fail_schema(const std::string& found) const {
  throw InputError(name_ + ": holds " + found +
                   ", where a Chrome trace has a list \"traceEvents\"; name a trace such as "
                   "PyTorch's profiler writes");
}

}  // namespace

FileHeader parse_chrome(std::string_view name, const PaddedBytes& bytes, EventSink& sink) {
  return FileParser(name, bytes, sink).parse();
}

}  // namespace trainscope::trace::chrome
