#include "train/loop/update_writer.h"

namespace trainscope::train {
namespace {

constexpr std::int64_t kFloat = 4;  // bytes

}  // namespace

void UpdateWriter::write(ThreadWriter& main, std::int64_t step, bool logs) {
  if (!state_there_) {
    state_there_ = true;
    main.at(lines_.step);
    launch_.allocate(main, update_.state);
  }
  main.in(program::Phase::kOptimizer);
  search(main, step);
  main.at(lines_.step);
  skip_where_infinite(main);
  optimize(main);
  if (settings_.has_scaler) launch_(main.at(lines_.update_scale), update_.update_scale);
  main.in(program::Phase::kNone);
  if (logs) main.add(program::LogStep{step, 0});
}

void UpdateWriter::search(ThreadWriter& main, std::int64_t step) const {
  if (settings_.injects(step)) launch_(main.at(lines_.inject), update_.inject_infinity);
  if (settings_.has_scaler) {
    launch_(main.at(lines_.unscale), update_.unscale);
    if (update_.found_anywhere) sum_(main, *update_.found_anywhere);
  }
  if (settings_.clip_norm > 0) clip(main.at(lines_.clip));
}

void UpdateWriter::clip(ThreadWriter& main) const {
  launch_(main, update_.norm);
  for (const RankSum& squares : update_.norms_everywhere) sum_(main, squares);
  launch_(main, update_.clip);
}

// found_inf.item(): a fused optimizer reads it on the GPU instead.
void UpdateWriter::skip_where_infinite(ThreadWriter& main) const {
  if (!settings_.has_scaler || settings_.fused) return;
  main.add(
      program::ReadScalar{{update_.scaler.found_inf, update_.scaler.found_inf_on_host, kFloat, 0}},
      "aten::item");
  const auto skipped =
      static_cast<std::uint32_t>(2 * update_.temporaries.size() + update_.step.size());
  main.add(program::Branch{update_.scaler.found_inf_on_host, skipped});
}

void UpdateWriter::optimize(ThreadWriter& main) const {
  sum_gradients(main);
  const program::Index predicate =
      settings_.has_scaler && settings_.fused ? update_.scaler.found_inf : program::kNoIndex;
  std::vector<std::vector<program::Index>> allocated(update_.step.size());
  std::vector<std::vector<program::Index>> freed(update_.step.size());
  for (const Temporary& one : update_.temporaries) {
    allocated[one.first].push_back(one.buffer);
    freed[one.last].push_back(one.buffer);
  }
  for (std::size_t i = 0; i < update_.step.size(); ++i) {
    launch_.allocate(main, allocated[i]);
    launch_.one(main, update_.step[i], predicate);
    launch_.free(main, freed[i]);
  }
  for (const RankSum& one : update_.gradients_everywhere) launch_.free(main, {one.sum});
}

// DTensor's operators take a gradient whole whose ranks have a part of the sum each
// (torch/distributed/tensor/_ops/_pointwise_ops.py: what is Partial becomes Replicate).
void UpdateWriter::sum_gradients(ThreadWriter& main) const {
  for (const RankSum& one : update_.gradients_everywhere) {
    launch_.allocate(main, {one.sum});
    sum_(main, one);
  }
}

}  // namespace trainscope::train
