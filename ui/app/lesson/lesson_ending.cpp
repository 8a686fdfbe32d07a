#include "ui/app/lesson/lesson_ending.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/speech.h"
#include "base/units.h"

namespace trainscope::ui {
namespace {

using analysis::Run;
using sim::OutOfMemory;

// Of memory in pieces, what the allocator took is more than what tensors did.
std::int64_t wanted(const OutOfMemory& why) {
  const std::int64_t tensors = why.allocated + why.requested;
  return tensors > why.capacity ? tensors : why.reserved + why.segment;
}

std::string memory_words(const scenario::Lesson& lesson, const Run& run, const OutOfMemory& why) {
  const auto bytes = [&](std::int64_t count) {
    return with_decimal(format_bytes(static_cast<double>(count)), lesson.decimal());
  };
  return fmt::format(
      fmt::runtime(lesson.say("{} wants at least {}, and {} has {} beside CUDA's context.")),
      run.label, bytes(wanted(why)), why.gpu, bytes(why.capacity));
}

std::string words_of(const scenario::Lesson& lesson, const Run& run) {
  if (const auto* memory = std::get_if<OutOfMemory>(&*run.ending))
    return memory_words(lesson, run, *memory);
  return run.label + ": " + sim::sentence_below_title(*run.ending) + ".";
}

// What was turned is taken back; a lesson on another machine than its own begins again there. One
// that ends early as it is written means to.
void add_remedy(const Workspace& workspace, LessonEnding& ending) {
  const scenario::Lesson& lesson = workspace.lesson()->lesson;
  const std::string own = lesson.side("A").word("machine");
  const bool elsewhere = std::ranges::any_of(workspace.lesson_sides(), [&](const Run* run) {
    return run->config.word("machine") != lesson.side(run->label).word("machine");
  });
  if (workspace.knobs_changed()) {
    ending.action = "knobs.reset";
    ending.label = lesson.say("Reset the knobs");
  } else if (elsewhere) {
    ending.action = "lesson.restart";
    ending.label = fmt::format(fmt::runtime(lesson.say("Start again on {}")), own);
  }
}

bool has_smaller_batch(const scenario::Lesson& lesson, const Run& run) {
  return std::ranges::find(lesson.knobs, "batch_size") != lesson.knobs.end() &&
         run.config.whole("batch_size") > 1;
}

}  // namespace

std::optional<LessonEnding> lesson_ending(const Workspace& workspace,
                                          const scenario::Sides& sides) {
  const scenario::Lesson& lesson = workspace.lesson()->lesson;
  LessonEnding ending;
  bool smaller = false;
  for (const Run* run : sides) {
    if (!run->ending) continue;
    const bool memory = sim::ran_out_of_memory(*run->ending);
    const std::string_view title =
        memory ? "The model does not fit into this GPU" : sim::title_of(*run->ending);
    if (ending.title.empty()) ending.title = lesson.say(title);
    ending.text += (ending.text.empty() ? "" : " ") + words_of(lesson, *run);
    smaller = smaller || (memory && has_smaller_batch(lesson, *run));
  }
  if (ending.title.empty()) return std::nullopt;
  ending.text += " " + lesson.say("Figures of whole runs are left open.");
  if (smaller)
    ending.text += " " + lesson.say("To go on here, explore with a smaller `batch_size`.");
  add_remedy(workspace, ending);
  return ending;
}

}  // namespace trainscope::ui
