// The critical path of the measured steps: the one chain of work, calls and waits from their
// beginning to their end in which each began when the one before it let it. What is not on it may
// take longer without the steps taking longer; what is on it could be shorter, and the steps with
// it, until another chain is the longest.
//
// It is found from the end: what was done last, what that waited for last, and so on. It passes
// from the GPU to the host's thread by the call that launched the work, from there to the GPU by
// what a call waited for, and from a rank to the one that came last to their collective.
//
// What a thread waits for a lock, as the interpreter's, is the host's time on that thread: whoever
// comes first gets a lock, so what its holder did before is nothing that the steps depend on.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/steps/measured.h"
#include "base/speech.h"
#include "base/stopped.h"

namespace trainscope::analysis {

enum class PathPart : std::uint8_t {
  kKernels,
  kCommunication,
  kCopies,   // also memsets
  kStaging,  // the host copies into or out of the driver's pinned buffer; where a trace does not
             // tell that apart, all of a copy of pageable memory
  kHost,     // Python, the framework, calls of CUDA
  kLoading,  // a batch is loaded, or copied into pinned memory
  kLatency,  // from a call to the beginning of what it launched
  kGaps,     // from the end of work to the beginning of what waited for it
  kWakeUps,  // from the end of work to the return of the call that waited for it
  kAbsent,   // a collective waits for ranks whose traces are not here
  kUntold,   // the trace does not tell what was waited for
};
inline constexpr std::size_t kPathPartCount = static_cast<std::size_t>(PathPart::kUntold) + 1;

// As a person reads it: "launch latency".
std::string_view name_of(PathPart part);

struct PathPiece {
  Nanos start = 0;
  Nanos end = 0;
  trace::SpanId span = trace::kNone;  // kNone: between spans
  trace::LaneId lane = trace::kNone;  // that it passes on; kNone: between two
  PathPart part = PathPart::kUntold;
};

struct CriticalPath {
  std::vector<PathPiece> pieces;             // by time; each begins where the one before ends
  std::array<Nanos, kPathPartCount> time{};  // sums to the length of the first rank's window
  bool is_inferred = false;                  // the trace does not say what each span waited for
  int steps = 1;                             // that the times are of together
  Nanos operator[](PathPart part) const { return time[static_cast<std::size_t>(part)]; }
};

// Empty where the window is, and once `stopped`, which is asked now and then, says so. Takes time
// that grows as n log n with the trace's n spans.
CriticalPath critical_path(const Measured& measured, const Stopped& stopped = {});

// What takes longest on it, by the name of its operation.
struct OnPath {
  std::string name;
  Nanos time = 0;  // of all steps
};
std::vector<OnPath> longest_on_path(const CriticalPath& path, const trace::Trace& trace,
                                    std::size_t most);

// "kernels 61 %, host 22 %, launch latency 9 %": the largest first, those of a hundredth and more.
// Empty where no span is on it.
std::string shares_in_words(const CriticalPath& path, const Speech& speech = {});

}  // namespace trainscope::analysis
