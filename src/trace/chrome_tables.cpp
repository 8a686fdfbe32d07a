#include "trace/chrome_tables.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/demangled.h"
#include "trace/chrome_text.h"

namespace trainscope::trace::chrome {
namespace {

constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;

std::uint64_t mix(std::uint64_t value) {
  value *= kMix;
  return value ^ value >> 32;
}

std::uint64_t load(const char* at, std::size_t size) {
  std::uint64_t word = 0;
  if (size > 0) std::memcpy(&word, at, size);  // no text at all may be a null pointer
  return word;
}

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = text.size();
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left > 8; left -= 8, at += 8) hash = mix(hash ^ load(at, 8));
  return mix(hash ^ load(at, left));
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const char *first = text.data(), *end = first + text.size();
  const auto [stop, error] = std::from_chars(first, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace

IdMap::IdMap(std::size_t expected)
    : slots_(std::bit_ceil(std::max<std::size_t>(16, expected * 2))) {}

std::size_t IdMap::slot_of(std::uint64_t id) const {
  std::size_t slot = mix(id) & (slots_.size() - 1);
  while (slots_[slot].value != kNone && slots_[slot].id != id)
    slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

bool IdMap::insert(std::uint64_t id, std::uint32_t value) {
  Slot& slot = slots_[slot_of(id)];
  if (slot.value != kNone) return false;
  slot = {id, value};
  return true;
}

std::uint32_t IdMap::find(std::uint64_t id) const {
  return slots_[slot_of(id)].value;
}

NameId NameTable::find(std::string_view token, Trace& trace) {
  const std::uint64_t hash = hash_text(token);
  for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
    Slot& slot = slots_[at];
    if (slot.id != kNone) {
      if (slot.hash == hash && slot.token == token) return slot.id;
      continue;
    }
    const NameId id = add(token, trace);
    slot = {hash, token, id};
    if (++used_ * 2 > slots_.size()) grow();
    return id;
  }
}

NameId NameTable::add(std::string_view token, Trace& trace) {
  const std::string text = text_of(token);
  const NameId id = trace.intern(demangles_ ? demangled(text) : text);
  for (NameId known = static_cast<NameId>(facts_.size()); known <= id; ++known)
    facts_.push_back(name_facts(trace.name(known)));
  return id;
}

void NameTable::grow() {
  std::vector<Slot> larger(slots_.size() * 2);
  for (const Slot& slot : slots_) {
    if (slot.id == kNone) continue;
    std::size_t at = slot.hash & (larger.size() - 1);
    while (larger[at].id != kNone) at = (at + 1) & (larger.size() - 1);
    larger[at] = slot;
  }
  slots_ = std::move(larger);
}

Label TrackTable::label(std::string_view token) {
  constexpr std::string_view kStream = "stream ";
  const std::string_view text = inner(token);
  if (const auto number = whole_number(text)) return {*number, false};
  if (text.starts_with(kStream))
    if (const auto number = whole_number(text.substr(kStream.size()))) return {*number, false};
  const auto [found, added] =
      text_numbers_.try_emplace(text_of(token), static_cast<std::int64_t>(texts_.size()));
  if (added) texts_.push_back(found->first);
  return {found->second, true};
}

TrackId TrackTable::find(std::string_view pid_token, std::string_view tid_token) {
  // Neighbours in a file are mostly of one thread.
  if (last_ == kNone || pid_token != last_pid_ || tid_token != last_tid_) {
    last_ = find(label(pid_token), label(tid_token));
    last_pid_ = pid_token;
    last_tid_ = tid_token;
  }
  return last_;
}

TrackId TrackTable::find(Label pid, Label tid) {
  const std::uint64_t key = hash(pid, tid);
  Recent& recent = recent_[key & (recent_.size() - 1)];
  if (recent.id == kNone || recent.pid != pid || recent.tid != tid)
    recent = {pid, tid, find_slowly(pid, tid, key)};
  return recent.id;
}

std::uint64_t TrackTable::hash(Label pid, Label tid) {
  const auto word = [](Label label) {
    return static_cast<std::uint64_t>(label.number) * 2 + (label.is_text ? 1 : 0);
  };
  return mix(mix(word(pid)) ^ word(tid));
}

TrackId TrackTable::find_slowly(Label pid, Label tid, std::uint64_t hash) {
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto at = first; at != last; ++at)
    if (tracks_[at->second].pid == pid && tracks_[at->second].tid == tid) return at->second;
  const auto id = static_cast<TrackId>(tracks_.size());
  tracks_.push_back({pid, tid});
  by_hash_.emplace(hash, id);
  return id;
}

}  // namespace trainscope::trace::chrome
