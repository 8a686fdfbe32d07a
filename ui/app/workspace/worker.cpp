#include "ui/app/workspace/worker.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "analysis/runs/run_file.h"
#include "base/error.h"
#include "trace/mark_lanes.h"
#include "trace/step_mark.h"
#include "ui/app/workspace/caught.h"

namespace trainscope::ui {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kEventsAtOnce = 64;  // operations computed among them may take long
constexpr auto kBetweenViews = std::chrono::milliseconds(60);
constexpr auto kFirstView = std::chrono::milliseconds(30);  // after a knob is let go

// All slots at work use no more threads than there are cores.
int threads_of_a_slot() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency() / Worker::kSlots));
}

Report report_on(std::size_t slot, bool over) {
  Report report;
  report.slot = slot;
  report.over = over;
  return report;
}

void note(const analysis::Session& session, bool over, Progress& progress) {
  progress.share = session.share();
  progress.spans = session.trace()->spans().size();
  progress.complete = over || session.is_training();
  progress.training = session.is_training();
}

// When to say how far a run is, and when to show it.
class Pace {
 public:
  explicit Pace(Clock::time_point begun) : told_(begun - kBetweenViews + kFirstView) {}

  bool due() {
    const Clock::time_point now = Clock::now();
    if (now - told_ < kBetweenViews) return false;
    told_ = now;
    return true;
  }
  bool view_due() const { return told_ - viewed_ >= between_; }
  void viewed() {
    viewed_ = Clock::now();
    // A long trace takes long to index: most of the time goes into the run itself.
    between_ = std::max<Clock::duration>(kBetweenViews, 8 * (viewed_ - told_));
  }

 private:
  Clock::time_point told_;
  Clock::time_point viewed_{};
  Clock::duration between_ = kBetweenViews;
};

// Of the first lane that has any.
trace::Row step_marks(const trace::Trace& trace, const trace::TraceIndex& index) {
  trace::Row marks;
  for (const trace::LaneIndex& lane : index.lanes) {
    if (trace.lanes()[lane.lane].kind != trace::LaneKind::kSteps || !marks.spans.empty()) continue;
    for (const trace::Row& row : lane.rows)
      for (const trace::SpanId span : row.spans)
        if (trace.name(trace.spans()[span]).starts_with(trace::kStepMark))
          marks.spans.push_back(span);
  }
  std::ranges::sort(marks.spans, {}, [&](trace::SpanId span) { return trace.spans()[span].start; });
  return marks;
}

analysis::ByCorrelation<Nanos> launches_of(const trace::Trace& trace,
                                           const trace::TraceIndex& index) {
  analysis::ByCorrelation<Nanos> launches(trace, std::numeric_limits<Nanos>::min());
  for (trace::SpanId i = 0; i < index.span_count; ++i) {
    const trace::Span& span = trace.spans()[i];
    if (span.correlation != 0 && trace.lanes()[span.lane].kind == trace::LaneKind::kHostThread)
      launches.add(span.correlation, span.start);
  }
  return launches;
}

}  // namespace

std::string Progress::percent() const {
  return std::to_string(static_cast<int>(100 * share)) + " %";
}

TraceView index_trace(std::shared_ptr<const trace::Trace> trace) {
  auto view = std::make_shared<IndexedTrace>();
  view->index = trace::build_index(*trace);
  view->draw = build_draw_index(*trace, view->index);
  view->steps = step_marks(*trace, view->index);
  view->repeated_marks = trace::repeated_mark_lanes(*trace, view->index);
  if (!view->steps.spans.empty()) view->launches = launches_of(*trace, view->index);
  view->trace = std::move(trace);
  return view;
}

Outline outline_of(const program::Program& program, const trace::Trace& trace) {
  Outline outline;
  outline.listing = program.listing;
  outline.origin = trace.origin();
  for (std::uint32_t i = 0, n = trace.lanes().size(); i < n; ++i)
    if (trace.lanes()[i].kind != trace::LaneKind::kMemoryRole &&
        trace.lanes()[i].kind != trace::LaneKind::kMemory)
      outline.lanes.push_back(trace.lanes()[i]);
  return outline;
}

Worker::Worker(std::function<void()> wake, analysis::GpuRuns::OpenDevice open)
    : wake_(std::move(wake)), gpu_(std::move(open)) {
  for (std::size_t slot = 0; slot < kSlots; ++slot)
    threads_[slot] = std::jthread([this, slot](const std::stop_token& stop) { work(slot, stop); });
}

Worker::~Worker() {
  for (std::jthread& thread : threads_) thread.request_stop();
  for (std::jthread& thread : threads_) thread.join();
}

void Worker::outline(std::size_t slot, std::string label, program::Config config) {
  add({slot, 0, std::move(label), Simulate{std::move(config), false}});
}

void Worker::run(std::size_t slot, std::string label, program::Config config) {
  add({slot, 0, std::move(label), Simulate{std::move(config), true}});
}

void Worker::measure(std::size_t slot, std::string label, program::Config config) {
  add({slot, 0, std::move(label), Measure{std::move(config)}});
}

void Worker::measure_whole(std::size_t slot, analysis::RunPointer run) {
  std::string label = run->label;
  add({slot, 0, std::move(label), Whole{std::move(run)}});
}

void Worker::import(std::size_t slot, std::string label, std::filesystem::path file) {
  add({slot, 0, std::move(label), std::move(file)});
}

void Worker::open(std::size_t slot, std::string label, analysis::RunPointer run, std::string file) {
  add({slot, 0, std::move(label), Opened{std::move(run), std::move(file)}});
}

void Worker::abandon(std::size_t slot) {
  ++newest_[slot];
}

