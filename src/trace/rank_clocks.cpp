#include "trace/rank_clocks.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/median.h"
#include "base/units.h"
#include "trace/hour.h"
#include "trace/same_collectives.h"

namespace trainscope::trace {
namespace {

constexpr Nanos kFar = Nanos{1} << 60;  // a file may claim any time

// How much later a trace's time 0 is set than the first's, as their recorders' clocks have it;
// nothing: they do not say.
std::optional<Nanos> by_recorders(const Trace& first, const Trace& other) {
  const Nanos a = first.origin().clock_start, b = other.origin().clock_start;
  Nanos apart = 0;
  if (a == 0 || b == 0 || __builtin_sub_overflow(a, b, &apart)) return std::nullopt;
  if (apart <= -kHour || apart >= kHour) return std::nullopt;
  return apart;
}

// A trace and its part of each collective.
struct Rank {
  const Trace& trace;
  const Collectives& collectives;
  const Span& span(SpanId id) const { return trace.spans()[id]; }
  const std::string& operation(SpanId id) const {
    return collective_of(trace, span(id))->operation;
  }
};

// How much later than one trace has it the other has the end of each collective that both have.
std::vector<Nanos> ends_apart(const Rank& one, const Rank& other) {
  std::vector<Nanos> apart;
  for (const auto& [key, id] : other.collectives)
    if (const auto same = one.collectives.find(key);
        same != one.collectives.end() && ends_together(key.operation))
      apart.push_back(other.span(id).end() - one.span(same->second).end());
  return apart;
}

bool sends(const std::string& operation) {
  return operation == "send" || operation == "send_recv";
}
bool receives(const std::string& operation) {
  return operation == "recv" || operation == "send_recv";
}

// How much later one clock is than another.
struct Apart {
  Nanos later = 0;
  Nanos uncertain = 0;
};

// By what two ranks send to each other; nothing unless both do.
std::optional<Apart> by_messages(const Rank& one, const Rank& other) {
  std::optional<Nanos> least, most;
  for (const auto& [key, id] : other.collectives) {
    const auto same = one.collectives.find(key);
    if (same == one.collectives.end() || key.members != 2) continue;
    const Span &a = one.span(same->second), &b = other.span(id);
    const std::string &of_a = one.operation(same->second), &of_b = other.operation(id);
    if (sends(of_a) && receives(of_b)) most = std::min(most.value_or(kFar), b.end() - a.start);
    if (sends(of_b) && receives(of_a)) least = std::max(least.value_or(-kFar), b.start - a.end());
  }
  if (!least || !most) return std::nullopt;
  const Nanos width = *most - *least;  // below 0 where a clock runs faster than the other
  Apart found{*least + width / 2, std::abs(width) / 2};
  if (const auto told = by_recorders(one.trace, other.trace);
      told && *told >= *least && *told <= *most)
    found = {*told, std::max(*told - *least, *most - *told)};
  return found;
}

// From the first trace on, one trace after another.
class Clocks {
 public:
  Clocks(const std::vector<const Trace*>& ranks, int world)
      : ranks_(ranks),
        collectives_(same_collectives(ranks, std::max(world, static_cast<int>(ranks.size())))),
        joined_(ranks.size()),
        by_messages_(ranks.size()) {
    offsets_.later.resize(ranks.size());
  }

  ClockOffsets find() {
    join(0, {});
    // Who shares ends with one that is joined; then who has the surest messages with one.
    for (std::size_t next = 0; true; ++next) {
      if (next < by_ends_.size()) {
        if (!joined_[by_ends_[next].rank]) join(by_ends_[next].rank, by_ends_[next].apart);
      } else if (!join_by_messages()) {
        break;
      } else {
        --next;
      }
    }
    for (std::size_t i = 1; i < ranks_.size(); ++i) {
      if (joined_[i]) continue;
      offsets_.unjoined.push_back(static_cast<int>(i));
      offsets_.later[i] = by_recorders(*ranks_[0], *ranks_[i]).value_or(0);
    }
    return std::move(offsets_);
  }

 private:
  struct Found {
    std::size_t rank = 0;
    Apart apart;  // from the first trace
  };

  // A copy: what is found grows meanwhile.
  void join(std::size_t rank, Apart apart) {
    joined_[rank] = apart;
    offsets_.later[rank] = apart.later;
    offsets_.uncertain = std::max(offsets_.uncertain, apart.uncertain);
    for (std::size_t i = 1; i < ranks_.size(); ++i)
      if (!joined_[i]) look(rank, apart, i);
  }

  // What a joined rank, whose clock is known so, tells of another one's.
  void look(std::size_t from, const Apart& known, std::size_t to) {
    const Rank one{*ranks_[from], collectives_[from]}, other{*ranks_[to], collectives_[to]};
    const auto is_near = [&](Nanos apart) {
      return known.later + apart > -kFar && known.later + apart < kFar;
    };
    if (const std::vector<Nanos> ends = ends_apart(one, other); !ends.empty()) {
      const Nanos apart = median(ends);
      if (!is_near(apart)) return;
      by_ends_.push_back({to, {known.later + apart, known.uncertain}});
      offsets_.by_ends = true;
    } else if (const auto apart = by_messages(one, other); apart && is_near(apart->later)) {
      const Apart found{known.later + apart->later, known.uncertain + apart->uncertain};
      auto& best = by_messages_[to];
      if (!best || found.uncertain < best->uncertain) best = found;
    }
  }

  bool join_by_messages() {
    std::optional<Found> best;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      if (const auto& one = by_messages_[i];
          one && !joined_[i] && (!best || one->uncertain < best->apart.uncertain))
        best = Found{i, *one};
    if (!best) return false;
    offsets_.by_messages = true;
    join(best->rank, best->apart);
    return true;
  }

  const std::vector<const Trace*>& ranks_;
  std::vector<Collectives> collectives_;
  std::vector<std::optional<Apart>> joined_;
  std::vector<Found> by_ends_;  // in the order in which they are found
  std::vector<std::optional<Apart>> by_messages_;
  ClockOffsets offsets_;
};

}  // namespace

ClockOffsets clock_offsets(const std::vector<const Trace*>& ranks, int world) {
  return Clocks(ranks, world).find();
}

std::string clock_words(const ClockOffsets& offsets) {
  if (!offsets.by_ends && !offsets.by_messages) return "";
  std::string words = "their clocks laid on one another by ";
  if (offsets.by_ends) words += "the ends of collectives";
  if (offsets.by_ends && offsets.by_messages) words += " and by ";
  if (offsets.by_messages)
    words += "what they send each other, to within " +
             format_nanos(static_cast<double>(offsets.uncertain));
  return words;
}

}  // namespace trainscope::trace
