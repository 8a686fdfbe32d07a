#include "trace/rank_folder.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/rank_words.h"
#include "trace/merge.h"
#include "trace/rank_clocks.h"
#include "trace/ranks.h"

namespace trainscope::trace {
namespace {

namespace fs = std::filesystem;

struct RankFile {
  fs::path path;
  RankTrace read;

  const Trace& trace() const { return *read.trace; }
};

std::vector<fs::path> traces_in(const fs::path& folder) {
  std::vector<fs::path> files = files_in(folder, ".json");
  for (const fs::path& file : files_in(folder, ".gz"))
    if (file.string().ends_with(".json.gz")) files.push_back(file);
  return files;
}

std::string name_of_folder(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

// Files of a folder: those that can be read, by rank, and which cannot.
struct RankFiles {
  std::vector<RankFile> files;
  std::vector<std::string> broken;  // their names
};

// One that is cut off does not keep the others from being read; that none can be is its fault.
RankFiles read_files(const std::vector<fs::path>& paths, const std::string& subject,
                     const ReadOptions& options) {
  RankFiles read;
  std::optional<InputError> first;
  for (const fs::path& path : paths) {
    const std::string name = path.filename().string();
    try {
      read.files.push_back({path, read_rank_trace(path, subject, rank_in_name(name), options)});
    } catch (const InputError& error) {
      if (!first) first = error;
      read.broken.push_back(name);
    }
  }
  if (read.files.empty()) throw *first;
  for (const RankFile& file : read.files)
    if (!file.read.rank)
      throw InputError(file.path.string() +
                       ": neither the file nor its name says which rank it is of; a folder is read "
                       "as the ranks of one job, so name it as in rank_0.json");
  std::ranges::stable_sort(read.files, {}, [](const RankFile& file) {
    return std::pair(*file.read.rank, file.trace().origin().clock_start);
  });
  return read;
}

// How many recordings each rank has, begun at different times: a profiler whose schedule repeats
// writes a file for each. 1 where ranks have not equally many.
std::size_t recordings_of(const std::vector<RankFile>& files) {
  std::map<int, std::set<Nanos>> begun;
  std::map<int, std::size_t> counts;
  for (const RankFile& file : files) {
    begun[*file.read.rank].insert(file.trace().origin().clock_start);
    ++counts[*file.read.rank];
  }
  const std::size_t each = counts.begin()->second;
  const bool alike = std::ranges::all_of(counts, [&](const auto& one) {
    return one.second == each && begun[one.first].size() == each;
  });
  return alike ? each : 1;
}

// Of each rank its first recording: all of a job began their first one together.
void keep_first_recordings(std::vector<RankFile>& files, std::size_t each) {
  std::vector<RankFile> first;
  for (std::size_t i = 0; i < files.size(); i += each) first.push_back(std::move(files[i]));
  files = std::move(first);
}

void check_ranks(const std::vector<RankFile>& files) {
  for (std::size_t i = 1; i < files.size(); ++i)
    if (files[i].read.rank == files[i - 1].read.rank)
      throw InputError(files[i - 1].path.string() + " and " + files[i].path.filename().string() +
                       " are both of rank " + std::to_string(*files[i].read.rank) +
                       "; a folder is read as the ranks of one job, so move one of them out of it");
}

// Where files say of how many ranks their job was.
void check_worlds(const std::vector<RankFile>& files) {
  const RankFile* first = nullptr;
  for (const RankFile& file : files) {
    if (file.read.world <= 0) continue;
    if (!first) first = &file;
    if (file.read.world != first->read.world)
      throw InputError(first->path.string() + " is of a job of " +
                       std::to_string(first->read.world) + " ranks and " +
                       file.path.filename().string() + " of one of " +
                       std::to_string(file.read.world) +
                       "; a folder is read as the ranks of one job, so move one of them out of it");
  }
}

bool same_origin(const Origin& a, const Origin& b) {
  return a.kind == b.kind && a.subject == b.subject && a.detail == b.detail &&
         a.clock_start == b.clock_start;
}

// Whether our own writer wrote the files of one run. It cuts them from one trace, and ranks that
// were recorded by processes of their own, with clocks of their own, have been laid on the first
// one's as that was put together (analysis/runs/rank_run.cpp). Of another
// recording, the clock that it began by differs.
bool is_one_run(const std::vector<RankFile>& files) {
  const RankFile& first = files.front();
  bool same = first.read.ours;
  for (const RankFile& file : files) {
    const Origin &a = first.trace().origin(), &b = file.trace().origin();
    const bool one = file.read.ours && same_origin(a, b);
    same = same && one;
    if (!one && !(a.kind == OriginKind::kImported && b.kind == OriginKind::kImported))
      throw InputError(first.path.string() + " and " + file.path.filename().string() +
                       " are of different runs; a folder is read as the ranks of one, so move one "
                       "of them out of it");
  }
  return same;
}

// How much further each file's GPUs are to be numbered, so that no two ranks have one in common.
std::vector<int> further_gpus(const std::vector<RankFile>& files) {
  std::vector<std::vector<int>> devices;
  std::set<int> all;
  std::size_t count = 0;
  bool one_each = true;
  for (const RankFile& file : files) {
    devices.push_back(devices_of(file.trace()));
    all.insert(devices.back().begin(), devices.back().end());
    count += devices.back().size();
    one_each = one_each && devices.back().size() <= 1;
  }
  std::vector<int> further(files.size());
  if (all.size() == count) return further;
  int next = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (devices[i].empty()) continue;
    further[i] = (one_each ? *files[i].read.rank : next) - devices[i].front();
    constexpr int kMostGpus = 1 << 10;  // of a process: a number beyond is damage
    next += std::min(devices[i].back() - devices[i].front(), kMostGpus) + 1;
  }
  return further;
}

// How many ranks the job has at least, as a file of it tells; our own says how many, unless its
// header was lost.
int world_of(const RankFile& file, bool own) {
  const int least = *file.read.rank + 1;
  if (own) return file.read.world > 0 ? file.read.world : least;
  int world = std::max(file.read.world, least);
  for_each(file.trace().details(), [&](const Detail& detail, DetailId) {
    if (const auto* one = std::get_if<CollectiveDetail>(&detail))
      world = std::max(world, one->group_size);
  });
  return world;
}

// "2 ranks, their clocks laid on one another by the ends of collectives".
std::string words_of(const Merging& merging, const std::vector<const Trace*>& traces) {
  const int count = static_cast<int>(merging.ranks.size());
  const bool all = merging.world == count;
  if (merging.parts && all) return "";  // it stands there already
  std::string text =
      ", " + (all ? std::to_string(count) + " ranks"
                  : range_words(merging.ranks) + " of " + std::to_string(merging.world));
  if (merging.parts) return text;
  const ClockOffsets clocks = clock_offsets(traces, merging.world);
  if (const std::string words = clock_words(clocks); !words.empty()) text += ", " + words;
  if (clocks.unjoined.empty()) return text;
  std::vector<int> alone;
  for (const int i : clocks.unjoined) alone.push_back(merging.ranks[static_cast<std::size_t>(i)]);
  return text + ", " + range_words(alone) + " without a collective in common with " +
         rank_words({merging.ranks.front()}) + ": by the clock of its file";
}

void tell_what_is_left_out(Trace& merged, const std::vector<RankFile>& files,
                           std::size_t recordings, const std::vector<std::string>& broken) {
  for (const std::string& name : broken)
    merged.add_dropped({"file that cannot be read: " + name, 1, false});
  if (recordings == 1) return;
  Origin origin = merged.origin();
  origin.detail += ", the first of " + std::to_string(recordings) + " recordings of each rank (" +
                   files.front().path.filename().string() +
                   "): move a later one's files into a folder of their own to see it";
  merged.set_origin(std::move(origin));
}

std::unique_ptr<Trace> merge_files(const std::vector<RankFile>& files) {
  Merging merging;
  std::vector<const Trace*> traces;
  merging.parts = is_one_run(files);
  for (const RankFile& file : files) {
    merging.ranks.push_back(*file.read.rank);
    merging.world = std::max(merging.world, world_of(file, merging.parts));
    traces.push_back(&file.trace());
  }
  if (!merging.parts) merging.further = further_gpus(files);
  std::unique_ptr<Trace> merged = merge_ranks(traces, merging);
  Origin origin = merged->origin();
  origin.detail += words_of(merging, traces);
  merged->set_origin(std::move(origin));
  return merged;
}

}  // namespace

std::optional<int> rank_in_name(std::string_view name) {
  std::string text(name);
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view kRank = "rank", kBetween = "_-.= ";
  for (std::size_t at = text.rfind(kRank); at != text.npos;
       at = at == 0 ? text.npos : text.rfind(kRank, at - 1)) {
    std::size_t from = at + kRank.size();
    if (from < text.size() && kBetween.find(text[from]) != kBetween.npos) ++from;
    int rank = 0;
    const auto [end, error] = std::from_chars(text.data() + from, text.data() + text.size(), rank);
    if (error == std::errc() && rank >= 0) return rank;
  }
  return std::nullopt;
}

bool is_rank_folder(const fs::path& path) {
  return is_folder(path) && !traces_in(path).empty();
}

std::unique_ptr<Trace> read_rank_folder(const fs::path& folder, const ReadOptions& options) {
  const std::vector<fs::path> paths = traces_in(folder);
  if (paths.empty())
    throw InputError(folder.string() +
                     ": this folder holds no trace; it is read as the ranks of one job, from a "
                     ".json or .json.gz file for each");
  if (paths.size() == 1) return read_chrome_trace(paths.front(), options);
  auto [files, broken] = read_files(paths, name_of_folder(folder), options);
  const std::size_t recordings = recordings_of(files);
  if (recordings > 1) keep_first_recordings(files, recordings);
  check_ranks(files);
  check_worlds(files);
  std::unique_ptr<Trace> merged = merge_files(files);
  tell_what_is_left_out(*merged, files, recordings, broken);
  return merged;
}

}  // namespace trainscope::trace
