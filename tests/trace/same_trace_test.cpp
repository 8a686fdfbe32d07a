#include "trace/same_trace.h"

#include <bit>
#include <catch2/catch.hpp>
#include <tuple>
#include <variant>

namespace trainscope::test {
namespace {

using namespace trace;

auto tied(const Lane& lane) {
  return std::tie(lane.name, lane.kind, lane.rank, lane.device, lane.process, lane.thread,
                  lane.group);
}

auto tied(const Span& span) {
  return std::tie(span.start, span.duration, span.lane, span.cause_span, span.correlation,
                  span.category, span.cause, span.line);
}

auto tied(const KernelDetail& kernel) {
  return std::tie(kernel.device, kernel.stream, kernel.grid[0], kernel.grid[1], kernel.grid[2],
                  kernel.block[0], kernel.block[1], kernel.block[2], kernel.registers_per_thread,
                  kernel.shared_bytes, kernel.flops, kernel.bytes, kernel.occupancy);
}

auto tied(const CopyDetail& copy) {
  return std::tie(copy.bytes, copy.from, copy.to, copy.device, copy.stream);
}

auto tied(const CollectiveDetail& one) {
  return std::tuple_cat(std::tie(one.operation, one.type, one.elements_in, one.elements_out,
                                 one.group_size, one.sequence, one.algorithm, one.protocol),
                        tied(one.kernel));
}

auto tied(const SyncDetail& sync) {
  return std::tie(sync.kind, sync.device, sync.stream);
}

auto tied(const Origin& origin) {
  return std::tie(origin.kind, origin.subject, origin.detail, origin.clock_start);
}

bool same(const Detail* a, const Detail* b) {
  if (!a || !b) return !a && !b;
  if (a->index() != b->index()) return false;
  return std::visit(
      [&](const auto& one) { return tied(one) == tied(std::get<std::decay_t<decltype(one)>>(*b)); },
      *a);
}

bool same(const Sample& a, const Sample& b) {
  const bool same_value = a.value == b.value || (a.value != a.value && b.value != b.value);
  return a.time == b.time && a.lane == b.lane && same_value;
}

bool same(const Flow& a, const Flow& b) {
  return a.from == b.from && a.to == b.to && a.kind == b.kind;
}

std::string at(const char* what, std::uint32_t index) {
  return std::string(what) + " " + std::to_string(index) + " differs";
}

}  // namespace

std::string difference(const Trace& a, const Trace& b) {
  if (tied(a.origin()) != tied(b.origin())) return "the origin differs";
  if (a.lanes().size() != b.lanes().size()) return "the number of lanes differs";
  if (a.spans().size() != b.spans().size()) return "the number of spans differs";
  if (a.flows().size() != b.flows().size()) return "the number of flows differs";
  if (a.samples().size() != b.samples().size()) return "the number of samples differs";
  for (std::uint32_t i = 0; i < a.lanes().size(); ++i)
    if (tied(a.lanes()[i]) != tied(b.lanes()[i])) return at("lane", i);
  for (std::uint32_t i = 0; i < a.spans().size(); ++i) {
    const Span &x = a.spans()[i], &y = b.spans()[i];
    if (tied(x) != tied(y)) return at("span", i);
    if (a.name(x) != b.name(y)) return at("the name of span", i);
    if (!same(a.detail(x), b.detail(y))) return at("the detail of span", i);
  }
  for (std::uint32_t i = 0; i < a.flows().size(); ++i)
    if (!same(a.flows()[i], b.flows()[i])) return at("flow", i);
  for (std::uint32_t i = 0; i < a.samples().size(); ++i)
    if (!same(a.samples()[i], b.samples()[i])) return at("sample", i);
  return "";
}

std::string allocator_difference(const Trace& a, const Trace& b) {
  const auto word = [](const Trace& trace, NameId id) {
    return id == kNone ? "no name" : "named " + trace.name(id);
  };
  if (a.allocator_events().size() != b.allocator_events().size())
    return "the number of allocator events differs";
  for (std::uint32_t i = 0; i < a.allocator_events().size(); ++i) {
    const AllocatorEvent &x = a.allocator_events()[i], &y = b.allocator_events()[i];
    const auto tie = [](const AllocatorEvent& e) {
      return std::tie(e.time, e.offset, e.bytes, e.requested, e.segment, e.device, e.stream,
                      e.action);
    };
    if (tie(x) != tie(y) || word(a, x.owner) != word(b, y.owner) ||
        word(a, x.role) != word(b, y.role))
      return at("allocator event", i);
  }
  return "";
}

std::string training_difference(const Trace& a, const Trace& b) {
  if (a.steps().size() != b.steps().size()) return "the number of steps differs";
  if (a.evaluations().size() != b.evaluations().size()) return "the number of evaluations differs";
  const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
  const auto tie = [&](const TrainingStep& s) {
    return std::tuple(s.step, s.time, s.has_loss, bits(s.loss), bits(s.loss_scale),
                      bits(s.used_scale), bits(s.gradient_norm), s.skipped, s.has_gradients,
                      s.gradients.bins, s.gradients.zeros, s.gradients.not_finite, s.rounded,
                      s.lost_to_zero, s.lost_to_infinity, s.updated, s.lost_updates);
  };
  for (std::uint32_t i = 0; i < a.steps().size(); ++i)
    if (tie(a.steps()[i]) != tie(b.steps()[i])) return at("step", i);
  for (std::uint32_t i = 0; i < a.evaluations().size(); ++i) {
    const Evaluation &x = a.evaluations()[i], &y = b.evaluations()[i];
    if (std::tie(x.step, x.time, x.samples, x.correct) !=
        std::tie(y.step, y.time, y.samples, y.correct))
      return at("evaluation", i);
  }
  return "";
}

}  // namespace trainscope::test

TEST_CASE("two traces that differ in one detail are told apart") {
  using namespace trainscope;
  trace::Trace a({}), b({});
  for (trace::Trace* one : {&a, &b}) one->add_lane({});
  CHECK(test::difference(a, b).empty());
  trace::Span span;
  span.name = a.intern("x");
  span.detail = a.add_detail(trace::CopyDetail{});
  a.add_span(span);
  span.name = b.intern("x");
  span.detail = b.add_detail(trace::SyncDetail{});
  b.add_span(span);
  CHECK(test::difference(a, b) == "the detail of span 0 differs");
}