void Worker::add(Job job) {
  job.ticket = ++newest_[job.slot];
  const std::size_t slot = job.slot;
  {
    const std::lock_guard lock(mutex_);
    jobs_[slot] = std::move(job);
  }
  changed_.notify_all();
}

std::vector<Report> Worker::reports() {
  std::vector<Ticketed> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(reports_);
  }
  std::vector<Report> wanted;
  for (Ticketed& one : all)
    if (one.ticket == newest_[one.report.slot]) wanted.push_back(std::move(one.report));
  return wanted;
}

void Worker::work(std::size_t slot, const std::stop_token& stop) {
  while (true) {
    std::optional<Job> job;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return jobs_[slot].has_value(); })) return;
      job.swap(jobs_[slot]);
    }
    carry_out(*job, stop);
  }
}

bool Worker::is_wanted(const Job& job, const std::stop_token& stop) const {
  return !stop.stop_requested() && newest_[job.slot] == job.ticket;
}

void Worker::carry_out(const Job& job, const std::stop_token& stop) {
  Report failed = report_on(job.slot, true);
  try {
    if (const auto* what = std::get_if<Simulate>(&job.what))
      simulate(job, *what, stop);
    else if (const auto* on_gpu = std::get_if<Measure>(&job.what))
      measure(job, *on_gpu, stop);
    else if (const auto* stepped = std::get_if<Whole>(&job.what))
      measure_whole(job, *stepped);
    else if (const auto* file = std::get_if<std::filesystem::path>(&job.what))
      finish(job, std::make_shared<analysis::Run>(analysis::import_run(job.label, *file)));
    else
      show_opened(job, std::get<Opened>(job.what), stop);
    return;
  } catch (...) {
    failed.error = caught_sentence();
  }
  tell(job, std::move(failed));
}

void Worker::simulate(const Job& job, const Simulate& what, const std::stop_token& stop) {
  Progress progress;
  analysis::Session session(job.label, what.config, threads_of_a_slot());
  Report begun = report_on(job.slot, !what.to_the_end);
  begun.outline = std::make_shared<Outline>(outline_of(session.program(), *session.trace()));
  tell(job, std::move(begun));
  if (!what.to_the_end) return;
  TraceView view;  // of the timeline, once that is complete
  Pace pace(progress.begun);
  for (bool over = false; !over;) {
    over = session.advance(kEventsAtOnce);
    if (!is_wanted(job, stop)) return;
    note(session, over, progress);
    const bool completes = progress.complete && !(view && view->trace == session.trace());
    if (!pace.due() && !completes) continue;
    Report so_far = report_on(job.slot, false);
    so_far.progress = progress;
    if (completes) {
      so_far.view = view = indexed(job.slot, session.trace());
    } else if (!progress.complete && pace.view_due()) {
      so_far.view = indexed(job.slot, session.trace());
      pace.viewed();
    }
    tell(job, std::move(so_far));
  }
  finish(job, std::make_shared<analysis::Run>(session.result()), std::move(view));
}

// What the GPU cannot carry out leaves the side as it was.
void Worker::measure(const Job& job, const Measure& what, const std::stop_token& stop) {
  Progress progress;
  progress.measuring = true;
  const auto tell_share = [&](double share) {
    Report so_far = report_on(job.slot, false);
    progress.share = share;
    so_far.progress = progress;
    tell(job, std::move(so_far));
  };
  tell_share(0);
  const analysis::Watch watch{[&] { return is_wanted(job, stop); }, tell_share};
  try {
    auto run = gpu_.run(job.label, what.config, watch);
    if (run && is_wanted(job, stop)) finish(job, std::make_shared<analysis::Run>(*std::move(run)));
  } catch (const MissingError& error) {
    Report refused = report_on(job.slot, true);
    refused.refusal = error.what();
    tell(job, std::move(refused));
  }
}

void Worker::measure_whole(const Job& job, const Whole& what) {
  Report report = report_on(job.slot, true);
  report.run = std::make_shared<const analysis::Run>(analysis::measured_as_a_whole(*what.run));
  report.whole = true;
  tell(job, std::move(report));
}

void Worker::finish(const Job& job, analysis::RunPointer run, TraceView drawn) {
  Report report = report_on(job.slot, true);
  if (run->program)
    report.outline = std::make_shared<Outline>(outline_of(*run->program, *run->trace));
  report.view = drawn ? std::move(drawn) : indexed(job.slot, run->trace);
  report.run = std::move(run);
  tell(job, std::move(report));
}

void Worker::show_opened(const Job& job, const Opened& opened, const std::stop_token& stop) {
  auto run = std::make_shared<analysis::Run>(*opened.run);
  run->label = job.label;
  Report shown = report_on(job.slot, false);
  if (run->program)
    shown.outline = std::make_shared<Outline>(outline_of(*run->program, *run->trace));
  shown.view = indexed(job.slot, run->trace);
  tell(job, std::move(shown));
  if (!is_wanted(job, stop)) return;
  Report complete = report_on(job.slot, true);
  complete.run =
      analysis::is_analysed(*run)
          ? std::move(run)
          : std::make_shared<analysis::Run>(analysis::analysed(std::move(*run), opened.file));
  tell(job, std::move(complete));
}

TraceView Worker::indexed(std::size_t slot, std::shared_ptr<const trace::Trace> trace) {
  auto& [last, before] = kept_[slot];
  before = std::move(last);
  last = index_trace(std::move(trace));
  return last;
}

void Worker::tell(const Job& job, Report report) {
  {
    const std::lock_guard lock(mutex_);
    reports_.push_back({job.ticket, std::move(report)});
  }
  wake_();
}

}  // namespace trainscope::ui
