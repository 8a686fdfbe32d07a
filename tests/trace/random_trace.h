// Traces of any content, for properties that hold of all of them. Same seed, same trace.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace trainscope::test {

class RandomTrace {
 public:
  explicit RandomTrace(unsigned seed) : random_(seed) {}

  std::unique_ptr<trace::Trace> make(int lanes, int spans) {
    auto trace = std::make_unique<trace::Trace>(
        trace::Origin{static_cast<trace::OriginKind>(upto(2)), name(), name(),
                      chance(2) ? 0 : std::int64_t{1'700'000'000'000'000'000} + upto(1 << 30)});
    for (int i = 0; i < lanes; ++i) trace->add_lane(lane());
    for (int i = 0; i < spans; ++i) trace->add_span(span(*trace, lanes, spans));
    for (int i = 0; i < spans / 2; ++i)
      trace->add_flow({id(spans), id(spans), static_cast<trace::FlowKind>(upto(4))});
    for (int i = 0; i < spans / 2; ++i) trace->add_sample({upto(1 << 30), value(), id(lanes)});
    for (int i = 0; i < spans / 2; ++i) trace->add_allocator_event(allocator_event(*trace, spans));
    return trace;
  }

  // Rows of training, of which Chrome traces carry but the counters.
  void add_training(trace::Trace& trace, int steps) {
    for (int i = 0; i < steps; ++i) trace.add_step(step(i));
    for (int i = 0; i < steps / 3; ++i) {
      const int samples = upto(1 << 30);
      trace.add_evaluation({3 * i, upto(1 << 30), samples, upto(samples)});
    }
  }

 private:
  trace::TrainingStep step(int number) {
    trace::TrainingStep step;
    step.step = number;
    step.time = upto(1 << 30);
    step.has_loss = chance(2);
    step.loss = value();
    step.loss_scale = value();
    step.used_scale = value();
    step.gradient_norm = value();
    step.skipped = chance(3);
    step.has_gradients = chance(2);
    if (step.has_gradients)
      for (int i = 0; i < 50; ++i) step.gradients.add(static_cast<float>(value()));
    step.rounded = upto(1 << 30);
    step.lost_to_zero = upto(1 << 20);
    step.lost_to_infinity = upto(1 << 20);
    if (chance(2)) step.updated = 1 + upto(1 << 30);
    step.lost_updates = upto(static_cast<int>(step.updated));
    return step;
  }

