// The listing of a training job: what PyTorch would run, and what the program does.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/built_program.h"

using namespace trainscope;
using Catch::Matchers::Contains;
using test::Settings;

namespace {

std::string listing(const Settings& settings) {
  return test::listing_of(test::program_of(settings));
}

}  // namespace

TEST_CASE("a loop that accumulates through several epochs begins each of them") {
  const Settings settings{"data.name=digits", "steps=30", "batch_size=1000", "accumulate_steps=4"};
  CHECK_THAT(listing(settings), Contains("def batches_of_epochs():\n"
                                         "    for epoch in range(12):\n"
                                         "        yield from loader\n"
                                         "\n"
                                         "batches = batches_of_epochs()\n"
                                         "for step in range(30):\n"));
  Settings ranks = settings;
  for (const char* more : {"machine=h200-8", "parallel.strategy=ddp", "parallel.world_size=2",
                           "steps=10", "loop.item_every=2"})
    ranks.emplace_back(more);
  CHECK_THAT(listing(ranks), Contains("    for epoch in range(8):\n"
                                      "        sampler.set_epoch(epoch)\n"
                                      "        yield from loader\n") &&
                                 !Contains("step = -1"));
  // Within one epoch the loader is enough.
  CHECK_THAT(listing({"data.name=digits", "steps=2", "batch_size=1000", "accumulate_steps=4"}),
             Contains("batches = iter(loader)\n"));
}

TEST_CASE("the listing says that math attention stays in 16 bits, where it has any") {
  const char* line = "torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)\n";
  CHECK_THAT(listing({"model.name=gpt2", "precision=bf16"}), Contains(line));
  CHECK_THAT(listing({"model.name=gpt2", "model.dtype=bf16"}), Contains(line));
  CHECK_THAT(listing({"model.name=gpt2"}), !Contains(line));
  CHECK_THAT(listing({"model.name=gpt2", "precision=bf16", "attention.kernel=flash"}),
             !Contains(line));
  CHECK_THAT(listing({"model.name=resnet50", "precision=bf16"}), !Contains(line));
}

TEST_CASE("attention that is written out stands in the listing, and no backend is chosen for it") {
  const std::string own =
      listing({"model.name=gpt-mini", "model.seq_len=64", "attention.kernel=eager"});
  CHECK_THAT(own, Contains("mask = torch.tril(torch.ones(64, 64, device=device))\n"
                           "def attention(q, k, v):\n"
                           "    att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))\n"
                           "    att = att.masked_fill(mask == 0, float(\"-inf\"))\n"
                           "    att = F.softmax(att, dim=-1)\n"
                           "    y = (att @ v).transpose(1, 2).contiguous()\n"
                           "    return y\n"
                           "class Block(nn.Module):\n"));
  CHECK_THAT(own, Contains("        y = attention(q, k, v)\n") && !Contains("sdpa_kernel") &&
                      !Contains("scaled_dot_product_attention"));
  const std::string bert =
      listing({"model.name=bert-large", "model.seq_len=64", "attention.kernel=eager"});
  CHECK_THAT(bert, Contains("AttentionInterface.register(\"written_out\", attention)\n") &&
                       Contains("attn_implementation=\"written_out\"") && !Contains("mask"));
  CHECK_THAT(listing({"model.name=gpt2"}),
             !Contains("written_out") && Contains("with sdpa_kernel(SDPBackend.MATH):\n"));
  const std::string library =
      listing({"model.name=gpt2", "attention.kernel=transformers", "model.gelu=written_out"});
  CHECK_THAT(library, Contains("attn_implementation=\"eager\"") && !Contains("sdpa_kernel") &&
                          !Contains("def attention") && !Contains("gelu_pytorch_tanh"));
  CHECK_THAT(listing({"model.name=gpt2", "loop.empty_cache=true"}),
             Contains("    torch.cuda.empty_cache()\n") &&
                 Contains("activation_function=\"gelu_pytorch_tanh\""));
}

