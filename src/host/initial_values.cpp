#include "host/initial_values.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.h"

namespace trainscope::host {
namespace {

using Kind = program::Initial::Kind;

// Users of one seed are kept apart by the stream of random words that they draw from.
constexpr std::uint64_t kInitialStream = std::uint64_t{1} << 32;

// In (0, 1]: a logarithm of it is finite.
double open_unit(std::uint32_t word) {
  return (static_cast<double>(word) + 1) * 0x1p-32;
}

// Box and Muller, doi:10.1214/aoms/1177706645.
double normal(std::uint32_t radius, std::uint32_t angle) {
  constexpr double kTurn = 6.283185307179586;
  return std::sqrt(-2 * std::log(open_unit(radius))) * std::cos(kTurn * open_unit(angle));
}

}  // namespace

InitialValues::InitialValues(const program::Program& program)
    : program_(program), orders_(weights_by_channel(program)) {
  std::map<int, std::uint64_t> next;  // by device
  for (const program::Buffer& buffer : program.buffers) {
    std::uint64_t& stream = next.try_emplace(buffer.device, kInitialStream).first->second;
    streams_.push_back(stream + static_cast<std::uint64_t>(buffer.initial.before));
    const bool whole = buffer.type == program::ElementType::kInt64;
    stream += !whole && buffer.initial.kind != Kind::kConstant ? 1 : 0;
  }
}

void InitialValues::read(program::Index buffer, Results values, int rank) const {
  const program::Initial& initial = program_.buffers[buffer].initial;
  const auto part = static_cast<std::size_t>(initial.part_of(rank));
  const std::int64_t own = program_.buffers[buffer].elements();
  const auto run =
      static_cast<std::size_t>((initial.shards > 1 ? initial.shared : own) / initial.runs);
  const auto before = static_cast<std::size_t>(initial.shard_of(rank) * own);
  const auto place_of = [&](std::size_t i) {
    const std::size_t at = before + i;  // of the part
    return (at / run * static_cast<std::size_t>(initial.ranks) + part) * run + at % run;
  };
  const auto order = orders_.find(buffer);
  const auto size = static_cast<float>(initial.value);
  if (initial.kind == Kind::kConstant) return std::fill(values.begin(), values.end(), size);
  const auto seed = static_cast<std::uint64_t>(program_.seed);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t lies_at = place_of(i);
    const std::size_t place =
        order == orders_.end() ? lies_at : order->second.dimensions_of(lies_at);
    const PhiloxCounter words = random_block(seed, place / 2, streams_[buffer]);
    const std::uint32_t first = words.words[place % 2 * 2], second = words.words[place % 2 * 2 + 1];
    values[i] = initial.kind == Kind::kUniform
                    ? (2 * unit_float(first) - 1) * size
                    : static_cast<float>(normal(first, second) * initial.value);
  }
}

}  // namespace trainscope::host
