// Whether memory is given back only behind what uses it: a free is work of the stream that the
// buffer was allocated for, and a GPU's memory pool gives the bytes away once that stream is there.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "support/program_order.h"

namespace trainscope::test {

class FreedInOrder {
 public:
  explicit FreedInOrder(const program::Program& program, int rank = 0)
      : program_(program), clocks_(program.streams.size()), events_(program.events) {
    in_order(program, rank, [this](const program::Command& command) {
      std::visit([this](const auto& action) { look(action); }, command.action);
    });
  }

  // The buffers that were freed too early, with the stream that still uses them.
  const std::set<std::string>& too_early() const { return too_early_; }
  int frees() const { return frees_; }

 private:
  using Index = program::Index;
  using Clock = std::map<Index, int>;  // how much of each stream's work is done

  static void join(Clock& clock, const Clock& other) {
    for (const auto& [stream, count] : other) clock[stream] = std::max(clock[stream], count);
  }
  Index memory_of(Index buffer) const {
    const auto view = views_.find(buffer);
    return view == views_.end() ? buffer : memory_of(view->second);
  }
  void use(Index buffer, Index stream) {
    uses_[memory_of(buffer)][stream] = clocks_[stream][stream];
  }
  void begin(Index stream) {
    join(clocks_[stream], host_);
    ++clocks_[stream][stream];
  }

  template <typename Other>
  void look(const Other&) {}
  void look(const program::Alloc& alloc) {
    streams_[alloc.buffer] = alloc.stream;
    uses_.erase(alloc.buffer);
  }
  void look(const program::View& view) { views_[view.view] = view.of; }
  void look(const program::Launch& launch) {
    begin(launch.stream);
    const program::Operation& operation = program_.operations[launch.operation];
    for (const auto* list : {&operation.reads, &operation.writes})
      for (const Index buffer : *list) use(buffer, launch.stream);
  }
  void look(const program::Collective& collective) {
    if (collective.after != program::kNoIndex)
      join(clocks_[collective.stream], clocks_[collective.after]);
    begin(collective.stream);
    for (const Index payload : {collective.send, collective.receive})
      if (payload != program::kNoIndex)
        for (const Index buffer : program_.payloads[payload]) use(buffer, collective.stream);
  }
  void look(const program::RecordEvent& record) {
    events_[record.event] = clocks_[record.stream];
    join(events_[record.event], host_);
  }
  void look(const program::StreamWait& wait) { join(clocks_[wait.stream], events_[wait.event]); }
  void look(const program::EventSync& sync) { join(host_, events_[sync.event]); }
  void look(const program::StreamSync& sync) { join(host_, clocks_[sync.stream]); }
  void look(const program::DeviceSync&) {
    for (const Clock& clock : clocks_) join(host_, clock);
  }
  void look(const program::Free& free) {
    const auto stream = streams_.find(free.buffer);
    if (stream == streams_.end()) return;
    ++frees_;
    Clock& own = clocks_[stream->second];
    join(own, host_);
    for (const auto& [other, when] : uses_[free.buffer])
      if (own[other] < when)
        too_early_.insert(program_.buffers[free.buffer].name + ": " + program_.streams[other].name);
  }

  const program::Program& program_;
  std::vector<Clock> clocks_;
  std::vector<Clock> events_;
  Clock host_;
  std::map<Index, Index> streams_;  // that buffers were allocated for
  std::map<Index, Index> views_;
  std::map<Index, Clock> uses_;  // by memory: the last work of each stream that used it
  std::set<std::string> too_early_;
  int frees_ = 0;
};

}  // namespace trainscope::test
