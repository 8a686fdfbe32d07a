#include "report/flow_chart.h"

#include <algorithm>
#include <optional>
#include <set>

#include "analysis/views/gradient_flow.h"
#include "analysis/views/star_flow.h"
#include "report/chart.h"
#include "report/escape.h"
#include "report/sections.h"
#include "report/time_table.h"

namespace trainscope::report {
namespace {

using analysis::BackwardFlow;
using analysis::BucketTimes;
using analysis::Interval;
using analysis::IntervalSet;

constexpr std::size_t kBars = 200;  // of a row
constexpr const char* kCompute = "s-backward";
constexpr const char* kForward = "s-forward";
constexpr const char* kOptimizer = "s-optimizer";
constexpr const char* kOthers = "s-kernel";
constexpr const char* kFilling = "filling";
constexpr const char* kQueued = "queued";
constexpr const char* kRunning = "s-collective";
constexpr const char* kExposed = "exposed";

// A run's table, and what is said of it.
struct Flow {
  std::size_t run = 0;  // of the views
  TimeTable table;
  std::string words;
  std::string left_out;  // "": nothing
  bool sums = false;     // what is sent, in buckets
};

double nanos(Nanos time) {
  return static_cast<double>(time);
}

// The places in a list of those `most` that are exposed longest, in the list's order.
template <typename Rows>
std::vector<std::size_t> most_exposed(const Rows& rows, std::size_t most) {
  std::vector<std::size_t> places(rows.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::ranges::stable_sort(places, std::ranges::greater{},
                           [&](std::size_t i) { return rows[i].exposed; });
  places.resize(std::min(places.size(), most));
  std::ranges::sort(places);
  return places;
}

void add_bars(TimeRow& row, const std::vector<Interval>& times, const char* kind) {
  for (const Interval& time : times) row.bars.push_back({time, kind});
}

// Where gaps between kernels are too short to be seen alone, a bar stands for them where they are
// more than half of it.
void add_exposed(TimeRow& row, const IntervalSet& exposed, Interval range) {
  for (const Interval& bar : joined(exposed, range, kBars))
    if (2 * exposed.length_within(bar) >= bar.end - bar.start) row.bars.push_back({bar, kExposed});
}

std::string exposed_words(const Speech& speech, Nanos exposed) {
  return exposed > 0 ? time_words(speech, nanos(exposed)) : "0";
}

// ---- DistributedDataParallel -------------------------------------------------------------------

class Buckets {
 public:
  Buckets(const analysis::Run& run, const analysis::GradientFlow& flow, const Speech& speech)
      : flow_(flow),
        backward_(flow.backwards.back()),
        measured_(analysis::measure_whole(*run.trace, run.program.get(), nullptr)),
        speech_(speech) {
    const Interval calculated = work_range();
    range_ = {std::min(calculated.start, first_ready()), std::max(calculated.end, last_done())};
    range_.end = std::max(range_.end, range_.start + 1);
  }

  Flow read(std::size_t most) const {
    Flow flow;
    flow.sums = true;
    flow.table.title = speech_.say("bucket");
    for (const char* head : {"gradients", "size", "ready", "begins", "ends", "exposed"})
      flow.table.heads.push_back(speech_.say(head));
    flow.table.start = range_.start;
    flow.table.length = range_.end - range_.start;
    flow.table.rows.push_back(work_row());
    const std::vector<std::size_t> places = most_exposed(backward_.buckets, most);
    for (const std::size_t place : places) flow.table.rows.push_back(row_of(place));
    if (places.size() < backward_.buckets.size())
      flow.left_out = told(speech_, "The {} buckets of {} that are exposed longest.", places.size(),
                           backward_.buckets.size());
    flow.words = words();
    return flow;
  }

 private:
  // Of an imported trace without phases all kernels.
  const IntervalSet& work() const {
    return measured_.backward.empty() ? measured_.kernels : measured_.backward;
  }

  std::optional<analysis::StepExposure> step() const {
    const auto at = static_cast<std::size_t>(backward_.step);
    if (at >= flow_.steps.size()) return std::nullopt;
    return flow_.steps[at];
  }

  Nanos first_ready() const { return backward_.begun(); }
  Nanos last_done() const {
    Nanos last = backward_.done();
    for (const BucketTimes& bucket : backward_.buckets) last = std::max(last, bucket.done);
    return last;
  }

  // From the first kernel of this step's backward to its last.
  Interval work_range() const {
    const auto window = step();
    if (!window) return {first_ready(), last_done()};
    const auto bars = joined(work(), window->window, 1);
    return bars.empty() ? Interval{first_ready(), last_done()} : bars.front();
  }

  TimeRow work_row() const {
    const bool phased = !measured_.backward.empty();
    TimeRow row{speech_.say(phased ? "backward" : "kernels"), {"", "", "", "", "", ""}, {}};
    add_bars(row, joined(work(), range_, kBars), phased ? kCompute : kOthers);
    return row;
  }

  std::string at(Nanos time) const { return time_words(speech_, nanos(time - range_.start)); }

  // Of the bucket's all-reduce, what no earlier one has beside it.
  Interval own_time(std::size_t place) const {
    const BucketTimes& bucket = backward_.buckets[place];
    Nanos start = bucket.started;
    for (std::size_t i = 0; i < place; ++i) start = std::max(start, backward_.buckets[i].done);
    return {std::min(start, bucket.done), bucket.done};
  }

  TimeRow row_of(std::size_t place) const {
    const BucketTimes& bucket = backward_.buckets[place];
    TimeRow row;
    row.name = std::to_string(place);
    row.cells = {bucket.gradients.empty() ? "?" : std::to_string(bucket.gradients.size()),
                 bytes_words(speech_, static_cast<double>(bucket.bytes)),
                 bucket.ready ? at(*bucket.ready) : "?",
                 at(bucket.started),
                 at(bucket.done),
                 exposed_words(speech_, bucket.exposed)};
    const Nanos ready = bucket.ready.value_or(bucket.launched);
    if (!bucket.gradients.empty()) row.bars.push_back({{first_of(bucket), ready}, kFilling});
    if (bucket.started > ready) row.bars.push_back({{ready, bucket.started}, kQueued});
    row.bars.push_back({{bucket.started, bucket.done}, kRunning});
    const Interval own = own_time(place);
    add_exposed(row, IntervalSet({own}).without(measured_.kernels), own);
    return row;
  }

  static Nanos first_of(const BucketTimes& bucket) {
    return std::ranges::min_element(bucket.gradients, {}, &analysis::BucketGradient::ready)->ready;
  }

  // "8 GPUs, step 3: exposed 2.1 ms of 13.6 ms".
  std::string words() const {
    std::string words = told(speech_, "{} GPUs, step {}", flow_.ranks, backward_.number);
    if (flow_.rank) words += ", " + told(speech_, "as rank {} has it", *flow_.rank);
    const auto window = step();
    if (!window) return words;
    const Nanos exposed = window->buckets + window->others;
    words += ": " + told(speech_, "exposed communication {} of {}", exposed_words(speech_, exposed),
                         time_words(speech_, nanos(window->window.end - window->window.start)));
    if (window->others > 0)
      words += ", " + told(speech_, "{} of it of other collectives than those of buckets",
                           time_words(speech_, nanos(window->others)));
    return words;
  }

  const analysis::GradientFlow& flow_;
  const BackwardFlow& backward_;
  analysis::Measured measured_;
  const Speech& speech_;
  Interval range_;
};

// ---- DataParallel ------------------------------------------------------------------------------

class Star {
 public:
  Star(const analysis::StarFlow& flow, const Speech& speech)
      : flow_(flow), step_(flow.steps.back()), speech_(speech) {}

  Flow read(std::size_t most) const {
    Flow flow;
    flow.table.title = speech_.say("stage");
    for (const char* head : {"transfers", "size", "begins", "ends", "exposed"})
      flow.table.heads.push_back(speech_.say(head));
    flow.table.start = step_.window.start;
    flow.table.length = std::max<Nanos>(step_.window.end - step_.window.start, 1);
    for (std::size_t gpu = 0; gpu < flow_.gpus.size(); ++gpu)
      if (gpu == 0 || gpu + 1 == flow_.gpus.size()) flow.table.rows.push_back(work_row(gpu));
    const std::vector<std::size_t> places = most_exposed(step_.stages, most);
    for (const std::size_t place : places) flow.table.rows.push_back(row_of(step_.stages[place]));
    if (places.size() < step_.stages.size())
      flow.left_out = told(speech_, "The {} stages of {} that are exposed longest.", places.size(),
                           step_.stages.size());
    flow.words = words();
    return flow;
  }

 private:
  TimeRow work_row(std::size_t gpu) const {
    const analysis::GpuWork& work = flow_.gpus[gpu];
    TimeRow row{fmt::format("GPU {}", gpu), {"", "", "", "", ""}, {}};
    add_bars(row, joined(work.others, step_.window, kBars), kOthers);
    add_bars(row, joined(work.forward, step_.window, kBars), kForward);
    add_bars(row, joined(work.backward, step_.window, kBars), kCompute);
    add_bars(row, joined(work.optimizer, step_.window, kBars), kOptimizer);
    return row;
  }

  std::string at(Nanos time) const { return time_words(speech_, nanos(time - step_.window.start)); }

  TimeRow row_of(const analysis::StarStageTimes& stage) const {
    TimeRow row;
    row.name = speech_.say(analysis::name_of(stage.stage));
    row.cells = {std::to_string(stage.transfers.size()),
                 bytes_words(speech_, static_cast<double>(stage.bytes)), at(stage.start),
                 at(stage.end), exposed_words(speech_, stage.exposed)};
    std::vector<Interval> times;
    for (const analysis::StarTransfer& one : stage.transfers) times.push_back({one.start, one.end});
    const IntervalSet sent(std::move(times));
    add_bars(row, joined(sent, step_.window, kBars), kRunning);
    add_exposed(row, sent.without(flow_.gpus.front().all()), step_.window);
    return row;
  }

  std::string words() const {
    Nanos exposed = 0;
    for (const analysis::StarStageTimes& stage : step_.stages) exposed += stage.exposed;
    return told(speech_, "DataParallel on {} GPUs, step {}", flow_.gpus.size(), step_.step) + ": " +
           told(speech_, "exposed communication {} of {}", exposed_words(speech_, exposed),
                time_words(speech_, nanos(step_.window.end - step_.window.start))) +
           "; " + speech_.say("all goes from GPU 0 or to it");
  }

  const analysis::StarFlow& flow_;
  const analysis::StarStep& step_;
  const Speech& speech_;
};

// ---- All runs ----------------------------------------------------------------------------------

std::optional<Flow> flow_of(const analysis::Run& run, std::size_t most, const Speech& speech) {
  const analysis::GradientFlow buckets = analysis::gradient_flow(*run.trace, run.program.get());
  if (!buckets.empty()) return Buckets(run, buckets, speech).read(most);
  const analysis::StarFlow star = analysis::star_flow(*run.trace);
  if (!star.empty()) return Star(star, speech).read(most);
  return std::nullopt;
}

std::vector<Flow> flows_of(const std::vector<RunView>& views, std::size_t most,
                           const Speech& speech) {
  std::vector<Flow> flows;
  for (std::size_t run = 0; run < views.size(); ++run)
    if (auto flow = flow_of(*views[run].run, most, speech)) {
      flow->run = run;
      flows.push_back(std::move(*flow));
    }
  Nanos longest = 1;
  for (const Flow& flow : flows) longest = std::max(longest, flow.table.length);
  for (Flow& flow : flows) flow.table.length = longest;
  return flows;
}

// What the bars that are there mean. Buckets are summed; DataParallel's transfers are told by their
// names.
std::string legend_of(const std::vector<Flow>& flows, const Speech& speech) {
  std::set<std::string_view> kinds;
  bool buckets = false;
  for (const Flow& flow : flows) {
    buckets |= flow.sums;
    for (const TimeRow& row : flow.table.rows)
      for (const TimeBar& bar : row.bars) kinds.insert(bar.kind);
  }
  std::string html;
  for (const auto& [kind, words] :
       {std::pair{kForward, "forward"}, std::pair{kCompute, "backward"},
        std::pair{kOptimizer, "optimizer"},
        std::pair{kOthers, kinds.contains(kCompute) ? "other kernels" : "kernels"},
        std::pair{kFilling, "the bucket fills"}, std::pair{kQueued, "it waits"},
        std::pair{kRunning, buckets ? "it is sent and summed" : "transfers"},
        std::pair{kExposed, "exposed: nothing calculates beside it"}})
    if (kinds.contains(kind))
      html +=
          fmt::format("<li><i class=\"swatch {}\"></i>{}</li>", kind, html_text(speech.say(words)));
  return "<ul class=\"legend\">" + html + "</ul>\n";
}

}  // namespace

std::string flow_html(const std::vector<RunView>& views, const PageLimits& limits,
                      const Speech& speech) {
  const std::vector<Flow> flows = flows_of(views, limits.rows, speech);
  if (flows.empty()) return "";
  std::string body;
  for (const Flow& flow : flows) {
    body += run_words_html(views, flow.run, flow.words) + time_table_html(flow.table, speech);
    if (!flow.left_out.empty()) body += remark_html(flow.left_out);
  }
  return view_html({"flow", speech.say("Gradient flow"), badges_html(views, speech),
                    "<div class=\"wide\">" + body + legend_of(flows, speech) + "</div>\n"});
}

}  // namespace trainscope::report