  // 0 .. most
  int upto(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  bool chance(int one_in) { return upto(one_in - 1) == 0; }
  std::uint32_t id(int count) { return static_cast<std::uint32_t>(upto(count - 1)); }
  // Of bytes or elements: up to the most that a reader takes.
  std::int64_t size() { return std::int64_t{upto(1 << 30)} << upto(20); }
  std::int64_t large() {
    return std::uniform_int_distribution<std::int64_t>(-(1ll << 52), 1ll << 52)(random_);
  }

  double value() {
    static const std::vector<double> kOdd = {0.0, -1.5,      0.1,        1e300,     -1e-300,
                                             3e9, 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0, 123456789.125};
    return kOdd[id(static_cast<int>(kOdd.size()))];
  }

  std::string name() {
    static const std::vector<std::string> kNames = {
        "",
        "cudaLaunchKernel",
        "cudaMemcpyAsync",
        "cudaStreamSynchronize",
        "Memcpy HtoD (Pageable -> Device)",
        "Memcpy HtoD (",
        "Memset (Device)",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
        "ProfilerStep#3",
        "autograd::engine::evaluate_function: MulBackward0",
        "aten::conv2d",
        "a \"quoted\" name",
        "back\\slash \\u0041 \\",
        std::string("control \x01\x02\n\r\t\b\f\x1f\x7f nul \0.", 24),
        "grüße, 世界, \xF0\x9F\x9A\x80",
        "not UTF-8: \xff\xfe \xc3\x28 \xed\xa0\x80 \xf4\x90\x80\x80 \xc3",
        "\x80",
        "traceEvents",
        "]}",
        "null",
        "Trainscope name",
        std::string(5000, 'x'),
    };
    return kNames[id(static_cast<int>(kNames.size()))];
  }

  trace::Lane lane() {
    trace::Lane lane;
    lane.name = name();
    lane.kind = static_cast<trace::LaneKind>(upto(13));
    lane.rank = chance(3) ? upto(3) : 0;
    lane.device = upto(3) - 1;
    lane.process = chance(2) ? upto(3) : chance(4) ? large() : 4242;
    lane.thread = chance(2) ? upto(8) - 1 : chance(4) ? large() : 4242;
    lane.group = name();
    return lane;
  }

  trace::Span span(trace::Trace& trace, int lanes, int spans) {
    trace::Span span;
    span.start = chance(10) ? std::int64_t{1} << 59 : upto(100'000);
    span.duration = chance(5) ? 0 : chance(20) ? std::int64_t{1} << 59 : upto(3'000);
    span.name = trace.intern(name());
    span.lane = id(lanes);
    span.cause_span = chance(3) ? id(spans) : trace::kNone;
    span.correlation = chance(2) ? static_cast<std::uint32_t>(upto(20)) : 0;
    if (chance(30)) span.correlation = UINT32_MAX;
    span.category = static_cast<trace::Category>(upto(17));
    span.cause = static_cast<trace::Cause>(upto(12));
    span.line = static_cast<std::uint16_t>(chance(2) ? 0 : upto(65535));
    if (!chance(4)) span.detail = trace.add_detail(detail());
    return span;
  }

  trace::Detail detail() {
    switch (upto(3)) {
      case 0:
        return kernel();
      case 1:
        return trace::CopyDetail{size(), memory(), memory(), upto(9) - 1, upto(9) - 1};
      case 2:
        return trace::CollectiveDetail{name(),
                                       name(),
                                       size(),
                                       size(),
                                       upto(9),
                                       chance(2) ? -1 : large(),
                                       kernel(),
                                       chance(2) ? "" : name(),
                                       chance(2) ? "" : name(),
                                       chance(2) ? "" : name(),
                                       chance(2) ? "" : name()};
      default:
        return trace::SyncDetail{name(), upto(9) - 1, upto(9) - 1};
    }
  }

  // Segments have the numbers of the events that could have made them.
  trace::AllocatorEvent allocator_event(trace::Trace& trace, int spans) {
    trace::AllocatorEvent event;
    event.time = upto(1 << 30);
    event.offset = std::int64_t{upto(1 << 30)} << upto(20);
    event.bytes = std::int64_t{upto(1 << 30)} << upto(20);
    event.requested = upto(1 << 30);
    event.segment = chance(5) ? trace::kNone : id(spans / 2);
    event.owner = chance(5) ? trace::kNone : trace.intern(name());
    event.role = chance(5) ? trace::kNone : trace.intern(name());
    event.device = upto(3);
    event.stream = upto(9) - 1;
    event.action = static_cast<trace::AllocatorAction>(upto(6));
    return event;
  }

  trace::Memory memory() { return static_cast<trace::Memory>(upto(5)); }

  trace::KernelDetail kernel() {
    trace::KernelDetail kernel;
    kernel.device = upto(9) - 1;
    kernel.stream = upto(9) - 1;
    for (int i = 0; i < 3; ++i) {
      kernel.grid[i] = upto(1 << 30);
      kernel.block[i] = upto(1024);
    }
    kernel.registers_per_thread = upto(255);
    kernel.shared_bytes = upto(1 << 20);
    kernel.flops = chance(2) ? 0 : 1.1e12 / (1 + upto(1000));
    kernel.bytes = chance(2) ? 0 : 3.3e9 / (1 + upto(1000));
    kernel.occupancy = chance(3) ? -1 : upto(1000) / 1000.0;
    return kernel;
  }

  std::mt19937 random_;
};

}  // namespace trainscope::test
