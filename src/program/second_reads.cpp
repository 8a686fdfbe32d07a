#include "program/second_reads.h"

namespace trainscope::program {
namespace {

constexpr std::int64_t kRegisterBytes = 4;
constexpr std::int64_t kKeptForward = 20, kKeptBackward = 14;  // registers of a thread, an operand

}  // namespace

SecondRead second_read(const BatchNorm& norm, std::int64_t images) {
  if (!norm.training) return {};
  const bool forward = norm.part == Part::kForward;
  const std::int64_t kept =
      kBatchNormThreads * kRegisterBytes * (forward ? kKeptForward : kKeptBackward);
  const std::int64_t channel = images / norm.channels;
  if (channel <= kept) return {};
  const double operands = forward ? 1 : 2;  // backward sums over x and dy
  const double block = operands * static_cast<double>(channel);
  return {block * static_cast<double>(norm.channels), block};
}

SecondRead second_read(const LogSoftmax& softmax, std::int64_t bytes) {
  constexpr std::int64_t kMostOfWarp = 1024;
  if (softmax.classes <= kMostOfWarp) return {};
  const auto all = static_cast<double>(bytes);
  const double row = all / static_cast<double>(softmax.rows);
  if (softmax.part == Part::kForward) return {2 * all, row * 4 / 3};
  return {all, 2 * row};
}

}  // namespace trainscope::program
