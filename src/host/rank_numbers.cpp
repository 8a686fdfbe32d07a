#include "host/rank_numbers.h"

#include <algorithm>

namespace trainscope::host {

RankNumbers::RankNumbers(const program::Program& program, int threads)
    : RankNumbers(program, DataSets(program.data), threads) {}

RankNumbers::RankNumbers(const program::Program& program, const DataSets& sets, int threads)
    : program_(program),
      workers_(std::clamp(threads, 1, program.computed_ranks)),
      active_(static_cast<std::size_t>(program.computed_ranks)) {
  for (int rank = 0; rank < program.computed_ranks; ++rank)
    ranks_.push_back(std::make_unique<Interpreter>(program, sets, rank));
  for (program::Index payload = 0; payload < program.payloads.size(); ++payload) {
    std::vector<Pieces>& of_ranks = payloads_.emplace_back();
    for (const auto& rank : ranks_) of_ranks.push_back(rank->pieces(payload));
  }
}

void RankNumbers::load(const program::LoadBatch& load) {
  active_ = load.test ? 1 : ranks_.size();
  for (std::size_t rank = 0; rank < active_; ++rank) ranks_[rank]->load(load);
}

void RankNumbers::run(const program::Operation& operation) {
  for_ranks([&](Interpreter& rank) { rank.run(operation); });
}

void RankNumbers::copy(const program::Copy& copy) {
  for_ranks([&](Interpreter& rank) { rank.copy(copy); });
}

void RankNumbers::view(const program::View& view) {
  for_ranks([&](Interpreter& rank) { rank.view(view); });
}

void RankNumbers::collective(const program::Collective& collective) {
  if (collective.send == program::kNoIndex) return;
  const program::Communicator& group = program_.communicators[collective.communicator];
  const auto of_group = [&](program::Index payload, int number) {
    std::vector<Pieces> pieces;
    for (int rank = 0; rank < group.ranks; ++rank)
      pieces.push_back(payloads_[payload][static_cast<std::size_t>(group.gpu_of(rank, number))]);
    return pieces;
  };
  for (int number = 0; number < group.groups; ++number)
    carry_out(collective, format_of(program::type_of(program_, collective)),
              of_group(collective.send, number), of_group(collective.receive, number), room_);
}

trace::TrainingStep RankNumbers::step(std::int64_t number) {
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank) ranks_[rank]->step(number);
  return ranks_.front()->step(number);
}

trace::Evaluation RankNumbers::evaluation(std::int64_t step) {
  return ranks_.front()->evaluation(step);
}

}  // namespace trainscope::host
