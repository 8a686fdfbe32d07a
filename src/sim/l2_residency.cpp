#include "sim/l2_residency.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "machine/architecture.h"
#include "machine/roofline.h"
#include "program/second_reads.h"

namespace trainscope::sim {
namespace {

using program::Index;

constexpr double kSteps = 64;
constexpr double kMostOfL2 = 5;  // a footprint of more times L2 is served for less than a step

std::size_t lowest_bit(std::size_t place) {
  return place & (~place + 1);
}

}  // namespace

L2Residency::L2Residency(const program::Program& program, const machine::Gpu& gpu)
    : program_(program), gpu_(gpu) {
  constexpr std::size_t kFirst = 1024;
  sums_.resize(kFirst);
}

std::size_t L2Residency::place_of(Index buffer) const {
  // One before the first is far beyond the last.
  const std::size_t at = buffer - first_;
  return at < places_.size() ? places_[at] : 0;
}

std::uint32_t& L2Residency::place_for(Index buffer) {
  if (places_.empty()) first_ = buffer;
  if (buffer < first_) {
    places_.insert(places_.begin(), first_ - buffer, 0);
    first_ = buffer;
  }
  const std::size_t at = buffer - first_;
  if (at >= places_.size()) places_.resize(at + 1);
  return places_[at];
}

double L2Residency::touch(const program::Operation& operation) {
  if (gpu_.l2_bytes_per_s <= 0) return 0;
  if (operation.reads.empty() && operation.writes.empty()) {
    touch(program::kNoIndex, std::llround(operation.bytes));
    return 0;
  }
  gather(operation);
  double traffic = 0, hits = 0, own = 0;
  for (const Operand& one : operands_) {
    own += one.bytes;
    traffic += one.bytes * one.times;
    if (one.read && one.place > 0) hits += one.bytes * hits_of(one.place, own);
  }
  const ReadAgain again = read_again(operation);
  traffic += again.bytes;
  if (again.bytes > 0) hits += again.bytes * machine::l2_hits(gpu_, again.footprint);
  for (const Operand& one : operands_) touch(one.buffer, std::llround(one.bytes));
  return traffic > 0 ? std::floor(hits / traffic * kSteps) / kSteps : 0;
}

// Of blocks that read their part more than once, those that fit on the SMs together. The two halves
// of an A100's L2 and its successors' each serve the SMs beside them (its white paper), so that a
// row whose home is the other half may lie in both. That all then count twice is fitted to three
// times of softmax on an A100, of rows of 10240 to 16384 numbers (README.md). Channels of batch
// norm count once: the loads of its threads were fitted to a trace with that.
L2Residency::ReadAgain L2Residency::read_again(const program::Operation& operation) const {
  const auto of = [&](const program::SecondRead& read, std::int64_t blocks, int threads,
                      double copies) {
    const std::int64_t at_once = gpu_.sm_count * std::int64_t{gpu_.threads_per_sm / threads};
    return ReadAgain{read.bytes,
                     copies * read.block_bytes * static_cast<double>(std::min(blocks, at_once))};
  };
  if (const auto* norm = std::get_if<program::BatchNorm>(&operation.function))
    return of(program::second_read(*norm, program_.buffers[operation.reads.front()].bytes),
              norm->channels, program::kBatchNormThreads, 1);
  if (const auto* softmax = std::get_if<program::LogSoftmax>(&operation.function)) {
    const int capability = machine::architecture_of(gpu_).capability;
    const bool halves = capability == 80 || capability == 90 || capability == 100;
    return of(program::second_read(*softmax, program_.buffers[operation.reads.front()].bytes),
              softmax->rows, operation.threads, halves ? 2 : 1);
  }
  return {};
}

// Each once, those first that were touched longest ago. Of tables only some rows are read.
void L2Residency::gather(const program::Operation& operation) {
  operands_.clear();
  double traffic = 0;
  const auto add = [&](Index buffer, bool read) {
    const auto bytes = static_cast<double>(program_.buffers[buffer].bytes);
    traffic += bytes;
    operands_.push_back({place_of(buffer), buffer, bytes, 1, read});
  };
  for (const Index buffer : operation.reads) add(buffer, true);
  for (const Index buffer : operation.writes) add(buffer, false);
  std::sort(operands_.begin(), operands_.end(), [](const Operand& a, const Operand& b) {
    return std::tie(a.place, a.buffer) < std::tie(b.place, b.buffer);
  });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < operands_.size(); ++i) {
    if (operands_[i].buffer == operands_[kept].buffer) {
      operands_[kept].read |= operands_[i].read;
      ++operands_[kept].times;
    } else {
      operands_[++kept] = operands_[i];
    }
  }
  operands_.resize(kept + 1);
  const double part = traffic > 0 ? std::min(1.0, operation.bytes / traffic) : 0;
  for (Operand& one : operands_) one.bytes *= part;
}

// `own`: of the kernel's operands, this one and those that were touched before it; the others are
// among what was touched since.
double L2Residency::hits_of(std::size_t place, double own) const {
  const double footprint = static_cast<double>(bytes_behind(place)) + own;
  if (footprint > kMostOfL2 * static_cast<double>(gpu_.l2_bytes)) return 0;
  return machine::l2_hits(gpu_, footprint);
}

// Of what was touched after this place.
std::int64_t L2Residency::bytes_behind(std::size_t place) const {
  std::int64_t before = 0;
  for (std::size_t i = place; i > 0; i -= lowest_bit(i)) before += sums_[i - 1];
  return all_ - before;
}

void L2Residency::add(std::size_t place, std::int64_t bytes) {
  for (std::size_t i = place; i <= sums_.size(); i += lowest_bit(i)) sums_[i - 1] += bytes;
  all_ += bytes;
}

void L2Residency::touch(Index buffer, std::int64_t bytes) {
  if (order_.size() == sums_.size()) compact();
  if (buffer != program::kNoIndex) {
    std::uint32_t& place = place_for(buffer);
    if (place > 0) {
      add(place, -order_[place - 1].bytes);
      order_[place - 1] = {};
    }
    place = static_cast<std::uint32_t>(order_.size() + 1);
  }
  order_.push_back({buffer, bytes});
  add(order_.size(), bytes);
}

// Places anew what L2 may still hold some of.
void L2Residency::compact() {
  const std::vector<Touched> before = std::move(order_);
  const double most = kMostOfL2 * static_cast<double>(gpu_.l2_bytes);
  std::size_t first = before.size();
  for (double bytes = 0; first > 0 && bytes <= most; --first)
    bytes += static_cast<double>(before[first - 1].bytes);
  order_.clear();
  all_ = 0;
  std::fill(places_.begin(), places_.end(), 0);
  for (std::size_t i = first; i < before.size(); ++i) {
    if (before[i].bytes == 0) continue;
    order_.push_back(before[i]);
    if (before[i].buffer != program::kNoIndex)
      place_for(before[i].buffer) = static_cast<std::uint32_t>(order_.size());
  }
  sums_.assign(std::max(sums_.size(), 2 * order_.size()), 0);
  for (std::size_t i = 0; i < order_.size(); ++i) add(i + 1, order_[i].bytes);
}

}  // namespace trainscope::sim
