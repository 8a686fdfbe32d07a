#include "cuda/thread_run.h"

namespace trainscope::cuda {

// Of the calls that one thread makes for several ranks, one after the other (ncclGroupStart,
// ncclGroupEnd), the next.
bool ThreadRun::goes_on_with(const program::Collective& collective) const {
  const std::vector<Command>& commands = run_.program_.threads[thread_].commands;
  if (next_ == commands.size()) return false;
  const auto* next = std::get_if<program::Collective>(&commands[next_].action);
  return next && next->communicator == collective.communicator &&
         next->sequence == collective.sequence;
}

// The rank's call is a span of its own; what comes after it is the wait for other ranks' threads.
void ThreadRun::collective(const Command& command, const program::Collective& collective) {
  Call call;
  call.id = ++run_.next_call_;
  call.line = command.line;
  call.stream = collective.stream;
  call.collective = &collective;
  log_.calls.push_back(call);
  group_.push_back(
      {run_.program_.streams[collective.stream].device, call.id, command.line, &collective});
  HostSpan span;
  span.word = "collective";
  span.name = command.name;
  span.line = command.line;
  span.call = call.id;
  span.start = span.end = device_.now();
  log_.spans.push_back(span);
  if (goes_on_with(collective)) return;
  const std::size_t mine = log_.spans.size() - 1;
  const std::vector<RankCall> group = std::exchange(group_, {});
  bool is_last = false;
  const auto note_end = [&] {
    HostSpan& last = log_.spans[mine];
    if (is_last) {
      last.end = device_.now();
      return;
    }
    HostSpan held = last;
    held.end = device_.now();
    held.call = 0;
    held.word = "waits for the other ranks";
    held.name = program::kNoIndex;
    held.category = trace::Category::kHeld;
    held.cause = trace::Cause::kPeer;
    log_.spans.push_back(held);
  };
  try {
    run_.meetings_.arrive(group, [&](const std::vector<RankCall>& calls) {
      is_last = true;
      run_.carry_out(calls, log_);
    });
  } catch (...) {
    note_end();
    throw;
  }
  note_end();
}

}  // namespace trainscope::cuda
