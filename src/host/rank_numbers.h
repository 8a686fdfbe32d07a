// The numbers of DistributedDataParallel, where the commands of one rank stand for those of all:
// each rank carries them out with buffers, batches and random numbers of its own, all of them one
// command before the next, and collectives sum what they hold.
//
// Every process is seeded alike, as a script that calls torch.manual_seed(seed) is on each rank:
// the models begin the same, and dropout draws the same masks on every rank. What the run shows is
// rank 0's, as a script that prints on rank 0 shows it: its own loss, not the mean of all.
#pragma once

#include <memory>
#include <vector>

#include "host/interpreter.h"
#include "host/workers.h"

namespace trainscope::host {

class RankNumbers : public program::Numbers {
 public:
  // Of program.computed_ranks ranks, shared by so many threads, on which results do not depend. The
  // program must outlive it. Throws InputError for a data set that cannot be opened or is too
  // small.
  explicit RankNumbers(const program::Program& program, int threads = 1);
  RankNumbers(const program::Program& program, const DataSets& sets, int threads);

  void load(const program::LoadBatch& load) override;
  void run(const program::Operation& operation) override;
  void copy(const program::Copy& copy) override;
  void view(const program::View& view) override;
  void collective(const program::Collective& collective) override;
  double value(program::Index buffer) const override { return ranks_.front()->value(buffer); }
  trace::TrainingStep step(std::int64_t number) override;
  trace::Evaluation evaluation(std::int64_t step) override;

  std::size_t ranks() const { return ranks_.size(); }
  Interpreter& rank(std::size_t rank) { return *ranks_[rank]; }

 private:
  // Of those that have something to do, several at once.
  template <typename Body>
  void for_ranks(const Body& body) const {
    workers_.for_each(active_, [&](std::size_t rank) { body(*ranks_[rank]); });
  }

  const program::Program& program_;
  Workers workers_;
  std::vector<std::unique_ptr<Interpreter>> ranks_;
  std::vector<std::vector<Pieces>> payloads_;  // by payload and rank
  std::size_t active_ = 0;                     // ranks; only rank 0's evaluation is looked at
  std::vector<float> room_;
};

}  // namespace trainscope::host