TEST_CASE("a range of files is no sampler that can be told the epoch") {
  const Settings settings{"machine=h200-8",        "parallel.strategy=ddp", "data.name=digits",
                          "parallel.world_size=4", "batch_size=300",        "steps=40"};
  CHECK_THAT(listing(settings), Contains("sampler.set_epoch(epoch)"));
  Settings uneven = settings;
  uneven.emplace_back("uneven_batches=true");
  CHECK_THAT(listing(uneven), Contains("sampler = range(first[rank], last[rank])") &&
                                  !Contains("set_epoch") &&
                                  Contains("  # 40 steps in all, 39 of the last rank\n"));
  uneven.emplace_back("sampler.set_epoch=false");
  CHECK_THROWS_WITH(listing(uneven), Contains("with uneven_batches the files are cut by hand"));
}

TEST_CASE("how far each worker reads ahead stands in the loader's call where it is not PyTorch's") {
  CHECK_THAT(listing({"loader.num_workers=2", "loader.prefetch_factor=8"}),
             Contains(", prefetch_factor=8"));
  CHECK_THAT(listing({"loader.num_workers=2", "loader.prefetch_factor=2"}),
             !Contains("prefetch_factor"));
}

TEST_CASE(
    "a pipeline's listing cuts the model where the program does, and sums what two stages have") {
  Settings settings{"machine=h200-8",        "parallel.strategy=pipeline",
                    "parallel.world_size=2", "pipeline.microbatches=4",
                    "batch_size=8",          "model.name=gpt2",
                    "model.seq_len=64",      "steps=2"};
  const std::string tied = listing(settings);
  CHECK_THAT(tied,
             Contains("parts = [Embeddings(model.transformer), *model.transformer.h, "
                      "model.transformer.ln_f, model.lm_head]\ncuts = [0, ") &&
                 Contains("chunk = nn.Sequential(*parts[cuts[rank]:cuts[rank + 1]]).to(device)") &&
                 Contains("\nstage = PipelineStage(chunk, rank, 2, device)  # the first step") &&
                 Contains("schedule = Schedule1F1B(stage, n_microbatches=4, loss_fn=lambda") &&
                 Contains("tied = model.transformer.wte.weight if rank in (0, 1) else None\n") &&
                 !Contains("output.logits") &&
                 Contains("optimizer = torch.optim.SGD(stage.submod.parameters()") &&
                 Contains("    if rank == 0: x = x.to(device") &&
                 Contains("    if rank == 1: y = y.to(device") &&
                 Contains("dist.all_reduce(tied.grad, group=ends)"));
  settings.insert(settings.end(),
                  {"model.name=gpt-mini", "data.name=text", "pipeline.schedule=gpipe"});
  CHECK_THAT(listing(settings),
             Contains("schedule = ScheduleGPipe(stage, n_microbatches=4") && !Contains("tied") &&
                 Contains("    forward = GPT.embed\nparts = [Embeddings(model), *model.blocks, "
                          "model.last_norm, model.head]\ncuts = [0, 2, None]"));
}

TEST_CASE("a pipeline's cuts count modules: of the ends, and of each block") {
  const auto cuts = [](const char* model, const char* more) {
    return listing({"machine=h200-8", "parallel.strategy=pipeline", "parallel.world_size=2",
                    "pipeline.microbatches=4", "batch_size=8", model, more});
  };
  // Linear and ReLU; convolution, norm, ReLU and pooling; what is before ResNet's first block.
  CHECK_THAT(cuts("model.name=mlp", "model.layers=4"),
             Contains("parts = list(model)\ncuts = [0, 2, None]"));
  CHECK_THAT(cuts("model.name=cnn", "model.batch_norm=true"), Contains("cuts = [0, 4, None]"));
  CHECK_THAT(cuts("model.name=cnn", "model.batch_norm=false"), Contains("cuts = [0, 3, None]"));
  CHECK_THAT(cuts("model.name=resnet50", "steps=1"),
             Contains("parts = [nn.Sequential(model.conv1, model.bn1, ") &&
                 Contains("cuts = [0, 9, None]"));  // "layer3.1", behind 3 + 4 + 1 blocks
}

