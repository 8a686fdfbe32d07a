#include "train/parallel/interleaved_order.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>

#include "base/error.h"

namespace trainscope::train {
namespace {

// Forwards before a rank's first backward (_get_warmup_ops): those of the last rank, which has the
// last stage, and two for each rank behind this one.
std::int64_t warm_up(const InterleavedShape& shape, int rank) {
  const std::int64_t of_last = (shape.stages_per_rank - 1) * shape.per_round();
  return std::min(of_last + 2 * (shape.ranks - 1 - rank),
                  shape.micro_batches * shape.stages_per_rank);
}

// A rank's forwards one after another, and its backwards (_get_1f1b_rank_ops).
class RankOrder {
 public:
  RankOrder(const InterleavedShape& shape, int rank)
      : shape_(shape),
        rank_(rank),
        begun_(static_cast<std::size_t>(shape.stages_per_rank)),
        ended_(begun_) {}

  // forward_stage_index
  void forward() {
    const auto own = static_cast<std::size_t>(stage_of_turn(forwards_++));
    order_.push_back({StageWork::kForward, stage(own), begun_[own]++});
  }
  // backward_stage_index
  void backward() {
    const auto own =
        static_cast<std::size_t>(shape_.stages_per_rank - 1 - stage_of_turn(backwards_++));
    order_.push_back({StageWork::kBackward, stage(own), ended_[own]++});
  }
  std::vector<StageAction> finish() { return std::move(order_); }

 private:
  std::int64_t stage_of_turn(std::int64_t turn) const {
    return turn / shape_.per_round() % shape_.stages_per_rank;
  }
  int stage(std::size_t own) const { return static_cast<int>(own) * shape_.ranks + rank_; }

  const InterleavedShape& shape_;
  int rank_;
  std::int64_t forwards_ = 0, backwards_ = 0;
  std::vector<std::int64_t> begun_, ended_;  // micro-batches, by the rank's stages
  std::vector<StageAction> order_;
};

// What a rank does when it is its turn; nothing: it lets the turn pass.
using Turns = std::vector<std::optional<StageAction>>;

// The stages of an order that come next from each place on, up to three (_add_unshard_reshard's
// max_active_stages).
std::vector<std::set<int>> next_stages(const std::vector<StageAction>& order) {
  constexpr std::size_t kMost = 3;
  std::vector<std::set<int>> all(order.size());
  std::vector<int> coming;  // the next one first
  for (std::size_t i = order.size(); i-- > 0;) {
    std::erase(coming, order[i].stage);
    coming.insert(coming.begin(), order[i].stage);
    if (coming.size() > kMost) coming.pop_back();
    all[i] = {coming.begin(), coming.end()};
  }
  return all;
}

// PyTorch gathers and drops a stage's parameters in turns of their own, of which nothing is left
// where no stage is sharded but the turns. A stage's last backward is followed by
// REDUCE_GRAD (_add_reduce_grad).
Turns turns_of(const InterleavedShape& shape, int rank) {
  const std::vector<StageAction> order = interleaved_order(shape, rank);
  const std::vector<std::set<int>> next = next_stages(order);
  std::set<int> active;
  Turns turns;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<int> changed;
    std::ranges::set_symmetric_difference(active, next[i], std::back_inserter(changed));
    turns.insert(turns.end(), changed.size(), std::nullopt);
    active = next[i];
    turns.emplace_back(order[i]);
    const bool is_last =
        order[i].work == StageWork::kBackward && order[i].micro_batch + 1 == shape.micro_batches;
    if (is_last) turns.emplace_back(StageAction{StageWork::kReduceGradients, order[i].stage, 0});
  }
  return turns;
}

// Ranks take turns; who has computed something sends it, and its receiver receives it from then on
// (_add_send_recv). So all sends and receives have one order, of which each rank has its part.
class TurnTaking {
 public:
  explicit TurnTaking(const InterleavedShape& shape)
      : shape_(shape), schedule_(static_cast<std::size_t>(shape.ranks)) {
    for (int rank = 0; rank < shape.ranks; ++rank) turns_.push_back(turns_of(shape, rank));
  }

  std::vector<std::vector<StageAction>> finish() {
    std::vector<std::size_t> next(turns_.size(), 0);
    std::size_t done = 0;
    for (bool any = true; any && done < turns_.size();) {
      any = false;
      for (std::size_t rank = 0; rank < turns_.size(); ++rank) {
        if (next[rank] == turns_[rank].size() || !take(rank, turns_[rank][next[rank]])) continue;
        any = true;
        done += ++next[rank] == turns_[rank].size() ? 1 : 0;
      }
    }
    if (done < turns_.size())
      throw Error(Fault::kInternal, "the stages of a pipeline wait for one another");
    return std::move(schedule_);
  }

 private:
  // Whether its turn is over.
  bool take(std::size_t rank, const std::optional<StageAction>& turn) {
    if (!turn) return true;
    if (!is_there(*turn)) return false;
    schedule_[rank].push_back(*turn);
    if (turn->work == StageWork::kForward && turn->stage + 1 < shape_.stages())
      send(*turn, StageWork::kSendForward, StageWork::kReceiveForward, turn->stage + 1);
    if (turn->work == StageWork::kBackward && turn->stage > 0)
      send(*turn, StageWork::kSendBackward, StageWork::kReceiveBackward, turn->stage - 1);
    return true;
  }

  // What it reads is received.
  bool is_there(const StageAction& one) const {
    if (one.work == StageWork::kForward && one.stage > 0)
      return received_.contains({StageWork::kReceiveForward, one.stage, one.micro_batch});
    if (one.work == StageWork::kBackward && one.stage + 1 < shape_.stages())
      return received_.contains({StageWork::kReceiveBackward, one.stage, one.micro_batch});
    return true;
  }

  void send(const StageAction& made, StageWork sends, StageWork receives, int to) {
    const StageAction receive{receives, to, made.micro_batch};
    add({sends, made.stage, made.micro_batch});
    add(receive);
    received_.insert(receive);
  }
  void add(const StageAction& one) {
    schedule_[static_cast<std::size_t>(shape_.rank_of(one.stage))].push_back(one);
  }

  const InterleavedShape& shape_;
  std::vector<Turns> turns_;  // by rank
  std::vector<std::vector<StageAction>> schedule_;
  std::set<StageAction> received_;
};

}  // namespace

std::string mark_of(const StageAction& action) {
  constexpr std::array kWords{"F", "B", "SEND_F", "RECV_F", "SEND_B", "RECV_B", "REDUCE_GRAD"};
  const char* word = kWords[static_cast<std::size_t>(action.work)];
  if (action.work == StageWork::kReduceGradients) return fmt::format("PP:{}{}", action.stage, word);
  return fmt::format("PP:{}{}{}", action.stage, word, action.micro_batch);
}

// One forward and one backward in turn, between the forwards that fill the pipeline and as many
// backwards that drain it.
std::vector<StageAction> interleaved_order(const InterleavedShape& shape, int rank) {
  const std::int64_t all = shape.micro_batches * shape.stages_per_rank,
                     before = warm_up(shape, rank);
  RankOrder order(shape, rank);
  for (std::int64_t i = 0; i < before; ++i) order.forward();
  for (std::int64_t i = before; i < all; ++i) {
    order.forward();
    order.backward();
  }
  for (std::int64_t i = 0; i < before; ++i) order.backward();
  return order.finish();
}

std::vector<std::vector<StageAction>> interleaved_schedule(const InterleavedShape& shape) {
  return TurnTaking(shape).finish();
}

}  // namespace trainscope::train
