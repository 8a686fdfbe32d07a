// Which blocks go to which SMs, and what each of them is served.

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include "sim/fair_shares.h"
#include "sim/sm_array.h"

namespace trainscope::sim {

// ---- Placing -----------------------------------------------------------------------------------

void SmArray::place(Nanos now) {
  for (Kernel& kernel : kernels_) {
    while (kernel.unplaced > 0 && place_some(kernel, now)) {
    }
    if (kernel.unplaced > 0) break;  // those behind it get what is left after its last block
  }
  merge_equals();
  share();
  note_moment(now);
}

// One block more on each of the emptiest SMs with room, or on as many of them as there are blocks.
bool SmArray::place_some(Kernel& kernel, Nanos now) {
  int fewest = std::numeric_limits<int>::max();
  for (const SmClass& one : classes_)
    if (has_room(one, kernel)) fewest = std::min(fewest, one.warps);
  if (fewest == std::numeric_limits<int>::max()) return false;
  std::vector<int> sms;
  for (const SmClass& one : classes_)
    if (one.warps == fewest && has_room(one, kernel))
      sms.insert(sms.end(), one.sms.begin(), one.sms.end());
  int last = std::numeric_limits<int>::max();  // SMs from here on get none
  if (static_cast<std::int64_t>(sms.size()) > kernel.unplaced) {
    const auto nth = sms.begin() + static_cast<std::ptrdiff_t>(kernel.unplaced);
    std::nth_element(sms.begin(), nth, sms.end());
    last = *nth;
  }
  for (std::size_t i = 0, classes = classes_.size(); i < classes; ++i) {
    if (classes_[i].warps != fewest || !has_room(classes_[i], kernel)) continue;
    const auto& members = classes_[i].sms;
    const auto kept = static_cast<std::size_t>(
        std::lower_bound(members.begin(), members.end(), last) - members.begin());
    if (kept == 0) continue;
    if (kept < members.size()) split(i, kept);
    put(classes_[i], kernel, now);
  }
  return true;
}

bool SmArray::has_room(const SmClass& one, const Kernel& kernel) const {
  const BlockCost& cost = kernel.cost;
  std::int64_t shared = cost.sm_shared_bytes;
  int own = 0;
  for (const Cohort& cohort : one.cohorts) {
    shared = std::max(shared, kernels_[place_of(cohort.kernel)].cost.sm_shared_bytes);
    if (cohort.kernel == kernel.order) own += cohort.blocks;
  }
  return !one.aside && own < cost.per_sm && one.blocks < limits_.blocks &&
         one.warps + cost.warps <= limits_.warps &&
         one.registers + cost.registers <= limits_.registers &&
         one.shared_bytes + cost.shared_bytes <= shared;
}

void SmArray::put(SmClass& on, Kernel& kernel, Nanos now) {
  const auto fresh = std::find_if(on.cohorts.begin(), on.cohorts.end(), [&](const Cohort& cohort) {
    return cohort.kernel == kernel.order && cohort.start == now;
  });
  if (fresh != on.cohorts.end()) {
    ++fresh->blocks;
  } else {
    on.cohorts.push_back({kernel.order, 1, now, kernel.cost.arithmetic, kernel.cost.memory, 0, 0});
  }
  ++on.blocks;
  on.warps += kernel.cost.warps;
  on.registers += kernel.cost.registers;
  on.shared_bytes += kernel.cost.shared_bytes;
  if (!kernel.begun) begun_.push_back(kernel.id);
  kernel.begun = true;
  const auto sms = static_cast<std::int64_t>(on.sms.size());
  kernel.unplaced -= sms;
  kernel.running += sms;
}

// Leaves the first `kept` SMs in the class; the others become one of their own.
void SmArray::split(std::size_t index, std::size_t kept) {
  SmClass rest = classes_[index];
  const auto at = static_cast<std::ptrdiff_t>(kept);
  rest.sms.erase(rest.sms.begin(), rest.sms.begin() + at);
  classes_[index].sms.resize(kept);
  classes_.push_back(std::move(rest));
}

// The last SMs are those that are set aside.
void SmArray::regroup() {
  const int first = limits_.count - aside_.sms;
  for (std::size_t i = 0, classes = classes_.size(); i < classes; ++i) {
    const std::vector<int>& sms = classes_[i].sms;
    const auto kept =
        static_cast<std::size_t>(std::lower_bound(sms.begin(), sms.end(), first) - sms.begin());
    if (kept > 0 && kept < sms.size()) split(i, kept);
  }
  for (SmClass& one : classes_) one.aside = one.sms.front() >= first;
}

bool SmArray::Cohort::same_as(const Cohort& other) const {
  return std::tie(kernel, blocks, start, arithmetic, memory) ==
         std::tie(other.kernel, other.blocks, other.start, other.arithmetic, other.memory);
}

void SmArray::merge_equals() {
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    for (std::size_t j = i + 1; j < classes_.size();) {
      const bool same = classes_[i].aside == classes_[j].aside &&
                        std::equal(classes_[i].cohorts.begin(), classes_[i].cohorts.end(),
                                   classes_[j].cohorts.begin(), classes_[j].cohorts.end(),
                                   [](const Cohort& a, const Cohort& b) { return a.same_as(b); });
      if (!same) {
        ++j;
        continue;
      }
      std::vector<int> sms;
      std::merge(classes_[i].sms.begin(), classes_[i].sms.end(), classes_[j].sms.begin(),
                 classes_[j].sms.end(), std::back_inserter(sms));
      classes_[i].sms = std::move(sms);
      classes_.erase(classes_.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

// ---- Rates -------------------------------------------------------------------------------------

void SmArray::share() {
  share_memory();
  for (SmClass& one : classes_) share_arithmetic(one);
}

void SmArray::share_memory() {
  std::vector<FairGroup> groups;
  for (const SmClass& one : classes_)
    for (const Cohort& cohort : one.cohorts)
      if (cohort.memory > 0)
        groups.push_back({cost_of(cohort).memory_limit,
                          std::int64_t{cohort.blocks} * static_cast<std::int64_t>(one.sms.size())});
  share_fairly(kMemoryRate - aside_.memory, groups);
  const auto rate_at = [&](std::int64_t limit) {
    return std::lower_bound(
               groups.begin(), groups.end(), limit,
               [](const FairGroup& group, std::int64_t at) { return group.limit < at; })
        ->rate;
  };
  for (SmClass& one : classes_)
    for (Cohort& cohort : one.cohorts)
      cohort.memory_rate = cohort.memory > 0 ? rate_at(cost_of(cohort).memory_limit) : 0;
}

void SmArray::share_arithmetic(SmClass& one) {
  std::vector<FairGroup> groups;
  for (const Cohort& cohort : one.cohorts)
    if (cohort.arithmetic > 0) groups.push_back({cost_of(cohort).arithmetic_limit, cohort.blocks});
  share_fairly(kArithmeticRate, groups);
  for (Cohort& cohort : one.cohorts) {
    cohort.arithmetic_rate = 0;
    if (cohort.arithmetic == 0) continue;
    const std::int64_t limit = cost_of(cohort).arithmetic_limit;
    for (const FairGroup& group : groups)
      if (group.limit == limit) cohort.arithmetic_rate = group.rate;
  }
}

}  // namespace trainscope::sim
