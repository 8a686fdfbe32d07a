#include "report/words.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <tuple>
#include <vector>

#include "base/units.h"
#include "report/chart.h"

namespace trainscope::report {
namespace {

// "16 x 4"; trailing ones are left out.
std::string shape(const std::int32_t (&size)[3]) {
  std::string text = std::to_string(size[0]);
  if (size[1] != 1 || size[2] != 1) text += " x " + std::to_string(size[1]);
  if (size[2] != 1) text += " x " + std::to_string(size[2]);
  return text;
}

DetailWords words_of(const trace::KernelDetail& kernel, const Speech& speech) {
  std::vector<std::string> parts = {"grid " + shape(kernel.grid), "block " + shape(kernel.block)};
  if (kernel.registers_per_thread > 0)
    parts.push_back(told(speech, "{} registers a thread", kernel.registers_per_thread));
  if (kernel.shared_bytes > 0)
    parts.push_back(told(speech, "{} shared a block",
                         bytes_words(speech, static_cast<double>(kernel.shared_bytes))));
  if (kernel.occupancy >= 0)
    parts.push_back(
        told(speech, "occupancy {}", speech.number(format_value(kernel.occupancy, "%"))));
  return {fmt::format("{}", fmt::join(parts, ", ")), kernel.bytes, kernel.flops};
}

DetailWords words_of(const trace::CopyDetail& copy, const Speech&) {
  std::string text;
  if (copy.from != trace::Memory::kUnknown || copy.to != trace::Memory::kUnknown)
    text = fmt::format("{} to {}", trace::name_of(copy.from), trace::name_of(copy.to));
  return {text, static_cast<double>(copy.bytes), 0};
}

DetailWords words_of(const trace::CollectiveDetail& collective, const Speech& speech) {
  std::string text = collective.operation;
  if (collective.elements_in > 0)
    text += " " + told(speech, "of {} {}",
                       speech.number(format_count(static_cast<double>(collective.elements_in))),
                       collective.type);
  for (const std::string* word : {&collective.algorithm, &collective.protocol})
    if (!word->empty()) text += ", " + *word;
  if (collective.group_size > 0) text += ", " + told(speech, "{} ranks", collective.group_size);
  if (!collective.group.empty())
    text += ", " + told(speech, "process group {} {}", collective.group, collective.members);
  if (collective.sequence >= 0) text += ", " + told(speech, "number {}", collective.sequence);
  return {text, 0, 0};
}

DetailWords words_of(const trace::SyncDetail& sync, const Speech& speech) {
  if (sync.stream < 0) return {sync.kind, 0, 0};
  return {sync.kind + ", " + told(speech, "stream {}", sync.stream), 0, 0};
}

}  // namespace

std::string gap_label(const analysis::IdleGap& gap, const Speech& speech) {
  return told(speech, "idle {}: {}", time_words(speech, static_cast<double>(gap.end - gap.start)),
              speech.say(analysis::name_of(gap.cause)));
}

std::string label_of(const trace::Trace& trace, const trace::Span& span, const Speech& speech) {
  const bool waits =
      span.category == trace::Category::kHeld || span.category == trace::Category::kSync;
  const std::string label = bar_label(trace, span);
  if (waits) return speech.say_name(label);
  return label == trace.name(span) ? label : speech.number(label);  // else bytes
}

bool DetailWords::operator<(const DetailWords& other) const {
  return std::tie(text, bytes, flops) < std::tie(other.text, other.bytes, other.flops);
}

DetailWords detail_words(const trace::Detail& detail, const Speech& speech) {
  DetailWords words = std::visit([&](const auto& one) { return words_of(one, speech); }, detail);
  if (!std::isfinite(words.bytes) || words.bytes < 0) words.bytes = 0;
  if (!std::isfinite(words.flops) || words.flops < 0) words.flops = 0;
  return words;
}

std::string_view meaning_of(trace::Category category) {
  static constexpr std::array<std::string_view, trace::kCategoryCount> kMeanings = {
      "Python and the framework on the CPU; an operator",
      "a call of the CUDA runtime or driver",
      "a host thread that a call holds until something else is done",
      "a batch being loaded",
      "a batch being copied into pinned memory",
      "a copy into the driver's own pinned buffer",
      "a GPU kernel whose part of the step is not known",
      "kernels of the forward pass",
      "kernels of the backward pass",
      "kernels of the optimizer",
      "a copy from the host to the GPU (host to device)",
      "a copy from the GPU to the host (device to host)",
      "a copy within a GPU, between GPUs, or within the host",
      "memory being set to one value",
      "GPUs exchanging data, as an all-reduce does",
      "a GPU's stream that waits for another stream or rank",
      "a mark of the program's own: a step, a phase",
      "none of the others",
  };
  return kMeanings[static_cast<std::size_t>(category)];
}

std::string slug(std::string_view words) {
  std::string text;
  for (const char letter : words) {
    if (letter >= 'A' && letter <= 'Z')
      text += static_cast<char>(letter - 'A' + 'a');
    else
      text += letter == ' ' ? '-' : letter;
  }
  return text;
}

}  // namespace trainscope::report
