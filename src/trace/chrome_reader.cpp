#include "trace/chrome_reader.h"

#include <new>

#include "base/error.h"
#include "trace/chrome_assemble.h"

namespace trainscope::trace {
namespace {

// `name` goes into messages, `subject` onto the badge.
std::unique_ptr<Trace> read(std::string_view name, const std::string& subject,
                            const PaddedBytes& json) try {
  chrome::Collector collector;
  const chrome::FileHeader header = chrome::parse_chrome(name, json, collector);
  return chrome::assemble(collector.finish(), header, subject);
} catch (const std::bad_alloc&) {
  throw InputError(std::string(name) +
                   ": does not fit into this machine's memory; record fewer steps");
}

}  // namespace

std::unique_ptr<Trace> read_chrome_trace(const std::filesystem::path& path,
                                         const ReadOptions& options) {
  return read(path.string(), path.filename().string(), load_text(path, options.max_bytes));
}

std::unique_ptr<Trace> read_chrome_trace(std::string_view name, std::string_view bytes,
                                         const ReadOptions& options) {
  return read(name, std::string(name), load_text(name, bytes, options.max_bytes));
}

std::unique_ptr<Trace> read_chrome_trace(std::string_view name, const PaddedBytes& json) {
  return read(name, std::string(name), json);
}

}  // namespace trainscope::trace
