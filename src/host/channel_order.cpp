#include "host/channel_order.h"

#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace trainscope::host {
namespace {

using program::Index;
using program::Operation;

// Of a fused one, its parts.
template <typename Visit>
void for_each_part(const std::vector<Operation>& operations, const Visit& visit) {
  for (const Operation& operation : operations) {
    visit(operation);
    for_each_part(operation.parts, visit);
  }
}

const program::Convolution* by_channel(const Operation& operation) {
  const auto* f = std::get_if<program::Convolution>(&operation.function);
  return f && f->channels_last ? f : nullptr;
}

// What each buffer is a copy of: weights in another type, and those that ranks hold in parts.
std::map<Index, Index> copied(const program::Program& program) {
  std::map<Index, Index> from;
  std::map<Index, const Operation*> written;  // by what an operation puts together
  for (const Operation& operation : program.operations)
    if (!operation.writes.empty()) written[operation.writes.front()] = &operation;
  for_each_part(program.operations, [&](const Operation& operation) {
    if (std::holds_alternative<program::Cast>(operation.function))
      from.emplace(operation.writes[0], operation.reads[0]);
    if (!std::holds_alternative<program::ShardsApart>(operation.function)) return;
    const auto gather = written.find(operation.reads[0]);
    if (gather == written.end() || gather->second->reads.size() != operation.writes.size()) return;
    for (std::size_t i = 0; i < operation.writes.size(); ++i)
      from.emplace(operation.writes[i], gather->second->reads[i]);
  });
  return from;
}

class ByChannel final : public data::Dataset {
 public:
  explicit ByChannel(std::shared_ptr<const data::Dataset> set) : set_(std::move(set)) {}

  const data::SampleShape& shape() const override { return set_->shape(); }
  std::int64_t size() const override { return set_->size(); }
  void read(std::int64_t index, std::span<float> values, std::span<std::int64_t> tokens,
            std::span<std::int64_t> targets) const override {
    const ChannelOrder order{shape().channels, shape().height * shape().width};
    thread_local std::vector<float> planes;  // once it is as large as a sample it stays so
    planes.resize(values.size());
    set_->read(index, planes, tokens, targets);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = planes[order.dimensions_of(i)];
  }

 private:
  std::shared_ptr<const data::Dataset> set_;
};

}  // namespace

std::size_t ChannelOrder::dimensions_of(std::size_t place) const {
  const auto columns = static_cast<std::size_t>(channels), rows = static_cast<std::size_t>(pixels);
  const std::size_t within = place % (columns * rows);
  return place - within + within % columns * rows + within / columns;
}

std::map<Index, ChannelOrder> weights_by_channel(const program::Program& program) {
  std::map<Index, ChannelOrder> orders;
  const std::map<Index, Index> from = copied(program);
  for_each_part(program.operations, [&](const Operation& operation) {
    const program::Convolution* f = by_channel(operation);
    if (!f || f->part != program::Part::kForward || operation.reads.size() < 2) return;
    const ChannelOrder order{f->channels / f->groups, f->kernel * f->kernel};
    Index weight = operation.reads[1];
    while (orders.emplace(weight, order).second && from.contains(weight)) weight = from.at(weight);
  });
  return orders;
}

DataSets as_convolutions_read(const program::Program& program, const DataSets& sets) {
  bool reorders = false;
  for_each_part(program.operations,
                [&](const Operation& operation) { reorders = reorders || by_channel(operation); });
  DataSets read = sets;
  if (!reorders) return read;
  for (std::shared_ptr<const data::Dataset>* set : {&read.train, &read.test})
    if (*set && (*set)->shape().channels > 1) *set = std::make_shared<ByChannel>(*set);
  return read;
}

}  // namespace trainscope::host
