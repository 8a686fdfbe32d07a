#include "sim/deadlock.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace trainscope::sim {
namespace {

using program::Command;
using program::Index;

class Explainer {
 public:
  Explainer(const Standstill& standstill, const program::Program& program)
      : standstill_(standstill), program_(program) {}

  std::string explain() const {
    std::string lonely, all;
    for (std::size_t thread = 0; thread < standstill_.next.size(); ++thread) {
      if (!waits(thread)) continue;
      if (const std::vector<std::size_t> cycle = cycle_from(thread); !cycle.empty())
        return "a cycle of waits: " + sentence(cycle, true);
      std::string& text = helpers(thread).empty() && lonely.empty() ? lonely : all;
      text += (text.empty() ? "" : "; ") + sentence({thread}, false);
    }
    return lonely.empty() ? all : lonely;
  }

 private:
  bool waits(std::size_t thread) const {
    return standstill_.next[thread] < program_.threads[thread].commands.size();
  }
  const Command& command(std::size_t thread) const {
    return program_.threads[thread].commands[standstill_.next[thread]];
  }

  // The queue that a thread waits for, and whether to put something in.
  struct QueueWait {
    Index queue;
    bool to_push;
  };
  std::optional<QueueWait> queue_wait(std::size_t thread) const {
    const auto& action = command(thread).action;
    if (const auto* push = std::get_if<program::Push>(&action)) return QueueWait{push->queue, true};
    if (const auto* pop = std::get_if<program::Pop>(&action)) return QueueWait{pop->queue, false};
    if (const auto* take = std::get_if<program::Take>(&action))
      return QueueWait{take->queue, false};
    return std::nullopt;
  }

  // Threads that could still end a thread's wait.
  std::vector<std::size_t> helpers(std::size_t thread) const {
    std::vector<std::size_t> found;
    const auto wait = queue_wait(thread);
    for (std::size_t other = 0; other < standstill_.next.size(); ++other)
      if (other != thread && (wait ? could_serve(other, *wait) : owns_what(other, thread)))
        found.push_back(other);
    return found;
  }
  bool could_serve(std::size_t other, QueueWait wait) const {
    const auto& commands = program_.threads[other].commands;
    for (std::size_t i = standstill_.next[other]; i < commands.size(); ++i) {
      const auto* push = std::get_if<program::Push>(&commands[i].action);
      const auto* pop = std::get_if<program::Pop>(&commands[i].action);
      const auto* take = std::get_if<program::Take>(&commands[i].action);
      if (wait.to_push ? (pop && pop->queue == wait.queue) || (take && take->queue == wait.queue)
                       : push && push->queue == wait.queue)
        return true;
    }
    return false;
  }
  bool owns_what(std::size_t other, std::size_t thread) const {
    const auto* acquire = std::get_if<program::Acquire>(&command(thread).action);
    const Index lock = acquire ? acquire->lock : program_.threads[thread].interpreter;
    return lock < standstill_.lock_owners.size() && standstill_.lock_owners[lock] == other;
  }

  // Threads from `start` on, each waiting for the next, the last for the first; empty: there is no
  // such cycle through `start`.
  std::vector<std::size_t> cycle_from(std::size_t start) const {
    std::vector<std::size_t> path{start};
    while (path.size() <= standstill_.next.size()) {
      const std::vector<std::size_t> next = helpers(path.back());
      if (std::find(next.begin(), next.end(), start) != next.end()) return path;
      const auto onward = std::find_if(next.begin(), next.end(), [&](std::size_t one) {
        return waits(one) && std::find(path.begin(), path.end(), one) == path.end();
      });
      if (onward == next.end()) return {};
      path.push_back(*onward);
    }
    return {};
  }

  std::string sentence(const std::vector<std::size_t>& threads, bool cycle) const {
    std::string text;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      if (!text.empty()) text += "; ";
      text += program_.threads[threads[i]].name + line(command(threads[i])) + " waits for " +
              what(threads[i]) +
              (cycle ? held_by(threads[i], threads[(i + 1) % threads.size()]) : lack(threads[i]));
    }
    return text;
  }
  std::string line(const Command& command) const {
    if (command.line == 0) return "";
    return " (line " + std::to_string(command.line) + ": " +
           std::string(trimmed(program_.listing.lines[command.line - 1u])) + ")";
  }
  std::string what(std::size_t thread) const {
    if (const auto wait = queue_wait(thread))
      return (wait->to_push ? "room in the queue '" : "an item of the queue '") +
             program_.queues[wait->queue].name + "'";
    if (const auto* acquire = std::get_if<program::Acquire>(&command(thread).action))
      return program_.locks[acquire->lock].name;
    return "the device";
  }
  std::string held_by(std::size_t thread, std::size_t other) const {
    const std::string& name = program_.threads[other].name;
    const auto wait = queue_wait(thread);
    return wait ? (wait->to_push ? ", which " + name + " empties" : ", which " + name + " fills")
                : ", which " + name + " holds";
  }
  std::string lack(std::size_t thread) const {
    const auto wait = queue_wait(thread);
    if (!wait || !helpers(thread).empty()) return "";
    return wait->to_push ? ", which nothing empties any more" : ", which nothing fills any more";
  }

  const Standstill& standstill_;
  const program::Program& program_;
};

}  // namespace

std::string explain(const Standstill& standstill, const program::Program& program) {
  return Explainer(standstill, program).explain();
}

}  // namespace trainscope::sim
