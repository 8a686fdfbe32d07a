#include "train/listing/step_listing.h"

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <vector>

#include "train/listing/parallel_listing.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

class StepListing : ListingPart {
 public:
  StepListing(ListingText& text, TrainLines& lines, const ListedRun& run)
      : ListingPart(text, lines, run) {}

  void write_step() {
    if (settings_.pipeline) {
      write_schedule();
      write_update();
      return write_rest();
    }
    const bool zero_inside = settings_.accumulate == 1;
    write_resize();
    if (settings_.zero_first && zero_inside) write_zero_grad();
    if (settings_.no_sync && settings_.fsdp)
      add(fmt::format("model.set_requires_gradient_sync(i == {})", settings_.accumulate - 1));
    const bool apart = settings_.no_sync && settings_.ddp;  // forward decides, too
    if (apart)
      add(fmt::format("with model.no_sync() if i < {} else nullcontext():",
                      settings_.accumulate - 1));
    text_.indent += apart;
    // The backward of such a loss is under it, too (torch/distributed/tensor/parallel/loss.py).
    const bool shared = settings_.loss_parallel;
    if (shared) add("with loss_parallel():");
    text_.indent += shared;
    write_forward();
    if (!settings_.zero_first) write_zero_grad();
    lines_.backward =
        add(settings_.has_scaler ? "scaler.scale(loss).backward()" : "loss.backward()");
    text_.indent -= apart + shared;
    if (settings_.accumulate > 1) --text_.indent;
    write_update();
    write_rest();
  }

  void write_evaluation() {
    add("");
    add("model.eval(); correct = 0");
    const auto narrow = settings_.precision.autocast;
    add(narrow == program::ElementType::kFp32
            ? "with torch.no_grad():"
            : fmt::format("with torch.no_grad(), torch.autocast(\"cuda\", dtype={}):",
                          torch_name(narrow)));
    ++text_.indent;
    lines_.evaluate = add("for x, y in test_loader:  # whole batches: drop_last=True");
    ++text_.indent;
    if (!settings_.on_cpu)
      lines_.evaluate_copy =
          add(fmt::format("x, y = x.to(device){}, y.to(device)", run_.cast_of_batch()));
    lines_.evaluate_forward = add(fmt::format("correct += (model({}.argmax(1) == y).sum()",
                                              has_loss_inside() ? "x, y)[1]" : "x)"));
    text_.indent = 0;
    lines_.accuracy =
        add(fmt::format("print(correct.item() / (len(test_loader) * {}))", settings_.batch));
  }

 private:
  void write_resize() {
    if (settings_.image_sizes > 1) lines_.resize = add("x = F.interpolate(x, size=next(sizes))");
  }

  void write_forward() {
    const std::vector<std::string> contexts = contexts_of_forward();
    if (!contexts.empty()) add(fmt::format("with {}:", fmt::join(contexts, ", ")));
    text_.indent += !contexts.empty();
    const std::string divided =
        settings_.accumulate > 1 ? fmt::format(" / {}", settings_.accumulate) : "";
    if (has_loss_inside()) {
      lines_.forward = add("means, out = model(x, y)");
      lines_.loss = add("loss = means.mean()" + divided);
      text_.indent -= !contexts.empty();
      return;
    }
    lines_.forward = add("out = model(x)");
    lines_.loss = add(loss_line() + divided);
    text_.indent -= !contexts.empty();
  }

  // Every rank calls it: the first has the input, the last the targets.
  void write_schedule() {
    write_zero_grad();
    const std::vector<std::string> contexts = contexts_of_forward();
    add("losses = []");
    const char* rank = rank_in_pipeline(settings_);
    add(fmt::format("args = (x,) if {} == 0 else ()", rank));
    if (!contexts.empty()) add(fmt::format("with {}:", fmt::join(contexts, ", ")));
    text_.indent += !contexts.empty();
    lines_.forward = lines_.tied =
        add(fmt::format("schedule.step(*args, target=y if {} == {} else None, losses=losses, "
                        "return_outputs=False)",
                        rank, settings_.pipeline_ranks - 1));
    text_.indent -= !contexts.empty();
    if (!run_.stages.tied.empty())
      lines_.tied = add("if tied is not None: dist.all_reduce(tied.grad, group=ends)");
  }

