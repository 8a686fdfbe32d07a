#include "train/autograd/lifetimes.h"

#include <unordered_map>
#include <utility>

namespace trainscope::train {

void plan_lifetimes(const program::Program& program, const std::vector<program::Index>& own,
                    const std::vector<program::Index>& kept,
                    const std::vector<std::vector<PlannedLaunch>*>& lists) {
  const std::set<program::Index> ours(own.begin(), own.end());
  std::unordered_map<program::Index, PlannedLaunch*> last_use;
  PlannedLaunch* last = nullptr;
  for (std::vector<PlannedLaunch>* list : lists) {
    for (PlannedLaunch& launch : *list) {
      const program::Operation& operation = program.operations[launch.operation];
      for (const program::Index buffer : operation.writes) {
        if (!ours.contains(buffer)) continue;
        if (PlannedLaunch* before = last_use[buffer]) before->freed.push_back(buffer);
        launch.allocated.push_back(buffer);
        last_use[buffer] = &launch;
      }
      for (const program::Index buffer : operation.reads)
        if (ours.contains(buffer)) last_use[buffer] = &launch;
      last = &launch;
    }
  }
  for (const program::Index buffer : kept)
    if (ours.contains(buffer)) last_use[buffer] = last;
  for (const program::Index buffer : own)
    if (PlannedLaunch* launch = last_use[buffer]) launch->freed.push_back(buffer);
}

void allocate_where_written(const program::Program& program, std::set<program::Index> missing,
                            std::vector<PlannedLaunch>& launches) {
  for (PlannedLaunch& launch : launches)
    for (const program::Index written : program.operations[launch.operation].writes)
      if (missing.erase(written) > 0) launch.allocated.push_back(written);
}

program::Index add_kept(program::Program& program, program::Index kept, std::string name) {
  program::Buffer buffer = program.buffers[kept];
  buffer.name = std::move(name);
  buffer.type = program::ElementType::kBool;  // of memory alone: nothing reads it
  program.buffers.push_back(std::move(buffer));
  return static_cast<program::Index>(program.buffers.size() - 1);
}

}  // namespace trainscope::train
