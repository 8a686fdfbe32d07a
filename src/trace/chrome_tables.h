// Hash tables for the reading of Chrome traces: names by their text in the file, numbers by ids,
// tracks by pid and tid.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/chrome_words.h"
#include "trace/trace.h"

namespace trainscope::trace::chrome {

// From a 64-bit id to an index; the first value of an id stays.
class IdMap {
 public:
  explicit IdMap(std::size_t expected);
  bool insert(std::uint64_t id, std::uint32_t value);  // false if the id is there already
  std::uint32_t find(std::uint64_t id) const;          // kNone if it is not

 private:
  struct Slot {
    std::uint64_t id = 0;
    std::uint32_t value = kNone;
  };
  std::size_t slot_of(std::uint64_t id) const;
  std::vector<Slot> slots_;
};

// Interns names by their token, so that a name is unescaped and judged once.
class NameTable {
 public:
  // C++ names as the linker has them become those that programmers wrote, if `demangles`.
  explicit NameTable(bool demangles = false) : demangles_(demangles) {}

  NameId find(std::string_view token, Trace& trace);
  const NameFacts& facts(NameId id) const { return facts_[id]; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::string_view token;
    NameId id = kNone;
  };
  NameId add(std::string_view token, Trace& trace);
  void grow();

  bool demangles_;
  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::size_t used_ = 0;
  std::vector<NameFacts> facts_;  // by NameId
};

// A pid or tid: a number where the file has one in whatever form ("25738", "stream 7"), else text.
struct Label {
  std::int64_t number = 0;  // of a text: its place in TrackTable::text
  bool is_text = false;
  auto operator<=>(const Label&) const = default;
};

using TrackId = std::uint32_t;

// The pairs of pid and tid in a file. Keeps the tokens it was asked for last: the text must live as
// long.
class TrackTable {
 public:
  struct Track {
    Label pid, tid;
  };
  TrackId find(std::string_view pid_token, std::string_view tid_token);
  TrackId find(Label pid, Label tid);
  Label label(std::string_view token);
  const Track& operator[](TrackId id) const { return tracks_[id]; }
  std::size_t size() const { return tracks_.size(); }
  const std::string& text(Label label) const {
    return texts_[static_cast<std::size_t>(label.number)];
  }

 private:
  static std::uint64_t hash(Label pid, Label tid);
  TrackId find_slowly(Label pid, Label tid, std::uint64_t hash);

  struct Recent {
    Label pid, tid;
    TrackId id = kNone;
  };
  std::string_view last_pid_, last_tid_;
  TrackId last_ = kNone;
  std::array<Recent, 64> recent_{};  // by hash: threads and streams take turns in a file
  std::vector<Track> tracks_;
  std::unordered_multimap<std::uint64_t, TrackId> by_hash_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::int64_t> text_numbers_;
};

}  // namespace trainscope::trace::chrome
