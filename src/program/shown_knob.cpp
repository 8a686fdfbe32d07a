#include "program/shown_knob.h"

namespace trainscope::program {

std::string shown_knob(const Config& config, std::string_view name) {
  const Knob& knob = find_knob(name);
  std::string words = show(knob, config.value(name));
  // train/parallel/ddp_buckets.h: DDP's first bucket is small unless bucket_cap_mb is set.
  if (name == "ddp.bucket_cap_mb" && !config.is_set(name)) words += ", first 1 MiB";
  return words;
}

}  // namespace trainscope::program
