#include "analysis/views/copy_batches.h"

#include <algorithm>
#include <map>

namespace trainscope::analysis {
namespace {

using CopiesInSteps = std::map<int, int>;

bool is_before(const PathCopy& copy, const CopySteps& steps) {
  return copy.way == Way::kToDevice && copy.called < steps.begin;
}

// How many copies a batch takes that is fetched before the first step; 0: none is, or what is
// copied there is something else.
int copies_ahead(const std::vector<PathCopy>& copies, const CopiesInSteps& copies_in,
                 const CopySteps& steps) {
  const auto ahead =
      std::ranges::count_if(copies, [&](const PathCopy& copy) { return is_before(copy, steps); });
  const auto first = copies_in.find(steps.first);
  const bool alike = ahead > 0 && first != copies_in.end() && first->second % ahead == 0;
  return alike ? static_cast<int>(ahead) : 0;
}

}  // namespace

void number_batches(std::vector<PathCopy>& copies, std::size_t loaded, const CopySteps& steps) {
  const bool several = steps.count > 0 && loaded > steps.count && loaded % steps.count == 0;
  const int a_step = several ? static_cast<int>(loaded / steps.count) : 1;
  CopiesInSteps copies_in, seen_in;
  for (const PathCopy& copy : copies)
    if (copy.way == Way::kToDevice) ++copies_in[copy.step];
  const int ahead = loaded > 0 && steps.count > 0 ? copies_ahead(copies, copies_in, steps) : 0;
  int seen = 0;
  for (PathCopy& copy : copies) {
    copy.batch = copy.step;
    if (copy.way != Way::kToDevice) continue;
    if (ahead > 0 && (copy.step >= 0 || is_before(copy, steps))) {
      copy.batch = seen++ / ahead;
    } else if (copy.step >= 0) {
      const int within = seen_in[copy.step]++ * a_step / copies_in[copy.step];
      copy.batch = copy.step * a_step + within;
    }
  }
}

}  // namespace trainscope::analysis
