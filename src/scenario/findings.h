// What a check finds in one run after another: what is wrong in several alike is said once, with
// where it is.
#pragma once

#include <string>
#include <vector>

#include "scenario/check.h"

namespace trainscope::scenario {

class Findings {
 public:
  // Once, however often it is found.
  void add(const SourcePlace& place, const std::string& sentence);
  void add_all(const std::vector<Finding>& findings);

  // BEFORE on WHERE AFTER: "step predict has 2 right options", "t4-1", ": …". Those with the same
  // BEFORE at the same place are one; `after` is of the first.
  void add_on(const std::string& where, const SourcePlace& place, const std::string& before,
              const std::string& after = "");

  // Beginning with one run's findings, so that they can be taken back.
  std::size_t mark() const { return all_.size(); }
  // Where one since the mark says so in its `after`; null: none does.
  const SourcePlace* first_with(std::size_t mark, const std::string& words) const;
  void take_back(std::size_t mark) { all_.resize(mark); }

  std::vector<Finding> take() const;

 private:
  struct Found {
    SourcePlace place;
    std::string before, where, after;  // where: empty if it is of no run
  };
  std::vector<Found> all_;
};

// "t4-1", "t4-1 and v100-pcie-1", "t4-1 and 27 more".
std::string where_words(const std::vector<std::string>& where);

}  // namespace trainscope::scenario
