#include "program/knob_table.h"
#include "program/knob_rows.h"

#include <utility>

namespace trainscope::program {
namespace {

constexpr double kLargestCopy = 0x1p40;  // 1 TiB: more than any device or host here holds
constexpr double kMostSteps = 100'000;
constexpr double kMostChunks = 4096;
// Streams of a device that PyTorch makes; from the 33rd on it gives the first ones again
// (c10/cuda/CUDAStream.cpp, kStreamsPerPool).
constexpr double kPoolOfStreams = 32;

using Table = std::vector<Knob>;

void add_copy_knobs(Table& t) {
  size("copy.bytes", 64 << 20, 1, kLargestCopy).help("bytes of one copy").into(t);
  choice("copy.direction", "h2d")
      .choices({"h2d", "d2h", "d2d", "round_trip"})
      .help(
          "host to device, device to host, within the device, or to the device, through a kernel "
          "and back")
      .into(t);
  choice("copy.memory", "pageable")
      .choices({"pinned", "pageable"})
      .pytorch("pin_memory")
      .help("the kind of host memory: page-locked, or ordinary")
      .into(t);
  choice("copy.pin", "ahead")
      .choices({"ahead", "once", "each"})
      .pytorch("x.pin_memory()")
      .help(
          "when the tensor is pinned: before all that is timed, once before the copies, or anew "
          "before each")
      .into(t);
  whole("copy.count", 1, 1, kMostSteps)
      .help("copies, one after another on one stream; of a round trip, rounds of all its chunks")
      .into(t);
  whole("copy.chunks", 1, 1, kMostChunks)
      .pytorch("h.chunk()")
      .help("pieces that the tensor of a round trip is cut into")
      .into(t);
  whole("copy.streams", 1, 1, kPoolOfStreams)
      .pytorch("torch.cuda.Stream()")
      .help("streams that the chunks are spread over in turn; 1: the default stream")
      .into(t);
  choice("copy.order", "depth_first")
      .choices({"depth_first", "breadth_first"})
      .help(
          "each chunk's copy, kernel and copy back, one chunk after another; or all copies, then "
          "all kernels, then all copies back")
      .into(t);
  whole("copy.flops", 1, 1, 1'000'000)
      .help("arithmetic of the kernel between the two copies, for each FP32 number")
      .into(t);
}

void add_gemm_knobs(Table& t) {
  whole("gemm.m", 4096, 1, 1 << 20).help("rows of the product").into(t);
  whole("gemm.n", 4096, 1, 1 << 20).help("columns of the product").into(t);
  whole("gemm.k", 4096, 1, 1 << 20).help("length of the sums it is made of").into(t);
  choice("gemm.type", "fp16")
      .choices({"fp32", "tf32", "fp16", "bf16"})
      .help("element type of the product")
      .into(t);
}

void add_kernel_knobs(Table& t) {
  whole("kernel.grid", 1024, 1, 0x7fffffff).help("blocks of the grid").into(t);
  whole("kernel.block", 256, 1, 1024).help("threads of a block").into(t);
  whole("kernel.registers", 32, 16, 255).help("registers a thread").into(t);
  size("kernel.shared_bytes", 0, 0, 227 << 10).help("shared memory a block").into(t);
  number("kernel.flops_per_thread", 1000, 0, 1e12).help("arithmetic a thread").into(t);
  number("kernel.bytes_per_thread", 16, 0, 1e9).help("memory traffic a thread").into(t);
  size("kernel.footprint", 0, 0, kLargestCopy)
      .help("bytes of the array that this traffic goes to, again and again; 0: each byte once")
      .into(t);
  whole("kernel.count", 1, 1, 10000).help("kernels launched in a step").into(t);
  whole("kernel.streams", 1, 1, 128).help("streams they are spread over").into(t);
  whole("kernel.ilp", 1, 1, 16).help("independent instructions in flight a thread").into(t);
  choice("kernel.type", "fp32")
      .choices({"fp32", "fp16", "bf16", "fp64"})
      .help("type of the arithmetic, outside the tensor cores")
      .into(t);
}

void add_launch_and_collective_knobs(Table& t) {
  whole("launch.count", 20, 1, kMostSteps).help("kernels launched in a row").into(t);
  number("launch.kernel_ns", 2900, 1, 1e9).unit("ns").help("length of each kernel").into(t);
  flag("launch.graph", false).pytorch("CUDAGraph").help("launch them as one graph").into(t);
  flag("launch.sync_each", false).help("synchronise after each kernel").into(t);
  whole("launch.streams", 1, 1, 128)
      .help(
          "2: each launch is a pair, on the default stream and on one of stream.kind; more: on as "
          "many of that kind beside it")
      .into(t);
  whole("launch.kernel_sms", 1, 1, 4096)
      .help("SMs that each kernel fills; kernels at once share what there are")
      .into(t);
  choice("collective.op", "all_reduce")
      .choices({"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"})
      .help("the collective")
      .into(t);
  size("collective.bytes", 25 << 20, 1, kLargestCopy)
      .help("bytes of a rank's buffer, of the larger one where two differ")
      .into(t);
  whole("collective.ranks", 0, 0, 1024)
      .help("ranks that take part, a GPU each; 0: all GPUs of the machine")
      .into(t);
  whole("collective.count", 1, 1, 10000).help("collectives in a row").into(t);
  choice("collective.algorithm", "auto")
      .choices({"auto", "ring", "tree", "nvls"})
      .pytorch("NCCL_ALGO")
      .help("NCCL's algorithm")
      .into(t);
  choice("collective.protocol", "auto")
      .choices({"auto", "ll", "ll128", "simple"})
      .pytorch("NCCL_PROTO")
      .help("NCCL's protocol")
      .into(t);
  whole("collective.channels", 0, 0, 64)
      .pytorch("NCCL_MAX_NCHANNELS")
      .help("NCCL's channels, each a block on an SM; 0: its choice")
      .into(t);
  flag("collective.p2p", true)
      .pytorch("NCCL_P2P_DISABLE")
      .help("GPUs reach each other directly; else through host memory")
      .into(t);
  flag("collective.expanded", false)
      .help(
          "each chunk of a ring or a tree is sent over each link, which other traffic shares; else "
          "the closed form tells the time of the whole")
      .into(t);
}

void add_precision_knobs(Table& t) {
  choice("precision", "fp32")
      .choices({"fp32", "tf32", "fp16", "bf16"})
      .help("short for autocast.dtype and matmul.allow_tf32")
      .into(t);
  choice("autocast.dtype", "none")
      .choices({"none", "fp16", "bf16"})
      .pytorch("autocast(dtype)")
      .help("type that eligible operations run in; unless it is set, what precision says")
      .into(t);
  flag("matmul.allow_tf32", false)
      .pytorch("torch.backends.cuda.matmul.allow_tf32")
      .help("matrix products on TF32 tensor cores; unless it is set, what precision says")
      .into(t);
  flag("cudnn.allow_tf32", true)
      .pytorch("torch.backends.cudnn.allow_tf32")
      .help("convolutions on TF32 tensor cores")
      .into(t);
  flag("cudnn.benchmark", false)
      .pytorch("torch.backends.cudnn.benchmark")
      .help("try convolution algorithms for each new shape")
      .into(t);
  flag("scaler.enabled", false).pytorch("GradScaler").help("scale the loss").into(t);
  number("scaler.init_scale", 65536, 1e-30, 1e30)
      .pytorch("init_scale")
      .help("the first loss scale")
      .into(t);
  number("scaler.growth_factor", 2, 1, 1e6)
      .pytorch("growth_factor")
      .help("by how much the scale grows")
      .into(t);
  number("scaler.backoff_factor", 0.5, 1e-6, 1)
      .pytorch("backoff_factor")
      .help("by how much it shrinks after an infinity")
      .into(t);
  whole("scaler.growth_interval", 2000, 1, 1e9)
      .pytorch("growth_interval")
      .help("clean steps before it grows")
      .into(t);
  text("scaler.inject_inf_at", "", KnobType::kList)
      .help("steps whose gradients overflow, counted from 0")
      .into(t);
}

void add_optimizer_knobs(Table& t) {
  choice("optimizer.name", "sgd")
      .choices({"sgd", "adam", "adamw"})
      .pytorch("torch.optim")
      .help("the optimizer")
      .into(t);
  number("optimizer.lr", 0.01, 0, 1e6).pytorch("lr").help("learning rate").into(t);
  number("optimizer.momentum", 0, 0, 1).pytorch("momentum").help("momentum of SGD").into(t);
  number("optimizer.weight_decay", 0, 0, 1e3).pytorch("weight_decay").help("weight decay").into(t);
  choice("optimizer.impl", "foreach")
      .choices({"foreach", "fused", "for_loop"})
      .pytorch("foreach=, fused=")
      .help("how the update is launched; for_loop: kernels of each parameter alone, foreach=False")
      .into(t);
  flag("zero_grad.set_to_none", true)
      .pytorch("set_to_none")
      .help("drop gradients instead of filling them with zeros")
      .into(t);
  choice("zero_grad.when", "before_backward")
      .choices({"before_forward", "before_backward", "never"})
      .help("where the loop calls zero_grad; never: gradients of all steps add up")
      .into(t);
  number("clip_grad_norm", 0, 0, 1e9)
      .pytorch("clip_grad_norm_")
      .help("largest norm of the gradients; 0: no clipping")
      .into(t);
}

void add_step_knobs(Table& t) {
  whole("accumulate_steps", 1, 1, 1024).help("batches before each update").into(t);
  flag("checkpoint.enabled", false)
      .pytorch("torch.utils.checkpoint")
      .help("recompute activations in backward")
      .into(t);
  whole("checkpoint.every", 1, 1, 1024)
      .usual_most(8)
      .help("every so many-th block is recomputed; 1: each")
      .into(t);
  flag("compile.fuse", false)
      .pytorch("torch.compile")
      .help("torch.compile writes the model's kernels: fewer, with less traffic between them")
      .into(t);
  flag("compile.cuda_graph", false)
      .pytorch("mode=\"reduce-overhead\"")
      .help("torch.compile replays forward and backward as a CUDA graph each")
      .into(t);
  flag("compile.optimize_ddp", true)
      .pytorch("torch._dynamo.config.optimize_ddp")
      .help(
          "torch.compile cuts the model at DistributedDataParallel's buckets, so that a bucket is "
          "summed while the backward of the next piece runs; else all are behind one backward")
      .into(t);
}

void add_loop_knobs(Table& t) {
  whole("loop.item_every", 0, 0, 1e6)
      .pytorch("loss.item()")
      .help("read the loss each so many steps; 0: never")
      .into(t);
  choice("loop.keep_losses", "none")
      .choices({"none", "item", "tensor"})
      .help(
          "what the loop appends to a list in each step: nothing, losses.append(loss.item()) or "
          "losses.append(loss)")
      .into(t);
  flag("loop.evaluate", true)
      .pytorch("model.eval()")
      .help("after training, count the right answers on the test set, where numbers are computed")
      .into(t);
  number("loop.target_loss", 0, 0, 1e6)
      .usual_most(3)
      .help(
          "a loss to reach: metrics say when the mean over the last 1,024 samples gets there; 0: "
          "none")
      .into(t);
  number("loop.sleep_ms", 0, 0, 1e5)
      .pytorch("time.sleep()")
      .unit("ms")
      .help("the training thread sleeps so long in each step, as some benchmarks do for a model")
      .into(t);
  flag("loop.sync_timing", false)
      .pytorch("torch.cuda.synchronize()")
      .help("synchronise at the end of each step")
      .into(t);
  flag("loop.empty_cache", false)
      .pytorch("torch.cuda.empty_cache()")
      .help("each step begins by handing back what the allocator has cached")
      .into(t);
  flag("loop.timer", false)
      .pytorch("time.perf_counter()")
      .help("read the host's clock at the start and the end of each step")
      .into(t);
  flag("loop.cold_start", false)
      .help("the first matrix product of the process loads cuBLAS")
      .into(t);
  // The first cublasCreate and cublasDestroy of a process took 2761.9 us, a later pair 326.5 us, on
  // an RTX 4070 Ti SUPER (Cytnx-dev/Cytnx#1148).
  number("loop.cublas_load_ms", 2.435, 0, 1e5)
      .unit("ms")
      .help("how long that takes the host, with loop.cold_start")
      .into(t);
}

void add_validation_knobs(Table& t) {
  constexpr double kMostBatches = 10'000;
  whole("validation.batches", 0, 0, kMostBatches)
      .help("batches that a validation between training steps runs through; 0: there is none")
      .into(t);
  whole("validation.every", 1, 1, kMostSteps).help("training steps before each validation").into(t);
  flag("validation.no_grad", true)
      .pytorch("torch.no_grad()")
      .help("validation runs under torch.no_grad(); else autograd keeps a graph of each batch")
      .into(t);
  choice("validation.keep", "item")
      .choices({"item", "loss", "output"})
      .help("what validation appends to a list for each batch: loss.item(), loss or the output")
      .into(t);
}

void add_loader_knobs(Table& t) {
  whole("loader.num_workers", 0, 0, 256)
      .pytorch("num_workers")
      .help("loader processes; 0: the training thread loads")
      .into(t);
  whole("loader.prefetch_factor", 2, 1, 1024)
      .pytorch("prefetch_factor")
      .help("batches each worker may have outstanding")
      .into(t);
  flag("loader.pin_memory", false)
      .pytorch("pin_memory")
      .help("the loader puts batches into page-locked memory")
      .into(t);
  number("loader.sample_ms", 0.001, 0, 1e6)
      .unit("ms")
      .help("a worker's time to load and transform one sample")
      .into(t);
  size("loader.sample_bytes", 0, 0, 0x1p32)
      .help("bytes read from the disk for one sample; 0: the data set is in memory")
      .into(t);
  flag("loader.persistent_workers", false)
      .pytorch("persistent_workers")
      .help("the workers start once and stay; without it each epoch starts them anew")
      .into(t);
  flag("loader.shuffle", false).pytorch("shuffle").help("a new order each epoch").into(t);
  flag("loader.drop_last", true)
      .pytorch("drop_last")
      .help(
          "leave out what does not fill a batch at an epoch's end; PyTorch's own default is False")
      .into(t);
}

}  // namespace

Row::Row(std::string name, KnobType type, Value initial) {
  knob_.name = std::move(name);
  knob_.type = type;
  knob_.initial = std::move(initial);
}
Row& Row::range(double least, double most) {
  knob_.least = least;
  knob_.most = most;
  return *this;
}
Row& Row::unit(std::string unit) {
  knob_.unit = std::move(unit);
  return *this;
}
Row& Row::choices(std::vector<std::string> all, std::vector<std::string> built) {
  knob_.choices = std::move(all);
  knob_.built_choices = std::move(built);
  return *this;
}
Row& Row::path() {
  knob_.is_path = true;
  return *this;
}
Row& Row::pytorch(std::string spelling) {
  knob_.pytorch = std::move(spelling);
  return *this;
}
Row& Row::help(std::string line) {
  knob_.help = std::move(line);
  return *this;
}
Row& Row::usual_most(double most) {
  knob_.usual_most = most;
  return *this;
}

void add_run_knobs(Table& t) {
  choice("workload", "train")
      .choices({"train", "copy", "gemm", "kernel", "collective", "launch", "replay"})
      .help("what the program does")
      .into(t);
  text("machine", "h200-1").help("a machine's id, or a file that describes one").into(t);
  choice("device", "cuda").choices({"cpu", "cuda"}).help("where the model runs").into(t);
  choice("host.profile", "pytorch-eager")
      .choices({"pytorch-eager", "pytorch-compiled", "native"})
      .help("host time of an operator: eager PyTorch, torch.compile, or plain CUDA calls")
      .into(t);
  whole("host.cores", 0, 0, 4096)
      .help("host cores that the job may use; 0: all of the machine's")
      .into(t);
  number("power_limit", 0, 0, 2000)
      .usual_most(700)
      .unit("W")
      .help("power limit of each GPU, as nvidia-smi -pl sets it; 0: as delivered")
      .into(t);
  whole("pcie.lanes", 0, 0, 16)
      .help("PCIe lanes of the GPU in use; 0: all of the machine's")
      .into(t);
  choice("nvlink", "on")
      .choices({"on", "off"})
      .help("off: GPUs that NVLinks join talk over PCIe, through host memory")
      .into(t);
  choice("stream.kind", "legacy")
      .choices({"legacy", "blocking", "non_blocking"})
      .help(
          "kind of the stream that work runs on; of those beside the default one where "
          "launch.streams is above 1")
      .into(t);
  whole("steps", 10, 1, kMostSteps)
      .help("training steps; of workload = copy 1 unless it is set")
      .into(t);
  whole("seed", 0, 0, 9e15)
      .pytorch("torch.manual_seed")
      .help("seed of every random number")
      .into(t);
}

void add_microbench_knobs(Table& t) {
  add_copy_knobs(t);
  add_gemm_knobs(t);
  add_kernel_knobs(t);
  add_launch_and_collective_knobs(t);
}

void add_training_knobs(Table& t) {
  add_model_knobs(t);
  add_precision_knobs(t);
  add_optimizer_knobs(t);
  add_step_knobs(t);
  add_loop_knobs(t);
}

void add_input_knobs(Table& t) {
  add_validation_knobs(t);
  add_loader_knobs(t);
  flag("transfer.non_blocking", false)
      .pytorch("non_blocking")
      .help("the copy call need not hold the host until the copy is done")
      .into(t);
  whole("transfer.streams", 1, 1, 2)
      .pytorch("torch.cuda.Stream()")
      .help("1: copies run on the compute stream; 2: on a stream of their own")
      .into(t);
  flag("transfer.pin_in_loop", false)
      .pytorch("x.pin_memory().to(device)")
      .help("pin each batch in the training loop, on the training thread")
      .into(t);
  flag("transfer.prefetch", false)
      .help("start the next batch's copy before this step's kernels")
      .into(t);
  flag("transfer.record_stream", true)
      .pytorch("record_stream")
      .help("tell the allocator that another stream uses the batch")
      .into(t);
  flag("sampler.distributed", true)
      .pytorch("sampler=DistributedSampler(...)")
      .help("each rank, a process, reads a part of the samples; false: all of them")
      .into(t);
  flag("sampler.set_epoch", true)
      .pytorch("set_epoch")
      .help(
          "tell the sampler each epoch's number: without it every epoch has the order of the first")
      .into(t);
}

}  // namespace trainscope::program
