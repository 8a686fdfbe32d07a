#include "analysis/views/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analysis/steps/by_correlation.h"
#include "analysis/views/operation_spans.h"
#include "base/csv.h"
#include "trace/short_name.h"

namespace trainscope::analysis {
namespace {

using Where = Operation::Where;
using trace::Category;
using trace::LaneKind;

constexpr double kAlike = 1.0001;  // durations this close are one

// Of several ranks one has marks of steps, most often: times of another's host are by the window.
bool has_own_marks(const Measured& measured) {
  return measured.rank < 0 || measured.marks_of_ranks.contains(measured.rank);
}

// The spans of the measured steps. Work of the GPU is a step's if the step's host launched it,
// whenever it then began: on another stream that may be before the work of the step before is done.
class StepSpans {
 public:
  explicit StepSpans(const Measured& measured)
      : window_(measured.window), calls_(*measured.trace, std::numeric_limits<Nanos>::min()) {
    const std::vector<Interval>& marks = measured.own_marks();
    if (marks.empty() || !has_own_marks(measured)) return;
    on_host_ = {marks.front().start, marks.back().end};
    trace::for_each(measured.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
      if (is_joined_call(span)) calls_.add(span.correlation, span.start);
    });
  }

  bool holds(const trace::Span& span, Where where) const {
    if (!on_host_) return within(window_, span.start);
    if (where == Where::kHost) return within(*on_host_, span.start);
    const Nanos* call = span.correlation == 0 ? nullptr : calls_.find(span.correlation);
    return call ? within(*on_host_, *call) : within(window_, span.start);
  }

 private:
  static bool within(const Interval& interval, Nanos time) {
    return interval.start <= time && time < interval.end;
  }

  Interval window_;
  std::optional<Interval> on_host_;  // where there are steps
  ByCorrelation<Nanos> calls_;       // their starts
};

// "load batch 7" is loading a batch.
std::string without_number(const std::string& name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool numbered = last != std::string::npos && last + 1 < name.size() && name[last] == ' ';
  return numbered ? name.substr(0, last) : name;
}

// Python calls a built-in by its object, "<built-in method linear of type object at 0x7f3c>", which
// stands elsewhere in every process.
std::string without_address(std::string name) {
  constexpr std::string_view kAddress = " at 0x";
  const auto at = name.find(kAddress);
  if (!name.starts_with('<') || at == name.npos) return name;
  const auto end = name.find_first_not_of("0123456789abcdefABCDEF", at + kAddress.size());
  return name.erase(at, end == name.npos ? end : end - at);
}

struct Gathered {
  Operation operation;
  std::array<Nanos, trace::kCategoryCount> by_category{};
};

using Key = std::pair<Where, std::string>;

// The one of the span's name. Names are numbers in the trace: each is looked up once.
class ByName {
 public:
  explicit ByName(const trace::Trace& trace) : trace_(trace) {}

  Gathered& of(const trace::Span& span, Where where) {
    const trace::Lane& lane = trace_.lanes()[span.lane];
    const auto kind = static_cast<std::uint64_t>(
        lane.kind == LaneKind::kCopyEngine ? span.category : Category::kOther);
    const std::uint64_t id = (std::uint64_t{span.name} * trace::kCategoryCount + kind) * 2 +
                             (where == Where::kHost ? 1 : 0);
    Gathered*& gathered = known_[id];
    if (gathered) return *gathered;
    const std::string name = operation_name(trace_, span);
    gathered = &all_[{where, name}];
    gathered->operation.where = where;
    gathered->operation.name = name;
    return *gathered;
  }
  std::map<Key, Gathered> all() && { return std::move(all_); }