TEST_CASE("models of transformers drop what the run drops, and keep nothing to generate by") {
  CHECK_THAT(listing({"model.name=gpt2", "model.dropout=0.1"}),
             Contains("    resid_pdrop=0.1, embd_pdrop=0.1, attn_pdrop=0, use_cache=False"));
  CHECK_THAT(
      listing({"model.name=gpt2"}),
      Contains("    resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, use_cache=False") &&
          Contains("AttentionInterface.register(\"without_mask\", sdpa_attention_forward)") &&
          Contains("attn_implementation=\"without_mask\""));
  CHECK_THAT(listing({"model.name=gpt2", "attention.kernel=transformers", "attention.dropout=0.2"}),
             Contains("attn_pdrop=0.2, use_cache=False, attn_implementation=\"eager\"") &&
                 !Contains("without_mask"));
  CHECK_THAT(
      listing({"model.name=bert-large", "model.dropout=0.1", "model.seq_len=64"}),
      Contains("hidden_dropout_prob=0.1, attention_probs_dropout_prob=0, pad_token_id=None)"));
  CHECK_THAT(listing({"model.name=opt-1.3b"}),
             Contains("    dropout=0, attention_dropout=0, use_cache=False, pad_token_id=None))"));
}

TEST_CASE("a model without blocks is sharded as a whole") {
  const Settings rnn{"model.name=rnn", "machine=h100-sxm-8", "steps=1", "parallel.strategy=fsdp",
                     "parallel.world_size=2"};
  CHECK_THAT(listing(rnn), Contains("fully_shard(model)\n") && !Contains("for block in"));
}

TEST_CASE("checkpointing stands in the listing as the model's way of asking for it") {
  CHECK_THAT(listing({"model.name=gpt2", "checkpoint.enabled=true"}),
             Contains("model.gradient_checkpointing_enable(gradient_checkpointing_kwargs="
                      "{\"use_reentrant\": False})\n"));
  CHECK_THAT(listing({"model.name=gpt-mini", "checkpoint.enabled=true"}),
             Contains("        return checkpoint(self.layers, x, use_reentrant=False)\n"
                      "    def layers(self, x):\n") &&
                 !Contains("# forward: x = checkpoint"));
  CHECK_THAT(listing({"model.name=resnet50", "checkpoint.enabled=true"}),
             Contains("# forward: x = checkpoint"));
  CHECK_THAT(listing({"model.name=gpt-mini"}), !Contains("checkpoint"));
}

TEST_CASE("a micro-batch's loss is printed as it is, not as it is divided") {
  const Settings settings{"accumulate_steps=4", "loop.item_every=1", "batch_size=64", "steps=2"};
  CHECK_THAT(listing(settings), Contains("    print(loss.item() * 4)\n"));
  CHECK_THAT(listing({"loop.item_every=1"}), Contains("    print(loss.item())\n"));
}

TEST_CASE("the small language model's classes stand before it, and no library has to be asked") {
  const std::string text = listing({"model.name=gpt-mini"});
  CHECK_THAT(text, Contains("class GPT(nn.Module):\n"
                            "    def __init__(self, vocabulary, length, width, heads, blocks, "
                            "dropout):\n") &&
                       Contains("is_causal=True).transpose(1, 2)\n") &&
                       Contains("        return self.head(self.last_norm(x))\nmodel = GPT("));
}

TEST_CASE("what FSDP shards is given values as its model can") {
  const auto sharded = [](const char* model) {
    return listing({"machine=h200-8", "parallel.strategy=fsdp", "parallel.world_size=2", model});
  };
  CHECK_THAT(sharded("model.name=gpt2"), Contains("\nmodel.init_weights()\n"));
  CHECK_THAT(
      sharded("model.name=mlp"),
      Contains("    if hasattr(module, \"reset_parameters\"): module.reset_parameters()\n") &&
          !Contains("init_weights"));
}

