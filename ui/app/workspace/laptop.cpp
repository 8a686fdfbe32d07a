#include "ui/app/workspace/laptop.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/speech.h"
#include "base/units.h"
#include "machine/machine.h"

namespace trainscope::ui {
namespace {

// Of the words of a lesson, in its language.
template <typename... Words>
std::string said(const Workspace& workspace, std::string_view english, const Words&... words) {
  const LessonModel* lesson = workspace.lesson();
  const std::string sentence = lesson ? lesson->lesson.say(english) : std::string(english);
  return fmt::format(fmt::runtime(sentence), words...);
}

std::string bytes_words(const Workspace& workspace, double bytes) {
  const LessonModel* lesson = workspace.lesson();
  return with_decimal(format_bytes(bytes), lesson ? lesson->lesson.decimal() : '.');
}

// Of the sides that have run.
std::string too_many_gpus(const Workspace& workspace) {
  int gpus = 1;
  for (const SideModel& side : workspace.sides()) {
    if (!side.run || !side.run->program) continue;
    gpus = std::max(gpus, side.run->program->gpus);
    for (const program::Communicator& group : side.run->program->communicators)
      gpus = std::max(gpus, group.ranks);
  }
  if (gpus < 2) return "";
  return said(workspace, "This runs on {} GPUs, and a laptop has one.", gpus);
}

std::string too_much_memory(const Workspace& workspace, const machine::Machine& laptop) {
  const auto room = static_cast<double>(machine::room_of_allocator(laptop));
  for (const SideModel& side : workspace.sides()) {
    if (!side.run) continue;
    const auto peak = analysis::value_of(side.run->metrics, "memory.peak_allocated");
    if (peak && *peak > room)
      return said(
          workspace,
          "{} fills {}, and {} has {} beside CUDA's context: there it would be out of memory.",
          side.label, bytes_words(workspace, *peak), laptop.gpu.name, bytes_words(workspace, room));
  }
  return "";
}

}  // namespace

std::string laptop_refusal(const Workspace& workspace) {
  if (const std::string many = too_many_gpus(workspace); !many.empty()) return many;
  const std::string refusal = workspace.machine_refusal(kLaptop);
  if (refusal.empty() || !workspace.lesson()) return refusal;
  const std::string much = too_much_memory(workspace, machine::load_machine(kLaptop));
  return much.empty() ? refusal : much;
}

}  // namespace trainscope::ui
