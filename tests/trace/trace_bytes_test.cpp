#include "trace/trace_bytes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "trace/random_trace.h"
#include "trace/same_trace.h"

using namespace trainscope;
using namespace trainscope::trace;

namespace {

std::string saved(const Trace& trace) {
  ByteWriter out;
  save_trace(trace, out);
  return out.bytes();
}

std::unique_ptr<Trace> loaded(std::string_view bytes) {
  ByteReader in(bytes, "test.tsrun");
  auto trace = load_trace(in);
  if (in.left() > 0) in.damaged("there is more");
  return trace;
}

// Bytes that come in no sooner than they are asked for.
class Trickle : public ByteSource {
 public:
  explicit Trickle(std::string bytes) : bytes_(std::move(bytes)) {}
  const char* data() const override { return bytes_.data(); }
  std::size_t size() const override { return bytes_.size(); }
  std::size_t wait_for(std::size_t count) override {
    REQUIRE(count <= bytes_.size());
    return there_ = std::max(there_, count);
  }
  // What is let go turns into nonsense.
  void let_go(std::size_t count) override { std::fill_n(bytes_.begin(), count, '\xFF'); }

 private:
  std::string bytes_;
  std::size_t there_ = 0;
};

}  // namespace

TEST_CASE("columns of numbers can be read beside each other") {
  std::mt19937_64 random(3);
  for (std::uint32_t count = 0; count < 200; ++count) {
    std::vector<std::uint64_t> first, second;
    for (std::uint32_t i = 0; i < count; ++i) first.push_back(random() >> (random() % 64));
    for (std::uint32_t i = 0; i < count; ++i) second.push_back(random() >> (random() % 64));
    ByteWriter out;
    for (const std::uint64_t value : first) out.whole(value);
    for (const std::uint64_t value : second) out.whole(value);
    out.whole(77);
    Trickle source(out.bytes());
    for (ByteReader in : {ByteReader(out.bytes(), "test"), ByteReader(source, "test")}) {
      ByteReader left = in.column(count), right = in.column(count);
      for (std::uint32_t i = 0; i < count; ++i) {
        REQUIRE(left.whole() == first[i]);
        REQUIRE(right.whole() == second[i]);
      }
      CHECK_THROWS_AS(left.whole(), InputError);
      CHECK(in.whole() == 77);
      CHECK_THROWS_AS(in.column(1), InputError);
    }
  }
}

TEST_CASE("a trace that is read while its bytes come in is the one that is read at once") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const auto trace = test::RandomTrace(seed).make(4, 1 + static_cast<int>(seed * 40));
    test::RandomTrace(seed + 1000).add_training(*trace, 3);
    const std::string bytes = saved(*trace);
    Trickle source(bytes);
    ByteReader in(source, "test.tsrun");
    const auto again = load_trace(in);
    CHECK(in.left() == 0);
    REQUIRE(saved(*again) == bytes);
  }
}

TEST_CASE("numbers and texts come back from bytes") {
  const std::int64_t integers[] = {0, 1, -1, 63, 64, -64, -65, INT64_MAX, INT64_MIN};
  ByteWriter out;
  for (const std::int64_t value : integers) out.integer(value);
  out.whole(UINT64_MAX);
  out.real(-0.0);
  out.text(std::string("with \0 and \xff", 12));
  ByteReader in(out.bytes(), "test");
  for (const std::int64_t value : integers) CHECK(in.integer() == value);
  CHECK(in.whole() == UINT64_MAX);
  CHECK(std::signbit(in.real()));
  CHECK(in.text() == std::string_view("with \0 and \xff", 12));
  CHECK(in.left() == 0);
  CHECK_THROWS_AS(in.whole(), InputError);
}

TEST_CASE("any trace comes back from its bytes as it was, and saves to the same bytes") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    const auto trace = test::RandomTrace(seed).make(1 + static_cast<int>(seed % 9),
                                                    1 + static_cast<int>(seed * 7 % 400));
    for (int i = 0; i < static_cast<int>(seed % 4); ++i)
      trace->add_dropped({"reason " + std::to_string(i), 1'000'000'000 + i, i % 2 == 0});
    trace->intern("a name that no span has");
    test::RandomTrace(seed + 1000).add_training(*trace, static_cast<int>(seed % 17));
    const std::string bytes = saved(*trace);
    const auto again = loaded(bytes);
    REQUIRE(test::difference(*trace, *again).empty());
    REQUIRE(test::allocator_difference(*trace, *again).empty());
    REQUIRE(test::training_difference(*trace, *again).empty());
    REQUIRE(again->name_count() == trace->name_count());
    REQUIRE(again->dropped_events() == trace->dropped_events());
    REQUIRE(again->end() == trace->end());
    REQUIRE(saved(*again) == bytes);
  }
}

TEST_CASE("an empty trace comes back") {
  const Trace empty{Origin{OriginKind::kMeasured, "device", "driver", 7}};
  CHECK(test::difference(empty, *loaded(saved(empty))).empty());
}

TEST_CASE("bytes that are cut short anywhere are refused with one sentence") {
  const auto trace = test::RandomTrace(5).make(3, 20);
  test::RandomTrace(6).add_training(*trace, 4);
  const std::string bytes = saved(*trace);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_THROWS_WITH(loaded(std::string_view(bytes).substr(0, size)),
                      Catch::StartsWith("test.tsrun: is damaged: "));
}

// Whatever the bytes claim, reading them ends in a trace that is sound or in one sentence.
TEST_CASE("bytes that were changed anywhere give a sound trace or one sentence") {
  const auto original = test::RandomTrace(9).make(4, 60);
  test::RandomTrace(10).add_training(*original, 9);
  const std::string bytes = saved(*original);
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string changed = bytes;
    for (int i = 0; i < 1 + round % 3; ++i)
      changed[random() % changed.size()] = static_cast<char>(random());
    try {
      const auto trace = loaded(changed);
      for (std::uint32_t i = 0; i < trace->spans().size(); ++i) {
        const Span& span = trace->spans()[i];
        REQUIRE(span.lane < trace->lanes().size());
        REQUIRE(span.name < trace->name_count());
        REQUIRE((span.detail == kNone || span.detail < trace->details().size()));
        REQUIRE((span.cause_span == kNone || span.cause_span < trace->spans().size()));
        REQUIRE(span.duration >= 0);
        REQUIRE(span.start > kEarliest);
        REQUIRE(span.end() < kLatest + kLongest);
      }
      for (std::uint32_t i = 0; i < trace->evaluations().size(); ++i)
        REQUIRE(trace->evaluations()[i].correct <= trace->evaluations()[i].samples);
    } catch (const InputError&) {
      ++refused;
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("a count that the bytes have no room for is refused before any memory is taken") {
  ByteWriter out;
  out.whole(0);  // origin
  out.text("");
  out.text("");
  out.integer(0);
  out.whole(4'000'000'000);  // names
  CHECK_THROWS_WITH(loaded(out.bytes()), Catch::Contains("more names than it has room for"));
}
