// Where the stand-in's ranks meet that are processes: here each is a thread.
#include "stand_in/meeting.h"

#include <catch2/catch.hpp>
#include <functional>
#include <future>
#include <thread>

#include "stand_in/member.h"

using namespace trainscope::stand_in;
using Catch::Matchers::Contains;
using Kind = CollectiveKind;

namespace {

// Runs it as each of these ranks, all at once. Catch is for one thread: what they find is checked
// afterwards.
void as_ranks(int ranks, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(body, rank);
  for (std::thread& thread : threads) thread.join();
}

std::vector<float> exchanged(Member& member, const Asked& asked, const std::vector<float>& given) {
  std::promise<std::vector<float>> gotten;
  member.give(asked, given, [&](const std::vector<float>& numbers) { gotten.set_value(numbers); });
  return gotten.get_future().get();
}

// What a rank was told that cannot go on.
struct Told {
  Member::State state = Member::State::kWaits;
  std::string why;
};

Told told(const Member& member) {
  while (member.state() == Member::State::kWell) std::this_thread::yield();
  return {member.state(), member.why()};
}

// Ranks that call for these as their first collective, and then wait to be told.
std::vector<Told> told_after(const std::vector<Asked>& asked) {
  const std::string meeting = open_meeting();
  const int ranks = static_cast<int>(asked.size());
  std::vector<Told> all(asked.size());
  as_ranks(ranks, [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    Member member(meeting, {rank, ranks, rank});
    member.give(asked[i], std::vector<float>(given_by(asked[i], rank, ranks)), [](const auto&) {});
    all[i] = told(member);
  });
  return all;
}

}  // namespace

TEST_CASE("members of a meeting get what NCCL's collectives give, one after another") {
  const std::string meeting = open_meeting();
  using Each = std::vector<std::vector<float>>;
  Each reduced(3), gathered(3), scattered(3), sent(3), at_root(3);
  std::vector<Member::State> states(3);
  as_ranks(3, [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    const auto own = static_cast<float>(rank);
    Member member(meeting, {rank, 3, rank});
    reduced[i] = exchanged(member, {Kind::kAllReduce, 0, 2}, {own, 1});
    gathered[i] = exchanged(member, {Kind::kAllGather, 0, 1}, {own});
    scattered[i] = exchanged(member, {Kind::kReduceScatter, 0, 1}, {own, 1, 2});
    sent[i] = exchanged(member, {Kind::kBroadcast, 1, 1},
                        rank == 1 ? std::vector<float>{7} : std::vector<float>());
    at_root[i] = exchanged(member, {Kind::kReduce, 2, 1}, {own});
    member.leave();
    states[i] = member.state();
  });
  CHECK(states == std::vector(3, Member::State::kWell));
  CHECK(reduced == Each(3, {3, 3}));
  CHECK(gathered == Each(3, {0, 1, 2}));
  CHECK(scattered == Each{{3}, {3}, {6}});
  CHECK(sent == Each(3, {7}));
  CHECK(at_root == Each{{}, {}, {3}});
}

TEST_CASE("of two members each gets what the other sends, or nothing") {
  const std::string meeting = open_meeting();
  std::vector<std::vector<float>> there(2), back(2), both(2);
  as_ranks(2, [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    const auto own = static_cast<float>(rank);
    Member member(meeting, {rank, 2, rank});
    const Asked one_way{Kind::kExchange, 0, 2};
    const bool is_first = rank == 0;
    const std::vector<float> given{own, 7}, nothing;
    there[i] =
        exchanged(member, is_first ? one_way : other_side(one_way), is_first ? given : nothing);
    back[i] =
        exchanged(member, is_first ? other_side(one_way) : one_way, is_first ? nothing : given);
    both[i] = exchanged(member, {Kind::kExchange, 0, 1, 1}, {own});
    member.leave();
  });
  using Each = std::vector<std::vector<float>>;
  CHECK(there == Each{{}, {0, 7}});
  CHECK(back == Each{{1, 7}, {}});
  CHECK(both == Each{{1}, {0}});
}