TEST_CASE("an interleaved pipeline's listing gives each rank its stages, in turn") {
  CHECK_THAT(
      listing({"machine=h200-8", "parallel.strategy=pipeline", "parallel.world_size=2",
               "pipeline.schedule=interleaved_1f1b", "pipeline.stages_per_rank=3",
               "pipeline.microbatches=4", "batch_size=8", "model.name=gpt2", "model.seq_len=64"}),
      Contains("chunks = {i: nn.Sequential(*parts[cuts[i]:cuts[i + 1]]).to(device) for i in "
               "range(rank, 6, 2)}") &&
          Contains(
              "stages = [PipelineStage(chunk, i, 6, device) for i, chunk in chunks.items()]") &&
          Contains("schedule = ScheduleInterleaved1F1B(stages, n_microbatches=4, loss_fn=lambda") &&
          Contains("tied = model.transformer.wte.weight if rank in (0, 1) else None\n") &&
          Contains("optimizer = torch.optim.SGD([p for stage in stages for p in "
                   "stage.submod.parameters()], lr=") &&
          Contains("    if rank == 0: x = x.to(device") &&
          Contains("    if rank == 1: y = y.to(device"));
}

TEST_CASE("a listing replaces batches of sends and receives where they are not wanted") {
  const auto with = [](const char* batches) {
    return listing({"machine=h200-8", "parallel.strategy=pipeline", "parallel.world_size=2",
                    "pipeline.schedule=interleaved_1f1b", "model.layers=5",
                    "pipeline.microbatches=4", "batch_size=8", batches});
  };
  CHECK_THAT(with("pipeline.batch_p2p_comm=true"), !Contains("_batch_p2p"));
  CHECK_THAT(with("pipeline.batch_p2p_comm=false"),
             Contains("schedules._batch_p2p = lambda ops, desc=None: "
                      "[p.op(p.tensor, p.peer, p.group) for p in ops]\n"));
}

TEST_CASE("a knob of what a config does not have changes nothing, so that others may share it") {
  const std::string plain = listing({});
  for (const char* knob :
       {"loader.persistent_workers=true", "loader.prefetch_factor=8", "straggler.factor=1.5",
        "straggler.rank=3", "uneven_batches=true", "ddp.bucket_cap_mb=5", "ddp.no_sync=true",
        "fsdp.wrap=model", "fsdp.param_dtype=bf16", "fsdp.gradient_sync=last",
        "fsdp.shard_degree=4", "tensor.sequence_parallel=true", "pipeline.microbatches=3",
        "sampler.set_epoch=false"}) {
    INFO(knob);
    CHECK(listing({knob}) == plain);
  }
  const std::vector<std::string> ddp{"machine=h200-8", "parallel.strategy=ddp",
                                     "parallel.world_size=4"};
  const std::string of_ddp = listing(ddp);
  for (const char* knob : {"fsdp.wrap=model", "fsdp.param_dtype=bf16", "fsdp.gradient_sync=last",
                           "fsdp.shard_degree=2", "tensor.sequence_parallel=true",
                           "pipeline.schedule=gpipe", "straggler.factor=1.5"}) {
    INFO(knob);
    std::vector<std::string> more = ddp;
    more.emplace_back(knob);
    CHECK(listing(more) == of_ddp);
  }
  CHECK_THROWS_WITH(listing({"device=cpu", "power_limit=300"}),
                    Contains("power_limit has no meaning with device = cpu"));
}

TEST_CASE("more GPUs than DataParallel has are refused with what the machine can do") {
  const auto on = [](const char* machine) {
    return Settings{machine, "parallel.strategy=dp", "parallel.world_size=16"};
  };
  CHECK_THROWS_WITH(listing(on("machine=dgx1-v100-8x2")), Contains("parallel.strategy = ddp"));
  CHECK_THROWS_WITH(listing(on("machine=laptop-1")),
                    Contains("has 1 GPU; write at most that, or choose a larger machine"));
}
