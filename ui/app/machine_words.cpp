#include "ui/app/machine_words.h"

#include <filesystem>

namespace trainscope::ui {

std::string file_stem(const std::string& id) {
  return id.ends_with(".toml") ? std::filesystem::path(id).stem().string() : id;
}

const trace::Origin* origin_of(const SideModel& side) {
  // A side that is being run again is drawn as it was; its machine is the one it was run on.
  if (side.view) return &side.view->trace->origin();
  if (side.outline) return &side.outline->origin;
  return nullptr;
}

std::string machine_name(const SideModel& side) {
  const trace::Origin* origin = origin_of(side);
  if (!origin) return file_stem(side.config.word("machine"));
  return origin->kind == trace::OriginKind::kImported ? origin->detail : origin->subject;
}

std::string machine_short(const SideModel& side) {
  if (!side.file.empty()) return machine_name(side);
  const trace::Origin* origin = origin_of(side);
  if (origin && origin->kind == trace::OriginKind::kImported) return machine_name(side);
  const bool shown = side.run && !side.busy;
  return file_stem((shown ? side.run->config : side.config).word("machine"));
}

bool have_one_origin(const std::vector<SideModel>& sides) {
  for (const SideModel& side : sides) {
    const trace::Origin* first = origin_of(sides.front());
    const trace::Origin* origin = origin_of(side);
    if (first && origin && first->kind != origin->kind) return false;
    if (machine_short(side) != machine_short(sides.front())) return false;
  }
  return true;
}

}  // namespace trainscope::ui
