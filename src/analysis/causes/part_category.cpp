#include "analysis/causes/part_category.h"

namespace trainscope::analysis {

trace::Category category_of(Part part) {
  using trace::Category;
  switch (part) {
    case Part::kCompute:
      return Category::kForward;
    case Part::kExposedCommunication:
      return Category::kCollective;
    case Part::kExposedCopy:
      return Category::kCopyH2D;
    case Part::kMemset:
      return Category::kMemset;
    case Part::kOnCpu:
      return Category::kHostWork;
    case Part::kIdleCopy:
      return Category::kStaging;
    case Part::kIdleData:
      return Category::kLoader;
    case Part::kIdleStream:
    case Part::kIdleCollective:
    case Part::kIdleSync:
    case Part::kIdleLaunch:
    case Part::kIdleGap:
      return Category::kHeld;
  }
  return Category::kHeld;
}

}  // namespace trainscope::analysis
