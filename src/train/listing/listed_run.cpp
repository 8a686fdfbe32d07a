#include "train/listing/listed_run.h"

#include <fmt/format.h>

namespace trainscope::train {

int ListedRun::processes() const {
  return settings.processes();
}

bool ListedRun::several_nodes() const {
  return processes() > settings.gpus_of_node;
}

bool ListedRun::shares_batches() const {
  return settings.pipeline || settings.tensor_parallel;
}

const char* ListedRun::device_number() const {
  return several_nodes() ? "local_rank" : "rank";
}

std::int64_t ListedRun::epochs() const {
  if (settings.one_batch || settings.epoch == 0) return 1;
  return (settings.batches() + settings.epoch - 1) / settings.epoch;
}

bool ListedRun::shows_epochs() const {
  const bool told = settings.sampled && config.is_set("sampler.set_epoch");
  return epochs() > 1 || (told && settings.epoch > 0 && !settings.one_batch);
}

bool ListedRun::counts() const {
  const bool validates = settings.validation.batches > 0 && settings.validation.every > 1;
  return settings.item_every > 1 || !settings.infinities.empty() || validates;
}

std::string ListedRun::batches() const {
  if (settings.one_batch) return fmt::format("[batch] * {}", settings.steps);
  return all_batches();
}

std::string ListedRun::all_batches() const {
  if (!settings.tensor) return "loader";
  const std::string whole = settings.left_out > 0 && epochs() > 1
                                ? fmt::format("[:{}]", settings.epoch * settings.batch)
                                : "";
  return fmt::format("zip(X{0}.split({1}), Y{0}.split({1}))", whole, settings.batch);
}

bool ListedRun::is_narrow() const {
  return settings.parameter_type != program::ElementType::kFp32;
}

std::string ListedRun::cast() const {
  return fmt::format(".to({})", torch_name(settings.parameter_type));
}

std::string ListedRun::cast_of_batch() const {
  return is_narrow() && settings.data.shape.tokens == 0 ? cast() : "";
}

bool ListedRun::channels_last() const {
  return config.word("memory_format") == "channels_last" && settings.data.shape.channels > 0;
}

std::string_view torch_name(program::ElementType type) {
  return type == program::ElementType::kFp16 ? "torch.float16" : "torch.bfloat16";
}

}  // namespace trainscope::train
