#include "trace/chrome_reader.h"

#include <new>

#include "base/error.h"
#include "trace/chrome_assemble.h"
#include "trace/mend.h"
#include "trace/ranks.h"

namespace trainscope::trace {
namespace {

// More ranks than any job has: a number beyond is damage.
constexpr std::int64_t kMostRanks = 1 << 20;

// `name` goes into messages, `subject` onto the badge.
RankTrace read(std::string_view name, const std::string& subject, const PaddedBytes& json,
               std::optional<int> otherwise = std::nullopt) try {
  chrome::Collector collector;
  chrome::FileHeader header = chrome::parse_chrome(name, json, collector);
  RankTrace read;
  if (header.rank && *header.rank >= 0 && *header.rank < kMostRanks)
    read.rank = static_cast<int>(*header.rank);
  else if (otherwise)
    header.rank = read.rank = otherwise;
  if (header.world > 0 && header.world <= kMostRanks) read.world = static_cast<int>(header.world);
  read.ours = header.own.has_value();
  read.trace = chrome::assemble(collector.finish(), header, subject);
  return read;
} catch (const std::bad_alloc&) {
  throw InputError(std::string(name) +
                   ": does not fit into this machine's memory; record fewer steps");
}

RankTrace mend_and_read(std::string_view name, const std::string& subject, PaddedBytes json,
                        std::optional<int> otherwise = std::nullopt) {
  const std::int64_t replaced = mend(json);
  RankTrace result = read(name, subject, json, otherwise);
  if (replaced > 0)
    result.trace->add_dropped({"byte that is not UTF-8, read as \"?\"", replaced, false});
  return result;
}

// A file of another program that is read alone says which rank of its job it is; what ours has
// written comes back as it was.
std::unique_ptr<Trace> alone(RankTrace read) {
  if (read.ours || !read.rank || read.world < 2 || ranks_of(*read.trace).size() != 1)
    return std::move(read.trace);
  Origin origin = read.trace->origin();
  origin.detail += (origin.detail.empty() ? "rank " : ", rank ") + std::to_string(*read.rank) +
                   " of " + std::to_string(read.world);
  read.trace->set_origin(std::move(origin));
  return std::move(read.trace);
}

}  // namespace

std::unique_ptr<Trace> read_chrome_trace(const std::filesystem::path& path,
                                         const ReadOptions& options) {
  return alone(
      mend_and_read(path.string(), path.filename().string(), load_text(path, options.max_bytes)));
}

RankTrace read_rank_trace(const std::filesystem::path& path, const std::string& subject,
                          std::optional<int> otherwise, const ReadOptions& options) {
  return mend_and_read(path.string(), subject, load_text(path, options.max_bytes), otherwise);
}

std::unique_ptr<Trace> read_chrome_trace(std::string_view name, std::string_view bytes,
                                         const ReadOptions& options) {
  return alone(mend_and_read(name, std::string(name), load_text(name, bytes, options.max_bytes)));
}

std::unique_ptr<Trace> read_chrome_trace(std::string_view name, const PaddedBytes& json) {
  return alone(read(name, std::string(name), json));
}

}  // namespace trainscope::trace