 private:
  const trace::Trace& trace_;
  std::unordered_map<std::uint64_t, Gathered*> known_;
  std::map<Key, Gathered> all_;
};

std::map<Key, Gathered> gather(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  const OperationSpans spans(measured);
  const StepSpans steps(measured);
  const std::vector<CallUse> uses = call_uses(measured, spans);
  ByName names(trace);
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId id) {
    const bool host = spans.is_host_call(span);
    const Where where = host ? Where::kHost : Where::kGpu;
    if ((!host && !spans.is_gpu_work(span)) || !steps.holds(span, where)) return;
    Gathered& gathered = names.of(span, where);
    gathered.operation.durations.push_back(span.duration);
    gathered.operation.total += span.duration;
    gathered.operation.self += uses[id].self;
    gathered.operation.held += uses[id].held;
    gathered.operation.gpu += uses[id].gpu;
    gathered.operation.self_gpu += uses[id].self_gpu;
    gathered.operation.self_kernels += uses[id].self_kernels;
    gathered.by_category[static_cast<std::size_t>(span.category)] += 1;
  });
  std::map<Key, Gathered> all = std::move(names).all();
  for (auto& [key, gathered] : all) {
    std::sort(gathered.operation.durations.begin(), gathered.operation.durations.end());
    const auto most = std::max_element(gathered.by_category.begin(), gathered.by_category.end());
    gathered.operation.category = static_cast<Category>(most - gathered.by_category.begin());
  }
  return all;
}

OperationRow::Figures figures_of(const Operation& operation, int steps) {
  OperationRow::Figures figures;
  figures.count = static_cast<double>(operation.durations.size()) / steps;
  figures.total = static_cast<double>(operation.total) / steps;
  figures.self = static_cast<double>(operation.self) / steps;
  figures.held = static_cast<double>(operation.held) / steps;
  figures.gpu = static_cast<double>(operation.gpu) / steps;
  figures.self_gpu = static_cast<double>(operation.self_gpu) / steps;
  figures.self_kernels = static_cast<double>(operation.self_kernels) / steps;
  figures.mean =
      static_cast<double>(operation.total) / static_cast<double>(operation.durations.size());
  figures.durations = operation.durations;
  return figures;
}

void add_side(std::map<Key, OperationRow>& rows, const Measured& measured,
              OperationRow::Figures OperationRow::* side) {
  for (const auto& [key, gathered] : gather(measured)) {
    OperationRow& row = rows[key];
    row.where = key.first;
    row.name = key.second;
    row.category = gathered.operation.category;
    row.*side = figures_of(gathered.operation, measured.per());
  }
}

// Calls of the host and work of the GPU are never in one list: each has its own short names.
void name_rows(std::vector<OperationRow>& rows) {
  for (const Where where : {Where::kGpu, Where::kHost}) {
    std::vector<std::string> names;
    for (const OperationRow& row : rows)
      if (row.where == where) names.push_back(row.name);
    const std::vector<std::string> shown = trace::distinct_names(names);
    std::size_t next = 0;
    for (OperationRow& row : rows)
      if (row.where == where) row.shown = shown[next++];
  }
}

std::vector<OperationRow> listed(std::map<Key, OperationRow> rows, OperationOrder order) {
  std::vector<OperationRow> list;
  for (auto& [key, row] : rows) list.push_back(std::move(row));
  name_rows(list);
  sort_operations(list, order, false);
  return list;
}

double figure(const OperationRow& row, OperationOrder order) {
  switch (order) {
    case OperationOrder::kDifference:
      return std::abs(row.difference());
    case OperationOrder::kCount:
      return std::max(row.a.count, row.b.count);
    case OperationOrder::kTotal:
      return std::max(row.a.total, row.b.total);
    case OperationOrder::kMean:
      return std::max(row.a.mean, row.b.mean);
    case OperationOrder::kSelf:
      return std::max(row.a.self, row.b.self);
    case OperationOrder::kGpu:
      return std::max(row.a.gpu, row.b.gpu);
    case OperationOrder::kName:
      break;
  }
  return 0;
}

std::size_t bin_of(const std::vector<double>& bounds, Nanos duration) {
  const auto above = std::upper_bound(bounds.begin(), bounds.end(), static_cast<double>(duration));
  const auto at = static_cast<std::size_t>(above - bounds.begin());
  return std::clamp<std::size_t>(at, 1, bounds.size() - 1) - 1;
}

}  // namespace

// A copy engine's lane says the direction, and that of staging what it is: their spans only how
// many bytes.
std::string operation_name(const trace::Trace& trace, const trace::Span& span) {
  if (span.category == Category::kLoader) return without_number(trace.name(span));
  if (span.category == Category::kStaging && !trace.name(span).starts_with("staging"))
    return "staging, " + trace.name(span);
  if (trace.lanes()[span.lane].kind != LaneKind::kCopyEngine)
    return without_address(trace.name(span));
  return std::string(trace::name_of(span.category)) + ", " + trace.name(span);
}

