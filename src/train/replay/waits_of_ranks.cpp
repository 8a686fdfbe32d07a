#include "train/replay/waits_of_ranks.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "trace/same_collectives.h"

namespace trainscope::train {
namespace {

bool lacks_ranks(const program::Recording& recording, const program::RecordedWork& work,
                 const trace::CollectiveDetail& one) {
  return work.meeting == program::RecordedWork::kAlone ||
         std::cmp_less(recording.meetings[work.meeting], one.group_size);
}

}  // namespace

std::vector<Nanos> waits_of_ranks(const program::Recording& recording) {
  using Like = std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::string, int>;
  const trace::Trace& trace = *recording.trace;
  std::vector<const trace::CollectiveDetail*> details;
  std::map<Like, Nanos> shortest;
  const auto like = [](const trace::CollectiveDetail& one) {
    return Like(one.operation, one.type, one.elements_in, one.elements_out, one.group + one.members,
                one.group_size);
  };
  for (const program::RecordedWork& work : recording.works) {
    const trace::CollectiveDetail* one = trace::collective_of(trace, trace.spans()[work.span]);
    details.push_back(one && lacks_ranks(recording, work, *one) ? one : nullptr);
    if (!details.back()) continue;
    const auto [known, added] = shortest.try_emplace(like(*details.back()), work.duration);
    if (!added) known->second = std::min(known->second, work.duration);
  }
  std::vector<Nanos> waits;
  for (std::size_t i = 0; i < details.size(); ++i)
    waits.push_back(details[i] ? recording.works[i].duration - shortest.at(like(*details[i])) : 0);
  return waits;
}

}  // namespace trainscope::train
