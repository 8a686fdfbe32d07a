#include "train/settings/train_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "program/known_models.h"
#include "program/reading_order.h"
#include "train/parallel/parallel.h"
#include "train/settings/contradictions.h"
#include "train/settings/parallel_settings.h"
#include "train/settings/precision_settings.h"

namespace trainscope::train {
namespace {

// The knob that asks for torch.compile, as a sentence begins with it.
std::string compile_knob(const Compilation& compile) {
  return compile.fuse ? "compile.fuse" : "compile.cuda_graph";
}

// A replay writes to where the one before wrote.
void refuse_to_replay(const program::Config& config) {
  constexpr int kLeast = 3;
  if (config.whole("steps") < kLeast)
    throw InputError(
        "compile.cuda_graph warms up in the first step and captures in the second; set steps = 3, "
        "or more");
  if (config.whole("accumulate_steps") > 1 || gradients_stay(config))
    throw InputError(
        "compile.cuda_graph writes each backward's gradients over those of the one before, which "
        "are to be added to here; set accumulate_steps = 1, zero_grad.set_to_none = true and "
        "zero_grad.when = before_backward, or compile.cuda_graph = false");
  const std::string& strategy = config.word("parallel.strategy");
  if (strategy == "fsdp")
    throw InputError(
        "compile.cuda_graph reads parameters where they lay at its capture, and FSDP gathers them "
        "to other places: PyTorch captures anew again and again; set compile.cuda_graph = false, "
        "or parallel.strategy = ddp");
  if (strategy == "ddp" && config.flag("ddp.gradient_as_bucket_view"))
    throw InputError(
        "compile.cuda_graph writes gradients into memory of its own, and is not built for "
        "ddp.gradient_as_bucket_view; set one of the two back");
}

// "First bucket should be smaller/equal to other buckets" (torch/_dynamo/backends/distributed.py).
void refuse_small_buckets(const program::Config& config, const Compilation& compile) {
  if (compile.optimize_ddp && config.number("ddp.bucket_cap_mb") < 1)
    throw InputError(
        "DDPOptimizer fails for buckets that are smaller than its first, of 1 MiB; set "
        "ddp.bucket_cap_mb = 1, or more, or compile.optimize_ddp = false");
}

Compilation compilation(const program::Config& config) {
  const Compilation compile{config.flag("compile.fuse"), config.flag("compile.cuda_graph"),
                            config.flag("compile.optimize_ddp")};
  if (!compile.any()) return compile;
  if (config.word("device") == "cpu")
    throw InputError(compile_knob(compile) +
                     " is built for the GPU; set device = cuda, or leave it out");
  const std::string& strategy = config.word("parallel.strategy");
  if (cuts_layers(config) && strategy == "fsdp")
    throw InputError(compile_knob(compile) +
                     " is not built for layers that ranks share out (tensor.degree); set "
                     "tensor.degree = 0, or leave it out");
  if (strategy != "none" && strategy != "ddp" && strategy != "fsdp")
    throw InputError(compile_knob(compile) +
                     " is built for one GPU, DistributedDataParallel and FSDP; set "
                     "parallel.strategy = ddp instead of " +
                     strategy + ", or leave it out");
  if (config.whole("data.image_sizes") > 1)
    throw InputError(compile_knob(compile) +
                     " compiles the model for images of one size; set data.image_sizes = 1");
  if (compile.cuda_graph) refuse_to_replay(config);
  if (strategy == "ddp") refuse_small_buckets(config, compile);
  return compile;
}

// What a model cannot read, in words about the data rather than about a layer.
void refuse_other_data(const program::Config& config, const TrainingData& data) {
  const std::string& model = config.word("model.name");
  const bool reads_numbers = model.starts_with("mlp") || model == "cnn" || model == "rnn";
  if (reads_numbers && data.shape.tokens > 0)
    throw InputError(model + " reads " + (model.starts_with("mlp") ? "numbers" : "images") +
                     ", and " + data.name +
                     " has none; set data.name = digits, or model.name = gpt-mini");
}

void refuse_other_heads(const program::Config& config) {
  const std::int64_t width = config.whole("model.width"), heads = config.whole("model.heads");
  if (config.word("model.name") == "gpt-mini" && width % heads != 0)
    throw InputError("model.width = " + std::to_string(width) + " cannot be split among " +
                     std::to_string(heads) + " heads; set model.heads to a divisor of it");
}

// aten/src/ATen/native/transformers/cuda/sdp_utils.cpp of PyTorch 2.11: of the fused kernels for
// GPUs the flash kernel takes enable_gqa, the memory-efficient one does not (it does since
// pytorch#191085). Asked for by sdpa_kernel() alone, as in the listing, it is an error there
// (transformers#45636), and not the math backend.
void refuse_shared_keys(const program::Config& config, bool has_flash) {
  if (has_flash || config.word("attention.kernel") != "flash" ||
      !program::has_trait(config.word("model.name"), "grouped"))
    return;
  throw InputError(fmt::format(
      "the heads of {} share keys and values, for which PyTorch has a fused kernel in FP16 and "
      "BF16 alone, from compute capability 8.0 on; set attention.kernel = math, or precision = "
      "bf16 on such a GPU",
      config.word("model.name")));
}

std::vector<std::int64_t> list_of(const std::string& text) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 0)
      throw InputError("scaler.inject_inf_at = \"" + text +
                       "\" is not a list of steps; write whole numbers from 0, as in \"3, 7\"");
    numbers.push_back(number);
    at = next;
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// What a rank's loader reads.
void read_sampler(const program::Config& config, TrainSettings& settings) {
  settings.sampled = settings.by_process && !settings.tensor && config.flag("sampler.distributed");
  // Files cut by hand have a sampler that knows no epochs.
  settings.set_epoch = settings.sampled && !settings.uneven && config.flag("sampler.set_epoch");
  if (!settings.by_process) return;
  for (const char* knob : {"sampler.distributed", "sampler.set_epoch"})
    if (!config.flag(knob) && settings.tensor)
      throw InputError(std::string(knob) +
                       " = false is about a loader; set data.source = loader, or leave it out");
  if (settings.uneven && !config.flag("sampler.set_epoch"))
    throw InputError(
        "sampler.set_epoch = false needs a DistributedSampler, and with uneven_batches the files "
        "are cut by hand; set one of the two back");
  if (!config.flag("sampler.distributed") && !config.flag("sampler.set_epoch"))
    throw InputError(
        "sampler.set_epoch = false needs a sampler, and sampler.distributed = false leaves it out; "
        "set one of the two back");
}

// What is not built for batches of two sizes.
void refuse_short_batch(const TrainSettings& settings) {
  const char* knob = settings.compile.cuda_graph ? "compile.cuda_graph"
                     : settings.compile.fuse     ? "compile.fuse"
                     : settings.image_sizes > 1  ? "data.image_sizes above 1"
                     : settings.dp               ? "parallel.strategy = dp"
                     : settings.pipeline         ? "parallel.strategy = pipeline"
                                                 : nullptr;
  if (knob)
    throw InputError("batch " + std::to_string(settings.epoch) + " of each epoch has " +
                     std::to_string(settings.rest) + " samples instead of " +
                     std::to_string(settings.batch) + ", which is not built for " + knob +
                     "; set loader.drop_last = true");
}

// The batches of an epoch.
void read_epoch(const program::Config& config, TrainSettings& settings) {
  settings.drop_last = config.flag("loader.drop_last");
  const data::EpochOrder order(
      program::reading_order(settings.source(config), settings.data.train_samples, 0));
  settings.epoch = order.batches();
  settings.left_out = order.samples() - order.size();
  if (settings.one_batch || settings.epoch == 0) return;
  const std::int64_t last = order.size_of(settings.epoch - 1);
  settings.rest = last < settings.batch ? last : 0;
  if (settings.has_short_batch()) refuse_short_batch(settings);
}

// What is trained, and on what.
void read_data(const program::Config& config, TrainSettings& settings) {
  settings.data = training_data(config);
  refuse_other_data(config, settings.data);
  settings.batch = config.whole("batch_size");
  settings.set_on_device = config.word("data.location") == "device";
  settings.tensor = settings.set_on_device || config.word("data.source") == "tensor";
  settings.one_batch = config.flag("data.one_batch");
  settings.image_sizes = config.whole("data.image_sizes");
  if (settings.image_sizes > 1 && settings.sides().back() < 32)
    throw InputError(settings.data.name + " has images of " +
                     std::to_string(settings.data.shape.height) +
                     " pixels, too small for so many sizes; set data.image_sizes = 1, or "
                     "data.name = imagenet");
}

void read_transfer(const program::Config& config, TrainSettings& settings) {
  settings.on_cpu = config.word("device") == "cpu";
  settings.pins_in_loop = config.flag("transfer.pin_in_loop");
  settings.own_stream = config.whole("transfer.streams") == 2;
  settings.prefetch = config.flag("transfer.prefetch");
}

// The loop's body.
void read_step(const program::Config& config, TrainSettings& settings) {
  settings.steps = config.whole("steps");
  settings.accumulate = config.whole("accumulate_steps");
  settings.checkpoint_every = checkpoint_every(config);
  // The gradients of several batches are summed: they are dropped before the first of them.
  settings.zero_first =
      config.word("zero_grad.when") == "before_forward" || settings.accumulate > 1;
  settings.zero_never = config.word("zero_grad.when") == "never";
  settings.gradients_stay = gradients_stay(config);
  settings.has_scaler = config.flag("scaler.enabled");
  settings.fused = config.word("optimizer.impl") == "fused";
  settings.clip_norm = config.number("clip_grad_norm");
  settings.item_every = config.whole("loop.item_every");
  settings.keeps_numbers = config.word("loop.keep_losses") == "item";
  settings.keeps_losses = config.word("loop.keep_losses") == "tensor";
  settings.infinities = list_of(config.word("scaler.inject_inf_at"));
}

void read_validation(const program::Config& config, TrainSettings& settings) {
  Validation& validation = settings.validation;
  validation.batches = config.whole("validation.batches");
  validation.every = config.whole("validation.every");
  validation.no_grad = config.flag("validation.no_grad");
  const std::string& keep = config.word("validation.keep");
  validation.appended = keep == "loss"     ? Appended::kLoss
                        : keep == "output" ? Appended::kOutput
                                           : Appended::kItem;
}

// What is computed beside the simulator, unless what is parallel forbids it.
void read_numbers(const program::Config& config, TrainSettings& settings) {
  settings.computes = settings.data.has_samples;
  settings.evaluates = settings.computes && config.flag("loop.evaluate") &&
                       settings.data.shape.tokens == 0 &&
                       settings.data.test_samples >= settings.batch;
}

}  // namespace

