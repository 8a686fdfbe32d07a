// Reads Chrome-trace JSON: what PyTorch's profiler (Kineto) writes, in its schemas since 2021, and
// what our own writer writes, which comes back exactly.
//
// Plain or gzipped, up to 4 GB of JSON. Events that cannot be kept are counted as Dropped with the
// reason: spans() and dropped_events() together are the file's complete ("X") events. Time 0 is the
// first span or sample of a foreign file; its clock then stands in Origin::clock_start.
//
// Throws InputError, one sentence naming the file and where known the byte, when the file is
// missing, damaged, too long or no trace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "trace/padded_bytes.h"
#include "trace/trace.h"

namespace trainscope::trace {

struct ReadOptions {
  std::uint64_t max_bytes = kMaxTextBytes;  // of JSON, once unpacked
};

std::unique_ptr<Trace> read_chrome_trace(const std::filesystem::path& path,
                                         const ReadOptions& options = {});

// What a file says of the job that its trace is one rank of.
struct RankTrace {
  std::unique_ptr<Trace> trace;
  std::optional<int> rank;
  int world = 0;      // the job's ranks; 0: not known
  bool ours = false;  // our writer has written it
};

// `subject` stands in the origin. `otherwise`: the rank of a file that does not say it.
RankTrace read_rank_trace(const std::filesystem::path& path, const std::string& subject,
                          std::optional<int> otherwise, const ReadOptions& options = {});

// From memory; `name` stands for the file's name in the trace's origin and in messages.
std::unique_ptr<Trace> read_chrome_trace(std::string_view name, std::string_view bytes,
                                         const ReadOptions& options = {});

// From JSON that is in a padded buffer already (see load_text).
std::unique_ptr<Trace> read_chrome_trace(std::string_view name, const PaddedBytes& json);

}  // namespace trainscope::trace
