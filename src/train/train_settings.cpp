#include "train/train_settings.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "machine/topology.h"
#include "program/reading_order.h"
#include "train/contradictions.h"
#include "train/interleaved_order.h"
#include "train/parallel.h"
#include "train/ranks.h"

namespace trainscope::train {
namespace {

using program::ElementType;

// Each costs what one does. With more, a run is timing only.
constexpr int kMostComputedRanks = 8;

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
}

Compilation compilation(const program::Config& config) {
  const Compilation compile{config.flag("compile.fuse"), config.flag("compile.cuda_graph")};
  if (!compile.any()) return compile;
  if (config.word("device") == "cpu")
    throw InputError(compile_knob(compile) +
                     " is built for the GPU; set device = cuda, or leave it out");
  if (const std::string& strategy = config.word("parallel.strategy"); strategy != "none")
    throw InputError(compile_knob(compile) +
                     " is built for training on one GPU; set parallel.strategy = none instead of " +
                     strategy + ", or leave it out");
  if (config.whole("data.image_sizes") > 1)
    throw InputError(compile_knob(compile) +
                     " compiles the model for images of one size; set data.image_sizes = 1");
  if (compile.cuda_graph) refuse_to_replay(config);
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

// torch.cuda.is_bf16_supported: from compute capability 8.0 on. Before, PyTorch computes in other
// units, and no machine tells at which rate.
void refuse_bf16_without_units(const machine::Gpu& gpu, const char* instead) {
  constexpr double kFirst = 8.0;
  if (gpu.compute_capability < kFirst)
    throw InputError(gpu.name +
                     " has no units for BF16, which came with compute capability 8.0; set " +
                     instead + ", or choose a newer machine");
}

// torch/amp/grad_scaler.py, _unscale_grads_: only a fused optimizer takes the scale out by itself.
void refuse_to_unscale_fp16(const program::Config& config) {
  const bool by_optimizer =
      config.word("optimizer.impl") == "fused" && config.number("clip_grad_norm") == 0;
  if (!config.flag("scaler.enabled") || by_optimizer) return;
  throw InputError(
      "a GradScaler unscales no FP16 gradients, which weights of model.dtype = fp16 have (PyTorch: "
      "Attempting to unscale FP16 gradients.); set model.dtype = fp32 with precision = fp16, or "
      "scaler.enabled = false");
}

// PyTorch 2.11 has those kernels for FP32 and FP16 (aten/src/ATen/native/cuda/AmpKernels.cu), for a
// fused optimizer, too.
void refuse_to_look_at_bf16(const program::Config& config) {
  if (!config.flag("scaler.enabled")) return;
  throw InputError(
      "a GradScaler looks for no infinities in BF16 gradients, which weights of model.dtype = bf16 "
      "have (PyTorch: \"_amp_foreach_non_finite_check_and_unscale_cuda\" not implemented for "
      "'BFloat16'); set scaler.enabled = false: BF16 has the range of FP32");
}

// model.to(dtype).
ElementType model_type(const program::Config& config, const machine::Machine& machine) {
  const std::string& word = config.word("model.dtype");
  if (word == "fp32") return ElementType::kFp32;
  if (config.word("device") == "cpu")
    throw InputError("model.dtype = " + word +
                     " is built for the GPU; set device = cuda, or model.dtype = fp32");
  if (word == "fp16") {
    refuse_to_unscale_fp16(config);
    return ElementType::kFp16;
  }
  refuse_bf16_without_units(machine.gpu, "model.dtype = fp16");
  refuse_to_look_at_bf16(config);
  return ElementType::kBf16;
}

// Where the two differ, operations get operands of both.
void refuse_two_narrow_types(const Precision& precision) {
  if (precision.model == ElementType::kFp32 || precision.autocast == ElementType::kFp32 ||
      precision.model == precision.autocast)
    return;
  const bool fp16 = precision.model == ElementType::kFp16;
  const std::string model = fp16 ? "fp16" : "bf16", autocast = fp16 ? "bf16" : "fp16";
  throw InputError("autocast.dtype = " + autocast + " beside model.dtype = " + model +
                   " is not built: set both to the same type, or one of them back");
}

// `precision` says what autocast does, and a type that is set beside it must be the same.
void refuse_two_types(const program::Config& config) {
  if (!config.is_set("precision") || !config.is_set("autocast.dtype")) return;
  const std::string& word = config.word("precision");
  const std::string& autocast = config.word("autocast.dtype");
  if (autocast == (word == "fp16" || word == "bf16" ? word : "none")) return;
  throw InputError("precision = " + word + " and autocast.dtype = " + autocast +
                   " contradict each other; leave one of them out");
}

// `precision` is short for two knobs; matmul.allow_tf32 beats it where it is set.
Precision precision_of(const program::Config& config, const machine::Machine& machine) {
  refuse_two_types(config);
  const std::string& word = config.word("precision");
  std::string autocast = config.word("autocast.dtype");
  if (!config.is_set("autocast.dtype") && (word == "fp16" || word == "bf16")) autocast = word;
  Precision precision;
  precision.model = model_type(config, machine);
  if (autocast == "fp16") precision.autocast = ElementType::kFp16;
  if (autocast == "bf16") {
    refuse_bf16_without_units(machine.gpu, "autocast.dtype = fp16 and scaler.enabled = true");
    precision.autocast = ElementType::kBf16;
  }
  refuse_two_narrow_types(precision);
  // A GPU without TF32 ignores the switches.
  if (machine.gpu.tf32_flops_per_s <= 0) return precision;
  precision.matmul_tf32 =
      config.is_set("matmul.allow_tf32") ? config.flag("matmul.allow_tf32") : word == "tf32";
  precision.conv_tf32 = config.flag("cudnn.allow_tf32");
  return precision;
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

// The slow one is among so many ranks.
void check_straggler(const program::Config& config, int ranks) {
  if (is_changed(config, "straggler.factor") && !config.is_set("straggler.rank"))
    throw InputError(
        "straggler.factor slows the GPU of the rank that straggler.rank names, which is not set; "
        "set straggler.rank = 0, or another, or leave straggler.factor out");
  const std::int64_t slow = config.whole("straggler.rank");
  if (slow >= ranks)
    throw InputError("straggler.rank = " + std::to_string(slow) + " is no rank: there " +
                     (ranks == 1 ? "is 1" : "are " + std::to_string(ranks)) +
                     ", numbered from 0; write at most " + std::to_string(ranks - 1));
}

// Knobs that make one rank different from the others.
void check_odd_rank(const program::Config& config, const TrainSettings& settings) {
  const std::int64_t slow = config.whole("straggler.rank");
  if (!settings.by_process && (slow >= 0 || config.flag("uneven_batches")))
    throw InputError(std::string(slow >= 0 ? "straggler.rank" : "uneven_batches") +
                     " needs ranks that wait for one another; set parallel.strategy = ddp and "
                     "parallel.world_size, or leave it out");
  check_straggler(config, settings.ranks);
  if (config.flag("uneven_batches") && (settings.ranks < 2 || settings.steps < 2))
    throw InputError(
        "uneven_batches takes a batch from the last of several ranks; set parallel.world_size = 2 "
        "and steps = 2, or more");
}

// One process, and so the GPUs of one node.
void read_data_parallel(const machine::Machine& machine, std::int64_t asked,
                        TrainSettings& settings) {
  const bool ddp_could = asked <= machine::all_gpus(machine);
  if (asked > machine.gpu_count)
    throw InputError("parallel.world_size = " + std::to_string(asked) +
                     " is more than DataParallel can use: it is one process, and a node of " +
                     machine.id + " has " + std::to_string(machine.gpu_count) +
                     (machine.gpu_count == 1 ? " GPU" : " GPUs") + "; write at most that, or " +
                     (ddp_could ? "parallel.strategy = ddp" : "choose a larger machine"));
  settings.gpus = static_cast<int>(asked);
  settings.all_gpus = asked == machine.gpu_count;
}

void read_processes(const program::Config& config, const machine::Machine& machine,
                    std::int64_t asked, TrainSettings& settings) {
  machine::check_ranks(machine, asked, "parallel.world_size");
  settings.ranks = static_cast<int>(asked);
  settings.gpus_of_node = machine.gpu_count;
  settings.shard_degree = shard_degree(config, machine, settings.ranks);
  settings.uneven = config.flag("uneven_batches");
  check_odd_rank(config, settings);
  const bool last = config.word("fsdp.gradient_sync") == "last";
  settings.no_sync = config.flag("ddp.no_sync") || last;
  if (settings.no_sync && settings.accumulate == 1)
    throw InputError(
        fmt::format("{} leaves out the sums of all batches but the last before an update, and "
                    "accumulate_steps is 1; set accumulate_steps = 4, or {}",
                    last ? "fsdp.gradient_sync = last" : "ddp.no_sync",
                    last ? "fsdp.gradient_sync = each" : "ddp.no_sync = false"));
}

// What a rank's loader reads.
void read_sampler(const program::Config& config, TrainSettings& settings) {
  settings.sampled = settings.by_process && !settings.tensor && config.flag("sampler.distributed");
  // Files cut by hand have a sampler that knows no epochs.
  settings.set_epoch = settings.sampled && !settings.uneven && config.flag("sampler.set_epoch");
  for (const char* knob : {"sampler.distributed", "sampler.set_epoch"})
    if (!config.flag(knob) && (!settings.by_process || settings.tensor))
      throw InputError(std::string(knob) +
                       " = false is about a loader of DistributedDataParallel or FSDP; set "
                       "parallel.strategy = ddp and data.source = loader, or leave it out");
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

// What ScheduleInterleaved1F1B asks for; and stages that send to one another.
void check_rounds(const TrainSettings& settings) {
  const InterleavedShape shape{settings.pipeline_ranks, settings.stages_per_rank,
                               settings.micro_batches};
  if (shape.ranks < 2)
    throw InputError(
        "pipeline.schedule = interleaved_1f1b is built for stages that go round several GPUs; set "
        "parallel.world_size = 2, or more, or pipeline.schedule = 1f1b");
  if (!shape.rounds_are_equal())
    throw InputError(
        "pipeline.schedule = interleaved_1f1b needs rounds of equally many micro-batches, as "
        "PyTorch's ScheduleInterleaved1F1B does, and pipeline.microbatches = " +
        std::to_string(shape.micro_batches) + " cannot be cut into " +
        std::to_string(shape.rounds()) +
        "; set it to a multiple of parallel.world_size = " + std::to_string(shape.ranks));
}

// One stage of the model on each GPU, or several.
void read_pipeline(const program::Config& config, const machine::Machine& machine,
                   std::int64_t asked, TrainSettings& settings) {
  machine::check_ranks(machine, asked, "parallel.world_size");
  const std::string& schedule = config.word("pipeline.schedule");
  settings.pipeline_ranks = static_cast<int>(asked);
  settings.interleaved = schedule == "interleaved_1f1b";
  if (settings.interleaved)
    settings.stages_per_rank = static_cast<int>(config.whole("pipeline.stages_per_rank"));
  settings.gpus_of_node = machine.gpu_count;
  settings.micro_batches = config.whole("pipeline.microbatches");
  settings.zero_first = true;
  settings.evaluates = false;
  if (settings.batch % settings.micro_batches != 0)
    throw InputError(
        "batch_size = " + std::to_string(settings.batch) +
        " cannot be cut into pipeline.microbatches = " + std::to_string(settings.micro_batches) +
        " equal parts; set batch_size to a multiple of it");
  if (schedule == "1f1b" && settings.micro_batches < settings.pipeline_ranks)
    throw InputError(
        "pipeline.schedule = 1f1b needs at least as many micro-batches as there are stages, as "
        "PyTorch's Schedule1F1B does, and pipeline.microbatches = " +
        std::to_string(settings.micro_batches) + " is less than parallel.world_size = " +
        std::to_string(settings.pipeline_ranks) + "; raise it, or set pipeline.schedule = gpipe");
  if (settings.interleaved) check_rounds(settings);
  check_straggler(config, settings.pipeline_ranks);
}

void check_sequence(const program::Config& config, std::int64_t tokens, std::int64_t ranks) {
  if (tokens == 0)
    throw InputError("tensor.sequence_parallel shares out the tokens of a text, and model.name = " +
                     config.word("model.name") +
                     " reads none; set it back, or choose a transformer");
  if (tokens % ranks != 0)
    throw InputError(
        "tensor.sequence_parallel cannot share out model.seq_len = " + std::to_string(tokens) +
        " tokens to parallel.world_size = " + std::to_string(ranks) +
        " ranks in equal parts; set a multiple of it");
}

// A part of each layer on each GPU.
void read_tensor_parallel(const program::Config& config, const machine::Machine& machine,
                          std::int64_t asked, TrainSettings& settings) {
  machine::check_ranks(machine, asked, "parallel.world_size");
  settings.tensor_ranks = static_cast<int>(asked);
  settings.sequence_parallel = config.flag("tensor.sequence_parallel");
  if (settings.sequence_parallel) check_sequence(config, settings.data.shape.tokens, asked);
  settings.gpus_of_node = machine.gpu_count;
  settings.evaluates = false;
  check_straggler(config, settings.tensor_ranks);
}

// As many GPUs as the knob says.
void read_parallel(const program::Config& config, const machine::Machine& machine,
                   TrainSettings& settings) {
  const std::string& strategy = config.word("parallel.strategy");
  settings.ddp = strategy == "ddp";
  settings.fsdp = strategy == "fsdp";
  settings.by_process = settings.ddp || settings.fsdp;
  settings.dp = strategy == "dp";
  settings.pipeline = strategy == "pipeline";
  settings.tensor_parallel = strategy == "tensor";
  const std::int64_t asked = config.whole("parallel.world_size");
  if (strategy == "none" || settings.dp) check_odd_rank(config, settings);
  if (strategy == "none") {
    if (asked > 1)
      throw InputError("parallel.world_size = " + std::to_string(asked) +
                       " needs parallel.strategy = ddp, fsdp, tensor, pipeline or dp; set one, or "
                       "parallel.world_size = 1");
    return;
  }
  if (settings.on_cpu)
    throw InputError("parallel.strategy = " + strategy +
                     " runs on GPUs, over NCCL; set device = cuda, or parallel.strategy = none");
  if (settings.pipeline) return read_pipeline(config, machine, asked, settings);
  if (settings.tensor_parallel) {
    read_tensor_parallel(config, machine, asked, settings);
  } else if (settings.dp) {
    read_data_parallel(machine, asked, settings);
  } else {
    read_processes(config, machine, asked, settings);
  }
  // Of ranks that differ, no one's commands stand for all.
  if (std::max(settings.ranks, settings.tensor_ranks) > kMostComputedRanks || ranks_differ(config))
    settings.computes = settings.evaluates = false;
  if (settings.dp) settings.evaluates = false;
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
  for (const std::int64_t elements : graph.values)
    numbers += 2.0 * static_cast<double>(elements * settings.tensor_ranks);
  return kFloat * numbers * static_cast<double>(settings.ranks) <= kMost;
}

program::Config on_one_gpu(program::Config config) {
  config.set("parallel.strategy", "none");
  config.set("parallel.world_size", std::int64_t{1});
  // The type that FSDP computes in stays the model's.
  if (config.word("fsdp.param_dtype") == "bf16") config.set("model.dtype", "bf16");
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
  settings.data = training_data(config);
  refuse_other_data(config, settings.data);
  settings.batch = config.whole("batch_size");
  settings.steps = config.whole("steps");
  settings.accumulate = config.whole("accumulate_steps");
  settings.set_on_device = config.word("data.location") == "device";
  settings.tensor = settings.set_on_device || config.word("data.source") == "tensor";
  settings.image_sizes = config.whole("data.image_sizes");
  if (settings.image_sizes > 1 && settings.sides().back() < 32)
    throw InputError(settings.data.name + " has images of " +
                     std::to_string(settings.data.shape.height) +
                     " pixels, too small for so many sizes; set data.image_sizes = 1, or "
                     "data.name = imagenet");
  settings.one_batch = config.flag("data.one_batch");
  settings.on_cpu = config.word("device") == "cpu";
  settings.pins_in_loop = config.flag("transfer.pin_in_loop");
  settings.own_stream = config.whole("transfer.streams") == 2;
  settings.prefetch = config.flag("transfer.prefetch");
  // The gradients of several batches are summed: they are dropped before the first of them.
  settings.zero_first =
      config.word("zero_grad.when") == "before_forward" || settings.accumulate > 1;
  settings.zero_never = config.word("zero_grad.when") == "never";
  settings.gradients_stay = gradients_stay(config);
  settings.computes = settings.data.has_samples;
  settings.evaluates = settings.computes && config.flag("loop.evaluate") &&
                       settings.data.shape.tokens == 0 &&
                       settings.data.test_samples >= settings.batch;
  settings.has_scaler = config.flag("scaler.enabled");
  settings.fused = config.word("optimizer.impl") == "fused";
  settings.clip_norm = config.number("clip_grad_norm");
  settings.item_every = config.whole("loop.item_every");
  settings.precision = precision_of(config, machine);
  settings.parameter_type = settings.precision.model;
  if (config.word("fsdp.param_dtype") == "bf16") {
    refuse_bf16_without_units(machine.gpu, "fsdp.param_dtype = none");
    settings.precision.model = ElementType::kBf16;
    refuse_two_narrow_types(settings.precision);
  }
  settings.compile = compilation(config);
  settings.infinities = list_of(config.word("scaler.inject_inf_at"));
  read_parallel(config, machine, settings);
  read_sampler(config, settings);
  read_epoch(config, settings);
  return settings;
}

}  // namespace trainscope::train