bool TrainSettings::injects(std::int64_t step) const {
  return std::binary_search(infinities.begin(), infinities.end(), step);
}

std::int64_t TrainSettings::epoch_begin(std::int64_t number) const {
  return one_batch || epoch == 0 ? 0 : number - number % epoch;
}

std::int64_t TrainSettings::epoch_end(std::int64_t number) const {
  if (one_batch || epoch == 0) return batches();
  return std::min(batches(), epoch_begin(number) + epoch);
}

std::vector<std::int64_t> TrainSettings::sides() const {
  constexpr std::int64_t kLess = 32;
  std::vector<std::int64_t> sides;
  for (std::int64_t i = 0; i < image_sizes; ++i) sides.push_back(data.shape.height - kLess * i);
  return sides;
}

program::DataSource TrainSettings::source(const program::Config& config) const {
  program::DataSource source;
  source.name = data.name;
  source.path = config.word("data.path");
  source.seed = config.whole("seed");
  source.batch_size = batch;
  source.tokens = data.shape.tokens;
  source.shuffle = config.flag("loader.shuffle") && !tensor;
  source.strided = by_process && tensor;
  source.replicas = sampled || source.strided ? ranks : 0;
  source.set_epoch = set_epoch;
  source.drop_last = drop_last;
  return source;
}

