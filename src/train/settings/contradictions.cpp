#include "train/settings/contradictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include "base/error.h"
#include "train/model/published_models.h"
#include "train/parallel/parallel.h"

namespace trainscope::train {
namespace {

// How the knobs of one strategy begin.
constexpr std::array<std::string_view, 4> kOfAStrategy{"ddp.", "fsdp.", "tensor.", "pipeline."};

// What lies on the device is not loaded, and not copied step by step.
void refuse_loading(const program::Config& config) {
  if (config.word("device") == "cpu")
    throw InputError("data.location = device and device = cpu contradict each other; set one back");
  for (const char* knob :
       {"loader.num_workers", "transfer.streams", "transfer.prefetch", "transfer.pin_in_loop"})
    if (is_changed(config, knob))
      throw InputError(std::string(knob) +
                       " has no meaning where the data set lies on the GPU; set it back, or "
                       "data.location = host");
}

void refuse_gpu_knobs(const program::Config& config) {
  for (const char* knob : {"transfer.streams", "transfer.prefetch", "transfer.pin_in_loop",
                           "scaler.enabled", "cudnn.benchmark", "power_limit"})
    if (is_changed(config, knob))
      throw InputError(std::string(knob) +
                       " has no meaning with device = cpu; set it back, or device = cuda");
}

// Another size goes through a ResNet as it is: it averages over the pixels that are left.
void refuse_resizing(const program::Config& config) {
  if (!is_resnet(config.word("model.name")))
    throw InputError(
        "data.image_sizes above 1 needs a model that reads images of any size; set "
        "model.name = resnet50, or another ResNet, or data.image_sizes = 1");
  if (config.flag("transfer.prefetch") || config.word("parallel.strategy") == "dp" ||
      config.whole("accumulate_steps") > 1 || config.word("device") == "cpu")
    throw InputError(
        "data.image_sizes above 1 is not built for transfer.prefetch, accumulate_steps above 1, "
        "parallel.strategy = dp and device = cpu; set those back, or data.image_sizes = 1");
}

// Knobs that the strategy does not know what to do with, and DistributedDataParallel does.
void refuse_unbuilt(const program::Config& config, std::initializer_list<std::string_view> knobs) {
  for (const std::string_view knob : knobs)
    if (is_changed(config, knob))
      throw InputError(
          fmt::format("{} is not built for parallel.strategy = {}; set it back, or "
                      "parallel.strategy = ddp",
                      knob, config.word("parallel.strategy")));
}

void refuse_with_fsdp(const program::Config& config) {
  if (config.word("parallel.strategy") != "fsdp") return;
  if (config.word("model.dtype") == "fp16")
    throw InputError(
        "model.dtype = fp16 is not built for parallel.strategy = fsdp; set model.dtype = bf16, or "
        "fsdp.param_dtype = bf16");
  if (config.flag("collective.expanded") && is_hybrid(config))
    throw InputError(
        "collective.expanded is not built for the groups of fsdp.shard_degree; set one of the two "
        "back");
  if (cuts_layers(config) && config.whole("fsdp.shard_degree") > 0)
    throw InputError(
        "fsdp.shard_degree is not built beside tensor.degree, where all ranks that have the same "
        "parts of the layers share them; set one of the two back");
}

// What schedule.step() does not do, or what no stage knows alone.
void refuse_with_pipeline(const program::Config& config) {
  if (config.word("parallel.strategy") != "pipeline") return;
  refuse_unbuilt(config, {"clip_grad_norm", "scaler.enabled", "accumulate_steps", "loop.item_every",
                          "loop.keep_losses", "transfer.prefetch", "transfer.streams",
                          "data.location", "data.image_sizes", "uneven_batches", "model.detach"});
  if (config.word("zero_grad.when") == "never")
    throw InputError(
        "zero_grad.when = never beside parallel.strategy = pipeline divides the gradients of "
        "earlier steps again in every step; set zero_grad.when = before_forward");
  if (!has_pipelines(config)) return;
  if (config.flag("collective.expanded"))
    throw InputError(
        "collective.expanded is not built for the groups of pipeline.degree; set one of the two "
        "back");
  // Its first all-reduces are queued by a forward that synchronises, of which there is none
  // (torch/nn/parallel/distributed.py, _DDPSink; PipelineStage.forward_maybe_with_nosync).
  if (config.flag("ddp.static_graph"))
    throw InputError(
        "ddp.static_graph counts forward passes outside no_sync, and a pipeline's stages have "
        "none; set it back, or pipeline.degree = 0");
}

// The same of FSDP between tensor groups, which clips.
void refuse_unbuilt_between_groups(const program::Config& config) {
  for (const char* knob : {"scaler.enabled", "uneven_batches", "model.detach"})
    if (is_changed(config, knob))
      throw InputError(fmt::format(
          "{} is not built for the groups of tensor.degree; set one of the two back", knob));
}

// What asks the ranks for more than their parts.
void refuse_with_tensor_parallel(const program::Config& config) {
  if (!cuts_layers(config)) return;
  if (config.flag("collective.expanded") && is_grid(config))
    throw InputError(
        "collective.expanded is not built for the groups of tensor.degree; set one of the two "
        "back");
  if (config.word("parallel.strategy") == "fsdp") return refuse_unbuilt_between_groups(config);
  refuse_unbuilt(config, {"clip_grad_norm", "scaler.enabled", "uneven_batches", "model.detach"});
  if (config.word("model.dtype") == "fp16")
    throw InputError(
        "model.dtype = fp16 is not built for parallel.strategy = tensor; set model.dtype = bf16");
}

// Autocast would cast each step of the sequence apart.
void refuse_with_rnn(const program::Config& config) {
  if (config.word("model.name") != "rnn") return;
  for (const char* knob : {"precision", "autocast.dtype"})
    if (is_changed(config, knob))
      throw InputError(fmt::format(
          "{} is not built for model.name = rnn; leave it out, or set model.dtype instead", knob));
}

// A validation has launches, batches and a loader of its own.
void refuse_with_validation(const program::Config& config) {
  if (config.whole("validation.batches") == 0) return;
  const std::string& strategy = config.word("parallel.strategy");
  if (strategy != "none" && strategy != "ddp")
    throw InputError(
        fmt::format("validation.batches is not built for parallel.strategy = {}; set it to 0, or "
                    "parallel.strategy = ddp",
                    strategy));
  if (config.word("device") == "cpu")
    throw InputError("validation.batches is built for the GPU; set it to 0, or device = cuda");
  for (const char* knob : {"compile.fuse", "compile.cuda_graph", "data.image_sizes"})
    if (is_changed(config, knob))
      throw InputError(
          fmt::format("{} is not built beside validation.batches; set one of the two back", knob));
  if (config.word("data.location") == "device")
    throw InputError(
        "data.location = device is not built beside validation.batches, whose batches are loaded; "
        "set one of the two back");
}

}  // namespace

bool is_changed(const program::Config& config, std::string_view knob) {
  return config.is_set(knob) && config.value(knob) != program::find_knob(knob).initial;
}

bool is_of_a_strategy(std::string_view knob) {
  return std::ranges::any_of(kOfAStrategy,
                             [&](std::string_view prefix) { return knob.starts_with(prefix); });
}

void refuse_what_contradicts(const program::Config& config) {
  if (config.word("data.source") == "tensor" && config.whole("loader.num_workers") > 0)
    throw InputError(
        "data.source = tensor has no loader, and so no workers; set loader.num_workers = 0, or "
        "data.source = loader");
  if (config.word("data.location") == "device") refuse_loading(config);
  if (config.word("device") == "cpu") refuse_gpu_knobs(config);
  refuse_with_fsdp(config);
  refuse_with_pipeline(config);
  refuse_with_tensor_parallel(config);
  refuse_with_rnn(config);
  refuse_with_validation(config);
  if (config.whole("data.image_sizes") > 1) refuse_resizing(config);
  if (config.whole("accumulate_steps") > 1 && config.flag("transfer.prefetch"))
    throw InputError(
        "transfer.prefetch is not built for accumulate_steps above 1; set one of the two back");
}

}  // namespace trainscope::train
