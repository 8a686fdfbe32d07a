#include "program/knob_rows.h"

namespace trainscope::program {

namespace {

void add_data_parallel_knobs(std::vector<Knob>& t) {
  choice("parallel.strategy", "none")
      .choices({"none", "dp", "ddp", "fsdp", "tensor", "pipeline"})
      .help("how the GPUs share the work")
      .into(t);
  whole("parallel.world_size", 1, 1, 1024)
      .pytorch("world_size")
      .help("ranks: of a pipeline, GPUs with stages; or GPUs of DataParallel")
      .into(t);
  flag("dp.loss_in_forward", false)
      .help("DataParallel's replicas compute the loss, as models of transformers do; else GPU 0")
      .into(t);
  number("ddp.bucket_cap_mb", 25, 0.001, 1e5)
      .pytorch("bucket_cap_mb")
      .unit("MiB")
      .help("size at which a gradient bucket closes; as long as it is not set, the first at 1 MiB")
      .into(t);
  flag("ddp.gradient_as_bucket_view", false)
      .pytorch("gradient_as_bucket_view")
      .help("gradients are views of the buckets: none is copied into one")
      .into(t);
  flag("ddp.find_unused_parameters", false)
      .pytorch("find_unused_parameters")
      .help("each forward searches for parameters that its loss does not depend on")
      .into(t);
  flag("ddp.static_graph", false)
      .pytorch("static_graph")
      .help("every step is promised to use the same parameters, in the same order")
      .into(t);
  flag("ddp.no_sync", false)
      .pytorch("no_sync()")
      .help(
          "accumulating, gradients are summed over ranks with the last batch before an update "
          "alone")
      .into(t);
  flag("ddp.broadcast_buffers", true)
      .pytorch("broadcast_buffers")
      .help("each forward begins by sending rank 0's buffers, as a batch norm's, to all ranks")
      .into(t);
  choice("ddp.comm_hook", "none")
      .choices({"none", "fp16_compress", "bf16_compress"})
      .pytorch("register_comm_hook")
      .help(
          "DistributedDataParallel sums a bucket's copy in this type: fp16_compress_hook, "
          "bf16_compress_hook")
      .into(t);
}

void add_fsdp_knobs(std::vector<Knob>& t) {
  choice("fsdp.wrap", "block")
      .choices({"block", "model"})
      .pytorch("fully_shard")
      .help("what is gathered at once: the parameters of a block, or those of the whole model")
      .into(t);
  whole("fsdp.shard_degree", 0, 0, 1024)
      .pytorch("fully_shard(mesh=...)")
      .help(
          "ranks that share the parameters, neighbours; the others hold the same, and sum "
          "gradients with them: hybrid sharding. 0: all share them")
      .into(t);
  flag("fsdp.reshard_after_forward", true)
      .pytorch("reshard_after_forward")
      .help("a block's parameters are freed after its forward, and gathered again for its backward")
      .into(t);
  choice("fsdp.param_dtype", "none")
      .choices({"none", "bf16"})
      .pytorch("MixedPrecisionPolicy(param_dtype)")
      .help("gather parameters and compute in this type; none: in that of the parts")
      .into(t);
  choice("fsdp.reduce_dtype", "none")
      .choices({"none", "fp32"})
      .pytorch("MixedPrecisionPolicy(reduce_dtype)")
      .help("sum gradients in this type; none: in that of the gradients")
      .into(t);
  choice("fsdp.gradient_sync", "each")
      .choices({"each", "last"})
      .pytorch("set_requires_gradient_sync")
      .help(
          "accumulating, FSDP scatters gradients of each micro-batch, or keeps them whole and "
          "scatters once")
      .into(t);
}

void add_tensor_knobs(std::vector<Knob>& t) {
  whole("tensor.degree", 0, 0, 1024)
      .pytorch("init_device_mesh(mesh_dim_names=(\"dp\", \"tp\"))")
      .help(
          "ranks that share each layer, neighbours; the others hold the same parts, take batches "
          "of their own, and DDP sums gradients with them, or FSDP shares the parts. 0: all share, "
          "with FSDP none")
      .into(t);
  flag("tensor.sequence_parallel", false)
      .pytorch("SequenceParallel")
      .help(
          "between the layers that tensor parallelism cuts, each rank keeps its part of the "
          "sequence: sums are scattered, and gathered before the next")
      .into(t);
  flag("tensor.loss_parallel", false)
      .pytorch("loss_parallel()")
      .help(
          "ranks of tensor parallelism share out the vocabulary: each has some rows of embedding "
          "and head, some of the logits, and its part of the loss")
      .into(t);
}

void add_pipeline_knobs(std::vector<Knob>& t) {
  whole("pipeline.degree", 0, 0, 1024)
      .pytorch("init_device_mesh(mesh_dim_names=(\"dp\", \"pp\"))")
      .help(
          "ranks that are the stages of one pipeline, neighbours; the others are pipelines alike "
          "with batches of their own, and DDP sums gradients between them. 0: all are one pipeline")
      .into(t);
  choice("pipeline.schedule", "1f1b")
      .choices({"gpipe", "1f1b", "interleaved_1f1b"})
      .pytorch("ScheduleGPipe, Schedule1F1B, ScheduleInterleaved1F1B")
      .help(
          "a pipeline's order: all forwards first; each backward as soon as it can be; the same "
          "with several stages on each rank")
      .into(t);
  whole("pipeline.stages_per_rank", 2, 1, 64)
      .pytorch("ScheduleInterleaved1F1B(stages)")
      .help(
          "stages that a rank of an interleaved pipeline holds, in turn: rank 0 of 4 has stages 0, "
          "4, 8 and so on")
      .into(t);
  flag("pipeline.batch_p2p_comm", true)
      .pytorch("batch_isend_irecv")
      .help(
          "all that a rank of an interleaved pipeline sends and receives is on one stream; else "
          "each two ranks have one, with isend and irecv")
      .into(t);
  whole("pipeline.microbatches", 8, 1, 1024)
      .pytorch("n_microbatches")
      .help("parts of a batch that follow one another through a pipeline")
      .into(t);
}

void add_uneven_knobs(std::vector<Knob>& t) {
  whole("straggler.rank", -1, -1, 1023).help("a rank whose GPU is slow; -1: none").into(t);
  number("straggler.factor", 1, 1, 100).help("so many times as long its kernels take").into(t);
  flag("uneven_batches", false)
      .help("the last rank has one batch less: the others wait for it for ever")
      .into(t);
}

}  // namespace

void add_parallel_knobs(std::vector<Knob>& t) {
  add_data_parallel_knobs(t);
  add_fsdp_knobs(t);
  add_tensor_knobs(t);
  add_pipeline_knobs(t);
  add_uneven_knobs(t);
}

}  // namespace trainscope::program