TEST_CASE("two members that both send, or not as much as is received, break a rule") {
  for (const Asked& other : {Asked{Kind::kExchange, 0, 10}, Asked{Kind::kExchange, 0, 0, 9}})
    for (const Told& one : told_after({{Kind::kExchange, 0, 10}, other})) {
      CHECK(one.state == Member::State::kBroken);
      CHECK_THAT(one.why, Contains("for a send of 10 numbers and a receive of 0"));
    }
}

TEST_CASE("who calls for another collective, or in another order, is told with both") {
  for (const Asked& other : {Asked{Kind::kAllReduce, 0, 20}, Asked{Kind::kAllGather, 0, 10},
                             Asked{Kind::kReduce, 0, 10}})
    for (const Told& one : told_after({{Kind::kAllReduce, 0, 10}, other})) {
      CHECK(one.state == Member::State::kBroken);
      CHECK_THAT(one.why, Contains("for an all-reduce of 10 numbers as collective 0") &&
                              Contains("for " + words_of(other)));
    }
}

TEST_CASE("a rank that is there twice, on another's GPU or of other ranks breaks a rule") {
  const auto told_to = [](const Member::Place& one, const Member::Place& other) {
    const std::string meeting = open_meeting();
    std::vector<Told> all(2);
    as_ranks(2, [&](int i) {
      const Member member(meeting, i == 0 ? one : other);
      all[static_cast<std::size_t>(i)] = {member.state(), member.why()};
    });
    CHECK(all[0].state == Member::State::kBroken);
    CHECK(all[0].why == all[1].why);
    return all[0].why;
  };
  CHECK_THAT(told_to({1, 2, 0}, {1, 2, 1}), Contains("rank 1 is there twice"));
  CHECK_THAT(told_to({0, 2, 3}, {1, 2, 3}), Contains("on the same GPU, 3"));
  CHECK_THAT(told_to({0, 2, 0}, {1, 3, 1}), Contains("ranks"));
}

TEST_CASE("when a rank is gone the others are told, and what is under way ends by an abort") {
  const std::string meeting = open_meeting();
  std::vector<Told> all(3);
  std::vector<char> waited(3);
  std::vector<std::size_t> gotten(3), gotten_after(3);
  as_ranks(3, [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    Member member(meeting, {rank, 3, rank});
    if (rank == 1) return;  // without a word
    std::promise<std::size_t> ends;
    auto end = ends.get_future();
    member.give({Kind::kAllReduce, 0, 1}, {1},
                [&](const auto& numbers) { ends.set_value(numbers.size()); });
    all[i] = told(member);
    waited[i] = end.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout;
    member.abort();
    gotten[i] = end.get();
    // The next one does not even begin.
    gotten_after[i] = exchanged(member, {Kind::kAllReduce, 0, 1}, {1}).size();
  });
  for (const std::size_t i : {0, 2}) {
    CHECK(all[i].state == Member::State::kGone);
    CHECK(all[i].why == "rank 1 is gone");
    CHECK(waited[i]);
    CHECK(gotten[i] + gotten_after[i] == 0);
  }
  CHECK(Member("no such meeting", {0, 1, 0}).state() == Member::State::kGone);
}

TEST_CASE("who has left is missed only where something is called for") {
  const std::string meeting = open_meeting();
  Told before, after;
  as_ranks(2, [&](int rank) {
    Member member(meeting, {rank, 2, rank});
    if (rank == 0) return member.leave();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    before = {member.state(), member.why()};
    member.give({Kind::kAllReduce, 0, 1}, {1}, [](const auto&) {});
    after = told(member);
  });
  CHECK(before.state == Member::State::kWell);
  CHECK(after.why == "rank 0 has left");
}
