#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "support/built_program.h"

using namespace trainscope;
using program::Program;
using test::listing_of;
using test::program_of;

namespace {

constexpr std::int64_t kBytes = 100 << 20;  // PyTorch gives blocks of powers of two
constexpr std::int64_t kBlock = 128 << 20;

Program pinned(const std::vector<std::string>& more) {
  std::vector<std::string> settings{"workload=copy", "copy.memory=pinned", "copy.count=5",
                                    "copy.bytes=" + std::to_string(kBytes)};
  settings.insert(settings.end(), more.begin(), more.end());
  return program_of(settings);
}

// What a program pins, and from where it copies.
struct Pinned {
  std::vector<std::int64_t> locked;
  std::vector<std::int64_t> copied;
  std::vector<program::Index> from;
};

Pinned what_is_pinned(const Program& program) {
  Pinned found;
  for (const auto& command : program.threads[0].commands) {
    if (const auto* alloc = std::get_if<program::HostAlloc>(&command.action)) {
      found.locked.push_back(alloc->bytes);
    } else if (const auto* copy = std::get_if<program::HostCopy>(&command.action)) {
      found.copied.push_back(copy->bytes);
    } else if (const auto* sent = std::get_if<program::Copy>(&command.action)) {
      found.from.push_back(sent->from);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("memory that is pinned ahead costs a program of copies nothing") {
  const Program program = pinned({});
  const Pinned found = what_is_pinned(program);
  CHECK(found.locked.empty());
  CHECK(found.copied.empty());
  CHECK(listing_of(program).find("pin_memory=True") != std::string::npos);
}

TEST_CASE("a tensor that is pinned once is locked and copied before all copies to the GPU") {
  const Program program = pinned({"copy.pin=once"});
  const Pinned found = what_is_pinned(program);
  CHECK(found.locked == std::vector{kBlock});
  CHECK(found.copied == std::vector{kBytes});
  CHECK(found.from.size() == 5);
  CHECK(std::set(found.from.begin(), found.from.end()).size() == 1);
  CHECK(program.buffers[found.from[0]].kind == program::MemoryKind::kPinned);
  CHECK(program.buffers[0].kind == program::MemoryKind::kPageable);
  const std::string listing = listing_of(program);
  CHECK(listing.find("x = x.pin_memory()\nfor i in range(5):") != std::string::npos);
  CHECK(listing.find("pin_memory=True") == std::string::npos);
}

TEST_CASE("pinning once is of the only step, and of none of several") {
  for (const bool one : {true, false}) {
    const Program program = pinned({"copy.pin=once", one ? "steps=1" : "steps=3"});
    const auto& commands = program.threads[0].commands;
    const auto place = [&](auto action) {
      return std::ranges::find_if(commands, [](const program::Command& command) {
        return std::holds_alternative<decltype(action)>(command.action);
      });
    };
    CHECK((place(program::BeginMark{}) < place(program::HostAlloc{})) == one);
  }
}

TEST_CASE("a tensor that is pinned in the loop is copied each time; its blocks are used again") {
  for (const bool waits : {true, false}) {
    CAPTURE(waits);
    const Program program = pinned(
        {"copy.pin=each", waits ? "transfer.non_blocking=false" : "transfer.non_blocking=true"});
    const Pinned found = what_is_pinned(program);
    // A copy that is not waited for still reads its block while the next tensor is pinned.
    CHECK(found.locked == std::vector<std::int64_t>(waits ? 1 : 2, kBlock));
    CHECK(found.copied == std::vector<std::int64_t>(5, kBytes));
    REQUIRE(found.from.size() == 5);
    for (std::size_t i = 1; i < found.from.size(); ++i)
      CHECK((found.from[i] == found.from[i - 1]) == waits);
    CHECK(listing_of(program).find("    y.copy_(x.pin_memory(), non_blocking=") !=
          std::string::npos);
  }
}

TEST_CASE("only what goes from pageable memory to the GPU is pinned on the way") {
  for (const char* way : {"copy.direction=d2h", "copy.direction=d2d", "copy.memory=pageable"})
    for (const char* when : {"copy.pin=once", "copy.pin=each"})
      CHECK(listing_of(pinned({way, when})) == listing_of(pinned({way})));
}