std::string_view name_of(Operation::Where where) {
  return where == Where::kGpu ? "GPU" : "host";
}

std::vector<Operation> operations(const Measured& measured) {
  std::vector<Operation> list;
  for (auto& [key, gathered] : gather(measured)) list.push_back(gathered.operation);
  std::stable_sort(list.begin(), list.end(),
                   [](const Operation& a, const Operation& b) { return a.total > b.total; });
  return list;
}

std::vector<OperationRow> operation_rows(const Measured& measured) {
  std::map<Key, OperationRow> rows;
  add_side(rows, measured, &OperationRow::a);
  return listed(std::move(rows), OperationOrder::kTotal);
}

double share_of(const OperationRow::Figures& figures, const Measured& measured) {
  const auto window = static_cast<double>(measured.window.end - measured.window.start);
  return window > 0 ? figures.total * measured.per() / window : 0;
}

const char* share_of_what(const Measured& measured) {
  return measured.steps > 0 ? "of a step" : "of the run";
}

std::vector<OperationRow> compare_operations(const Measured& a, const Measured& b) {
  std::map<Key, OperationRow> rows;
  add_side(rows, a, &OperationRow::a);
  add_side(rows, b, &OperationRow::b);
  return listed(std::move(rows), OperationOrder::kDifference);
}

std::size_t erase_alike(std::vector<OperationRow>& rows) {
  return std::erase_if(rows,
                       [](const OperationRow& row) { return std::abs(row.difference()) < 1; });
}

void sort_operations(std::vector<OperationRow>& rows, OperationOrder order, bool ascending) {
  // What is alike stands by its name, whichever way the figures go.
  const auto by_name = [](const OperationRow& a, const OperationRow& b) {
    return std::tie(a.shown, a.name) < std::tie(b.shown, b.name);
  };
  std::stable_sort(rows.begin(), rows.end(), by_name);
  if (order == OperationOrder::kName) {
    if (!ascending) std::reverse(rows.begin(), rows.end());
    return;
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const OperationRow& a, const OperationRow& b) {
    return ascending ? figure(a, order) < figure(b, order) : figure(a, order) > figure(b, order);
  });
}

DurationBins duration_bins(const std::vector<Nanos>& a, const std::vector<Nanos>& b,
                           std::size_t most) {
  DurationBins bins;
  Nanos least = 0, longest = 0;
  bool any = false;
  for (const std::vector<Nanos>* side : {&a, &b})
    for (const Nanos duration : *side) {
      least = any ? std::min(least, duration) : duration;
      longest = any ? std::max(longest, duration) : duration;
      any = true;
    }
  if (!any || most == 0) return bins;
  const double from = std::max(1.0, static_cast<double>(least));
  const double to = std::max(from, static_cast<double>(longest));
  const std::size_t count = to / from < kAlike ? 1 : most;
  for (std::size_t i = 0; i <= count; ++i)
    bins.bounds.push_back(from *
                          std::pow(to / from, static_cast<double>(i) / static_cast<double>(count)));
  bins.bounds.back() = to;
  bins.a.assign(count, 0);
  bins.b.assign(count, 0);
  for (const Nanos duration : a) ++bins.a[count == 1 ? 0 : bin_of(bins.bounds, duration)];
  for (const Nanos duration : b) ++bins.b[count == 1 ? 0 : bin_of(bins.bounds, duration)];
  return bins;
}

std::string operations_csv(const std::vector<OperationRow>& rows) {
  std::string text;
  add_csv_line(
      text, {"operation", "where", "category", "A count/step", "A total ns/step", "A mean ns",
             "B count/step", "B total ns/step", "B mean ns", "difference ns/step", "A self ns/step",
             "A GPU ns/step", "B self ns/step", "B GPU ns/step"});
  const auto number = [](double value) { return fmt::format("{}", value); };
  for (const OperationRow& row : rows)
    add_csv_line(
        text, {row.name, std::string(name_of(row.where)), std::string(trace::name_of(row.category)),
               number(row.a.count), number(row.a.total), number(row.a.mean), number(row.b.count),
               number(row.b.total), number(row.b.mean), number(row.difference()),
               number(row.a.self), number(row.a.gpu), number(row.b.self), number(row.b.gpu)});
  return text;
}

}  // namespace trainscope::analysis
