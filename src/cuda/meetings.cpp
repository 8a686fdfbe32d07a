#include "cuda/meetings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/rank_words.h"
#include "base/units.h"

namespace trainscope::cuda {
namespace {

std::string words(const program::Collective& one) {
  return fmt::format("{} of {} bytes", program::name_of(one.kind), one.bytes);
}

}  // namespace

Meetings::Meetings(const program::Program& program, DeviceCalls& device, HostWaits& waits,
                   Nanos time_out)
    : program_(program), device_(device), waits_(waits), time_out_(time_out) {
  waits_.explain([this] { return standstill(); });
}

bool Meetings::is_complete(const Key& key, const Meeting& meeting) const {
  return meeting.calls.size() ==
         static_cast<std::size_t>(program_.communicators[key.first].simulated);
}

void Meetings::require_same(const RankCall& known, const RankCall& other) const {
  const program::Collective &a = *known.collective, &b = *other.collective;
  if (known.rank == other.rank)
    throw InputError(fmt::format("rank {} calls collective {} of the {} twice", known.rank,
                                 a.sequence, program_.communicators[a.communicator].name));
  if (a.kind == b.kind && a.bytes == b.bytes) return;
  throw InputError(fmt::format(
      "the ranks do not call for the same as collective {} of the {}: rank {} calls for {} at line "
      "{}, rank {} for {} at line {}",
      a.sequence, program_.communicators[a.communicator].name, known.rank, words(a), known.line,
      other.rank, words(b), other.line));
}

std::string Meetings::who_waits(const Key& key, const Meeting& meeting) const {
  std::vector<int> waiting, missing;
  const program::Communicator& group = program_.communicators[key.first];
  for (int i = 0; i < group.ranks; ++i) {
    const int rank = group.gpu_of(i);
    const bool here = std::any_of(meeting.calls.begin(), meeting.calls.end(),
                                  [&](const RankCall& call) { return call.rank == rank; });
    (here ? waiting : missing).push_back(rank);
  }
  return fmt::format("in collective {} ({}) of the {} at line {}, {} {} for {}", key.second,
                     program::name_of(meeting.calls.front().collective->kind),
                     program_.communicators[key.first].name, meeting.calls.front().line,
                     rank_words(waiting), waiting.size() == 1 ? "waits" : "wait",
                     rank_words(missing));
}

// No thread is left that could bring the missing ranks.
std::string Meetings::standstill() const {
  for (const auto& [key, meeting] : meetings_)
    if (!is_complete(key, meeting))
      return who_waits(key, meeting) +
             ", which cannot come any more; give every rank as many batches";
  return "";
}

void Meetings::require_in_time(const Key& key, const Meeting& meeting) {
  if (device_.now() - meeting.first <= time_out_) return;
  throw Error(Fault::kFailed, who_waits(key, meeting) + ", which did not come within " +
                                  format_nanos(static_cast<double>(time_out_)) +
                                  "; look at what that rank does instead");
}

void Meetings::add(const Key& key, const std::vector<RankCall>& calls) {
  Meeting& meeting = meetings_[key];
  if (meeting.calls.empty()) {
    meeting.first = device_.now();
  } else {
    require_in_time(key, meeting);
  }
  for (const RankCall& call : calls) {
    for (const RankCall& known : meeting.calls) require_same(known, call);
    meeting.calls.push_back(call);
  }
  std::sort(meeting.calls.begin(), meeting.calls.end(),
            [](const RankCall& a, const RankCall& b) { return a.rank < b.rank; });
}

// The one who comes last has the calls to itself: all others wait.
void Meetings::arrive(const std::vector<RankCall>& calls,
                      const std::function<void(const std::vector<RankCall>&)>& carry_out) {
  const program::Collective& first = *calls.front().collective;
  const Key key{first.communicator, first.sequence};
  Meeting* meeting = nullptr;  // stays where it is until the last has left it
  bool is_last = false;
  waits_.change([&] {
    add(key, calls);
    meeting = &meetings_[key];
    is_last = is_complete(key, *meeting);
    ++meeting->present;
  });
  if (is_last) {
    carry_out(meeting->calls);
    waits_.change([&] { meeting->done = true; });
  } else {
    waits_.wait_for([&] { return meeting->done; },
                    [&] {
                      if (!is_complete(key, *meeting)) require_in_time(key, *meeting);
                    });
  }
  waits_.change([&] {
    if (--meeting->present == 0) meetings_.erase(key);
  });
}

}  // namespace trainscope::cuda
