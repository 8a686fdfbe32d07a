// A profiler's trace of a training loop, a call at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "analysis/runs/run.h"
#include "support/made_trace.h"

namespace trainscope::test {

// A training loop on one stream, whose kernels take 40 ms a step. Times are in microseconds.
class Loop {
 public:
  void begin_step() { begun_ = host_; }
  void end_step(int number = 3) {
    add(marks_, ("ProfilerStep#" + std::to_string(number)).c_str(), begun_, host_,
        trace::Category::kAnnotation, 0);
  }

  // The host is held until the copy is done; where it is not, it goes on.
  void copy(trace::Category direction, trace::Memory from, trace::Memory to, Nanos time,
            bool holds) {
    trace::Span work = span(stream_, "Memcpy", std::max(host_ + 10, gpu_ + 1), time, direction);
    trace::CopyDetail detail;
    detail.bytes = direction == trace::Category::kCopyH2D ? time * 6000 : 4;  // 6 GB/s
    detail.from = from;
    detail.to = to;
    work.detail = trace().add_detail(detail);
    work.correlation = ++correlation_;
    gpu_ = (work.end() + 999) / 1000;
    trace::Span call = span(thread_, "cudaMemcpyAsync", host_, holds ? gpu_ + 4 - host_ : 6,
                            holds ? trace::Category::kHeld : trace::Category::kHostApi);
    call.cause = holds ? trace::Cause::kStaging : trace::Cause::kNothing;
    call.correlation = correlation_;
    const trace::SpanId id = trace().add_span(call);
    work.cause = trace::Cause::kLaunch;
    work.cause_span = id;
    trace().add_span(work);
    host_ = (call.end() + 999) / 1000;
  }
  void run_kernels() {
    for (int i = 0; i < 40; ++i) {
      const trace::SpanId call = add(thread_, "cudaLaunchKernel", host_, host_ + 10,
                                     trace::Category::kHostApi, ++correlation_);
      trace::Span kernel =
          span(stream_, "gemm", std::max(host_ + 13, gpu_ + 1), 1000, trace::Category::kKernel);
      kernel.correlation = correlation_;
      kernel.cause = trace::Cause::kLaunch;
      kernel.cause_span = call;
      trace().add_span(kernel);
      gpu_ = kernel.end() / 1000;
      host_ += 10;
    }
  }
  void synchronise() {
    add(thread_, "cudaStreamSynchronize", host_, gpu_ + 4, trace::Category::kHeld, 0);
    host_ = gpu_ + 4;
  }
  void rest(Nanos time) { host_ += time; }
  // In a function of Python's, a mark of the program's, or a call.
  void rest_in(const char* name, Nanos time,
               trace::Category category = trace::Category::kHostWork) {
    add(thread_, name, host_, host_ + time, category, 0);
    host_ += time;
  }
  // A function around all that is between; `begun`: what now() was.
  Nanos now() const { return host_; }
  void put_around(const char* name, Nanos begun) {
    add(thread_, name, begun, host_, trace::Category::kHostWork, 0);
  }
  // Of a thread that launches nothing.
  void wait_elsewhere(const char* name) {
    add(made_->lane(trace::LaneKind::kHostThread), name, 0, host_, trace::Category::kHostWork, 0);
  }
  // What the profiler records of its own.
  void add_overhead(const char* name, Nanos start, Nanos end) {
    add(thread_, name, start, end, trace::Category::kOther, 0);
  }
  void launch_what_is_lost(int count) {
    for (int i = 0; i < count; ++i)
      add(thread_, "cudaLaunchKernel", host_, host_ + 1, trace::Category::kHostApi, ++correlation_);
  }

  // With an operator, so that it is known what the host did.
  analysis::Run run() {
    add(thread_, "aten::mm", 1, 2, trace::Category::kHostWork, 0);
    return only_calls();
  }
  analysis::Run only_calls() {
    analysis::Run run;
    run.label = "A";
    run.trace = std::shared_ptr<const trace::Trace>(made_, &made_->trace);
    analysis::analyse(run);
    return run;
  }

 private:
  trace::Trace& trace() { return made_->trace; }
  trace::SpanId add(trace::LaneId lane, const char* name, Nanos start, Nanos end,
                    trace::Category category, std::uint32_t correlation) {
    return made_->add(lane, name, start * kMicrosecond, end * kMicrosecond, category, correlation);
  }
  trace::Span span(trace::LaneId lane, const char* name, Nanos start, Nanos time,
                   trace::Category category) {
    trace::Span one;
    one.lane = lane;
    one.name = trace().intern(name);
    one.start = start * kMicrosecond;
    one.duration = time * kMicrosecond;
    one.category = category;
    return one;
  }

  std::shared_ptr<test::MadeTrace> made_ =
      std::make_shared<test::MadeTrace>(trace::OriginKind::kImported);
  trace::LaneId marks_ = made_->lane(trace::LaneKind::kSteps),
                thread_ = made_->lane(trace::LaneKind::kHostThread),
                stream_ = made_->lane(trace::LaneKind::kStream, 0);
  Nanos host_ = 0, gpu_ = 0, begun_ = 0;
  std::uint32_t correlation_ = 0;
};

}  // namespace trainscope::test
