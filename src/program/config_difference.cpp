#include "program/config_difference.h"

#include "program/decided_defaults.h"

namespace trainscope::program {

Config difference(const Config& from, const Config& to) {
  Config at = from, taken;
  bool changed = true;
  while (changed) {  // a knob may decide what another one is by default
    changed = false;
    for (const Knob& knob : knobs()) {
      const bool set = at.is_set(knob.name), wanted = to.is_set(knob.name);
      const bool alike = at.value(knob.name) == to.value(knob.name);
      if (alike ? set || !wanted || !counts_when_set(knob.name) : !set && !wanted) continue;
      at.set(knob.name, to.value(knob.name));
      taken.set(knob.name, to.value(knob.name));
      changed = true;
    }
  }
  return taken;
}

}  // namespace trainscope::program
