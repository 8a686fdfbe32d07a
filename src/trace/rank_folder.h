// The traces of one job's ranks, a file for each in a folder, as one trace: what PyTorch's profiler
// leaves of a job, and what our own writer writes of a run of several ranks.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "trace/chrome_reader.h"
#include "trace/trace.h"

namespace trainscope::trace {

// The rank that a file's name tells: "rank_3.json.gz", "trace-rank12.pt.trace.json".
std::optional<int> rank_in_name(std::string_view name);

// Whether it is a folder with a trace in it.
bool is_rank_folder(const std::filesystem::path& path);

// Reads each .json and .json.gz in the folder as one rank, which the file says or else its name,
// and merges them (see merge.h); a single file is read as it stands. GPUs that several ranks number
// alike are numbered as the ranks are. Files that cannot be read are left out, and counted in
// dropped(). Where each rank has equally many files that begin at different times, as of a schedule
// that repeats, the first of each are read, and the origin says so.
//
// Throws InputError, one sentence naming the file or folder, where there is no trace that can be
// read, a rank is not told or there twice otherwise, or runs of different kinds are mixed.
std::unique_ptr<Trace> read_rank_folder(const std::filesystem::path& folder,
                                        const ReadOptions& options = {});

}  // namespace trainscope::trace