bool can_be_computed(const Graph& graph, const TrainSettings& settings) {
  constexpr double kFloat = 4;                             // bytes
  constexpr double kMost = 4.0 * (std::int64_t{1} << 30);  // bytes
  double numbers = 4.0 * static_cast<double>(graph.parameter_count());
  // Two batches of a validation lie beside a training step's.
  const double batches = settings.validation.batches > 0 ? 4.0 : 2.0;
  for (const std::int64_t elements : graph.values)
    numbers += batches * static_cast<double>(elements * settings.tensor_ranks);
  return kFloat * numbers * static_cast<double>(settings.ranks) <= kMost;
}

program::Config on_one_gpu(program::Config config) {
  // The type that FSDP computes in stays the model's.
  if (config.word("parallel.strategy") == "fsdp" && config.word("fsdp.param_dtype") == "bf16")
    config.set("model.dtype", "bf16");
  config.set("parallel.strategy", "none");
  config.set("parallel.world_size", std::int64_t{1});
  for (const program::Knob& knob : program::knobs())
    if (is_of_a_strategy(knob.name) && config.is_set(knob.name))
      config.set(knob.name, knob.initial);
  return config;
}

bool gradients_stay(const program::Config& config) {
  return config.word("zero_grad.when") == "never" || !config.flag("zero_grad.set_to_none");
}

TrainSettings train_settings(const program::Config& config, const machine::Machine& machine) {
  refuse_what_contradicts(config);
  refuse_other_heads(config);
  TrainSettings settings;
  read_data(config, settings);
  read_transfer(config, settings);
  read_step(config, settings);
  read_validation(config, settings);
  read_numbers(config, settings);
  const ModelTypes types = model_types(config, machine);
  settings.precision = types.computed;
  settings.parameter_type = types.parameters;
  settings.has_flash =
      settings.on_cpu || flash_kernel(types.computed, machine.gpu) == FlashKernel::kRuns;
  refuse_shared_keys(config, settings.has_flash);
  settings.compile = compilation(config);
  read_parallel(config, machine, settings);
  read_sampler(config, settings);
  read_epoch(config, settings);
  return settings;
}

}  // namespace trainscope::train
