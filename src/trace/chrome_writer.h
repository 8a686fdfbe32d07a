// Writes a trace as Chrome-trace JSON with PyTorch's names, so that HTA, Perfetto and
// chrome://tracing read it. What PyTorch has no name for stands in args called "Trainscope ..." and
// in the object "trainscope", from which our reader restores the trace exactly: lanes, spans,
// flows, samples, details, origin.
//
// Same trace, same options → same bytes. The text is strictly valid JSON whatever the names hold.
// A trace that is still being written is written as far as it was at the call.
#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace trainscope::trace {

// One entry of the file's `deviceProperties`; 0: unknown, left out.
struct DeviceProperties {
  int id = 0;
  std::string name;
  std::int64_t total_memory = 0;  // bytes
  int compute_major = 0;
  int compute_minor = 0;
  int max_threads_per_block = 0;
  int max_threads_per_multiprocessor = 0;
  std::int64_t registers_per_block = 0;
  std::int64_t registers_per_multiprocessor = 0;
  std::int64_t shared_per_block = 0;  // bytes
  std::int64_t shared_per_block_optin = 0;
  std::int64_t shared_per_multiprocessor = 0;
  int warp_size = 32;
  int multiprocessors = 0;
};

struct WriteOptions {
  std::vector<DeviceProperties> devices;
  bool sync_records = true;       // HTA counts those on a stream as busy time
  std::optional<int> rank;        // only this rank's lanes; else all
  std::optional<int> world_size;  // else as many as the trace has ranks
  int warmup_steps = 0;           // that metrics leave out; read again as the origin's
  std::string ended_early;        // why the run did; read again as the origin's
};

void write_chrome_trace(const Trace& trace, std::ostream& out, const WriteOptions& options = {});

// Gzipped if the name ends in ".gz". Throws InputError when the file cannot be written.
void write_chrome_trace(const Trace& trace, const std::filesystem::path& path,
                        const WriteOptions& options = {});

// One file a rank, "rank_0.json.gz" and so on, as HTA reads a distributed run: of each its part
// (ranks.h). Where one rank stands for all, every rank of the world has its file. `ending`: .json
// or .json.gz. Throws InputError when one cannot be written.
void write_chrome_folder(const Trace& trace, const std::filesystem::path& folder,
                         const WriteOptions& options = {}, const std::string& ending = ".json.gz");

}  // namespace trainscope::trace
