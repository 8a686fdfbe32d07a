#include "ui/app/views/machine_words.h"

#include <algorithm>
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
  if (!side.file.empty() || is_replay(side)) return machine_name(side);
  const trace::Origin* origin = origin_of(side);
  if (origin && origin->kind == trace::OriginKind::kImported) return machine_name(side);
  const bool shown = side.run && !side.busy;
  return file_stem((shown ? side.run->config : side.config).word("machine"));
}

std::string machine_brief(const SideModel& side) {
  const std::string name = machine_name(side);
  return name.substr(0, name.find(','));
}

bool have_one_kind(const std::vector<SideModel>& sides) {
  const trace::Origin* first = sides.empty() ? nullptr : origin_of(sides.front());
  return std::all_of(sides.begin(), sides.end(), [&](const SideModel& side) {
    const trace::Origin* origin = origin_of(side);
    return !first || !origin || first->kind == origin->kind;
  });
}

bool have_one_machine(const std::vector<SideModel>& sides) {
  return std::all_of(sides.begin(), sides.end(), [&](const SideModel& side) {
    return machine_short(side) == machine_short(sides.front());
  });
}

}  // namespace trainscope::ui