  void write_update() {
    if (!settings_.infinities.empty())
      lines_.inject = add(fmt::format(
          "if step in ({},): next(model.parameters()).grad.view(-1)[0] = float(\"inf\")",
          fmt::join(settings_.infinities, ", ")));
    if (settings_.clip_norm > 0) {
      if (settings_.has_scaler) lines_.unscale = add("scaler.unscale_(optimizer)");
      lines_.clip = settings_.tensor_parallel
                        ? add_clip_by_mesh()
                        : add(fmt::format("nn.utils.clip_grad_norm_(model.parameters(), {})",
                                          settings_.clip_norm));
    }
    // Tensors that are whole on each rank stand beside those that are shared out, but for
    // DistributedDataParallel, which has all as ordinary ones, and FSDP, which has none.
    const bool mixed = settings_.tensor_parallel && !settings_.ddp && !settings_.fsdp;
    if (mixed) add("with implicit_replication():");
    text_.indent += mixed;
    lines_.step = add(settings_.has_scaler ? "scaler.step(optimizer)" : "optimizer.step()");
    text_.indent -= mixed;
    if (lines_.unscale == 0) lines_.unscale = lines_.step;
    if (settings_.has_scaler) lines_.update_scale = add("scaler.update()");
  }

  // clip_grad_norm_ stacks the norms of all, which tensors of two meshes cannot be: what the plan
  // names has both dimensions, all else FSDP's alone.
  std::uint16_t add_clip_by_mesh() {
    const std::uint16_t first =
        add("of_mesh = {}  # of (dp, tp) and of dp alone: their norms cannot be stacked");
    add("for p in model.parameters(): of_mesh.setdefault(p.device_mesh.ndim, []).append(p)");
    add("norms = [nn.utils.get_total_norm([p.grad for p in one]).full_tensor()");
    add("         for one in of_mesh.values()]");
    add("norm = torch.stack(norms).norm()");
    add("for one in of_mesh.values():");
    add(fmt::format("    nn.utils.clip_grads_with_norm_(one, {}, norm)", settings_.clip_norm));
    return first;
  }

  void write_rest() {
    if (const double sleep = config_.number("loop.sleep_ms"); sleep > 0)
      lines_.sleep = add(fmt::format("time.sleep({})", sleep / 1000));
    const std::int64_t every = settings_.item_every;
    if (every > 1) add(fmt::format("if step % {} == {}:", every, every - 1));
    // What was divided for the sum of gradients is a micro-batch's loss again.
    const std::string item = settings_.accumulate > 1 && !settings_.pipeline
                                 ? fmt::format("loss.item() * {}", settings_.accumulate)
                                 : "loss.item()";
    if (every > 0) lines_.item = add(fmt::format("{}print({})", every > 1 ? "    " : "", item));
    if (settings_.keeps_numbers || settings_.keeps_losses)
      lines_.keep_loss = add(settings_.keeps_numbers ? fmt::format("losses.append({})", item)
                                                     : "losses.append(loss)");
    if (config_.flag("loop.sync_timing") && !settings_.on_cpu)
      lines_.sync = add("torch.cuda.synchronize()");
    if (lines_.timer_start) lines_.timer_stop = add("print(time.perf_counter() - start)");
    const Validation& validation = settings_.validation;
    if (validation.batches > 0)
      lines_.validate =
          add(validation.every > 1 ? fmt::format("if step % {0} == {1}: validate()",
                                                 validation.every, validation.every - 1)
                                   : "validate()");
  }
};

}  // namespace

void write_step(ListingText& text, TrainLines& lines, const ListedRun& run) {
  StepListing(text, lines, run).write_step();
}

void write_evaluation(ListingText& text, TrainLines& lines, const ListedRun& run) {
  StepListing(text, lines, run).write_evaluation();
}

}  // namespace trainscope::train
