#include "train/kernels/written_passes.h"

#include <algorithm>
#include <utility>

#include "train/kernels/kernels.h"
#include "train/kernels/launch_shapes.h"

namespace trainscope::train {

using program::Index;
using program::Operation;
using program::OperationKind;

WrittenPasses::WrittenPasses(const program::Program& program, const Operation& whole,
                             const NewBuffer& new_buffer)
    : program_(program),
      whole_(whole),
      name_(program.buffers[whole.writes[0]].name),
      new_buffer_(new_buffer) {}

Index WrittenPasses::make(const std::string& what, std::int64_t elements,
                          program::ElementType type) {
  return new_buffer_(name_ + ": " + what, elements, type);
}

Index WrittenPasses::pass(const PassOf& of, const std::vector<Index>& reads, Index to,
                          double bytes) {
  return add(
      pointwise(of.kernel, of.framework, OperationKind::kElementwise,
                program_.buffers[to].elements(), 1, bytes > 0 ? bytes : this->bytes(reads, to)),
      of, reads, to);
}

void WrittenPasses::in_place(const PassOf& of, const std::vector<Index>& reads, Index to,
                             std::int64_t elements) {
  const auto each = static_cast<double>(program::size_of(type_of(to)));
  Operation one = pointwise(of.kernel, of.framework, OperationKind::kElementwise, elements, 0,
                            2 * each * static_cast<double>(elements));
  one.reads = reads;
  one.reads.push_back(to);
  push(std::move(one), of.same_operator);
}

Index WrittenPasses::cast(const char* framework, Index from, Index to) {
  Operation cast = make_operation(program_, program::Cast{program_.buffers[to].elements()},
                                  program_.buffers[from].type, {{from}, {to}});
  cast.framework = framework;
  cast.is_gradient = whole_.is_gradient;
  launches_.push_back({std::move(cast), false});
  return to;
}

Index WrittenPasses::sum_rows(const PassOf& of, std::int64_t rows, Index from, Index to) {
  const std::int64_t elements = program_.buffers[from].elements();
  Operation sum =
      pointwise(of.kernel, of.framework, OperationKind::kReduction, elements, 1, bytes({from}, to));
  const RowSums shape = sums_of_rows(rows, elements / std::max<std::int64_t>(1, rows));
  sum.blocks = shape.blocks;
  sum.threads = shape.threads;
  return add(std::move(sum), of, {from}, to);
}

// The last one, whose shape follows from its function.
Index WrittenPasses::sum_columns(const PassOf& of, Index from, Index to) {
  return add(pointwise(of.kernel, of.framework, OperationKind::kReduction,
                       program_.buffers[from].elements(), 1, bytes({from}, to)),
             of, {from}, to);
}

std::vector<WrittenLaunch> WrittenPasses::finish(std::vector<Index> reads) {
  Operation& last = launches_.back().operation;
  last.function = whole_.function;
  for (const Index buffer : last.reads)
    if (std::ranges::find(reads, buffer) == reads.end()) reads.push_back(buffer);
  last.reads = std::move(reads);
  last.writes = whole_.writes;
  last.as_one_call = program::CallWork{whole_.flops, whole_.bytes};
  return std::move(launches_);
}

Index WrittenPasses::add(Operation operation, const PassOf& of, const std::vector<Index>& reads,
                         Index to) {
  operation.reads = reads;
  operation.writes = {to};
  push(std::move(operation), of.same_operator);
  return to;
}

void WrittenPasses::push(Operation operation, bool same_operator) {
  operation.type = whole_.type;
  operation.is_gradient = whole_.is_gradient;
  launches_.push_back({std::move(operation), same_operator});
}

double WrittenPasses::bytes(const std::vector<Index>& reads, Index to) const {
  std::int64_t sum = program_.buffers[to].bytes;
  for (const Index buffer : reads) sum += program_.buffers[buffer].bytes;
  return static_cast<double>(sum);
}

}  // namespace trainscope::train
