// What a run spends its time on, operation by operation: the work of its GPU and the calls of its
// host, by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

// Spans of one name, whatever the number of a batch in it, that the measured steps launch, or that
// begin in them, of the rank that is measured.
struct Operation {
  enum class Where : std::uint8_t { kGpu, kHost } where = Where::kGpu;
  std::string name;
  trace::Category category = trace::Category::kOther;  // of most of them
  std::vector<Nanos> durations;                        // shortest first
  Nanos total = 0;
  // Of the host's: see CallUse of operation_spans.h.
  Nanos self = 0, held = 0, gpu = 0, self_gpu = 0, self_kernels = 0;

  Nanos mean() const {
    return durations.empty() ? 0 : total / static_cast<Nanos>(durations.size());
  }
};
std::string_view name_of(Operation::Where where);  // "GPU", "host"

// What the operation that a span is of is called.
std::string operation_name(const trace::Trace& trace, const trace::Span& span);

// Longest in all first. A copy is counted once, on its copy engine where the trace has one. What
// runs beside other work counts in full, so totals may exceed the window. A call of the host that
// makes others includes them.
std::vector<Operation> operations(const Measured& measured);

// The same operation in A and in B, counted a step.
struct OperationRow {
  std::string name;
  std::string shown;  // the name where there is little room: see trace::distinct_names
  Operation::Where where = Operation::Where::kGpu;
  trace::Category category = trace::Category::kOther;
  struct Figures {
    double count = 0;  // a step
    double total = 0;  // ns a step
    double mean = 0;   // ns
    // Of the host's, ns a step, as in Operation.
    double self = 0, held = 0, gpu = 0, self_gpu = 0, self_kernels = 0;
    std::vector<Nanos> durations;
  };
  Figures a, b;

  double difference() const { return b.total - a.total; }  // ns a step; below 0: B is shorter
};

// Of one run alone: `b` is empty. Longest in all first.
std::vector<OperationRow> operation_rows(const Measured& measured);

// What an operation makes up of a step, or of all of the run where that has no steps: 0..1, and
// more where it runs beside itself.
double share_of(const OperationRow::Figures& figures, const Measured& measured);

// What that share is of: "of a step", "of the run".
const char* share_of_what(const Measured& measured);

// Rows for every operation of either, by the size of the difference.
std::vector<OperationRow> compare_operations(const Measured& a, const Measured& b);

// Takes out the rows in which A and B do not differ by a nanosecond a step, which is all that a
// trace tells. Returns how many they were.
std::size_t erase_alike(std::vector<OperationRow>& rows);

enum class OperationOrder : std::uint8_t { kDifference, kName, kCount, kTotal, kMean, kSelf, kGpu };
// By the larger of both sides' figures; names by their letters. What is alike stands by its name.
void sort_operations(std::vector<OperationRow>& rows, OperationOrder order, bool ascending);

// How many durations fall between two bounds, for A and B over the same bounds.
struct DurationBins {
  std::vector<double> bounds;  // ns, one more than bins; each so many times the one before
  std::vector<std::size_t> a, b;
};
// At most `most` bins from the shortest to the longest of both. One bin where all are alike; none
// where there are no durations.
DurationBins duration_bins(const std::vector<Nanos>& a, const std::vector<Nanos>& b,
                           std::size_t most);

// As CSV: a line a row, times in nanoseconds.
std::string operations_csv(const std::vector<OperationRow>& rows);

}  // namespace trainscope::analysis
