#include "cuda/clock_shift.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/time_ends.h"

namespace trainscope::cuda {
namespace {

// What the host knows of a call: when it began and returned, and on which stream.
struct Launch {
  const HostSpan* span = nullptr;
  program::Index stream = 0;
};

std::unordered_map<CallId, Launch> launches_of(const std::vector<ThreadLog>& logs) {
  std::unordered_map<CallId, Launch> launches;
  for (const ThreadLog& log : logs)
    for (const Call& call : log.calls)
      if (call.span >= 0)
        launches[call.id] = {&log.spans[static_cast<std::size_t>(call.span)], call.stream};
  return launches;
}

// Of one stream: when the last of the work is done whose call had returned by a time.
class Ends {
 public:
  void add(Nanos returned, Nanos end) { by_return_.emplace_back(returned, end); }
  void finish() {
    std::sort(by_return_.begin(), by_return_.end());
    Nanos latest = -kEndless;
    for (auto& [returned, end] : by_return_) latest = end = std::max(latest, end);
  }
  // -kEndless: there is none.
  Nanos before(Nanos time) const {
    const auto after =
        std::upper_bound(by_return_.begin(), by_return_.end(), std::pair(time, kEndless));
    return after == by_return_.begin() ? -kEndless : std::prev(after)->second;
  }

 private:
  std::vector<std::pair<Nanos, Nanos>> by_return_;
};

// The least time between the end of work and the return of a call that waited for all of it.
Nanos least_wake(const std::vector<ThreadLog>& logs,
                 const std::map<program::Index, Ends>& streams) {
  Nanos least = kEndless;
  for (const ThreadLog& log : logs)
    for (const HostSpan& span : log.spans) {
      if (!span.drains) continue;
      for (const auto& [stream, ends] : streams) {
        if (span.stream != program::kNoIndex && span.stream != stream) continue;
        const Nanos end = ends.before(span.start);
        if (end != -kEndless) least = std::min(least, span.end - end);
      }
    }
  return least;
}

}  // namespace

Nanos clock_shift(const std::vector<ThreadLog>& logs, const std::vector<Activity>& activities) {
  const auto launches = launches_of(logs);
  std::map<program::Index, Ends> streams;
  Nanos least = -kEndless;  // shift
  for (const Activity& one : activities) {
    const auto launch = launches.find(one.call);
    if (launch == launches.end()) continue;
    least = std::max(least, launch->second.span->start - one.start);
    streams[launch->second.stream].add(launch->second.span->end, one.end);
  }
  for (auto& [stream, ends] : streams) ends.finish();
  const Nanos most = least_wake(logs, streams);
  return least_shift(least, most);
}

Nanos least_shift(Nanos least, Nanos most) {
  return least > most ? most + (least - most) / 2 : std::clamp<Nanos>(0, least, most);
}

}  // namespace trainscope::cuda
