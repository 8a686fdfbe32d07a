#include "train/loop/update.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "train/kernels/kernels.h"
#include "train/loop/foreach.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::ElementType;
using program::Index;
using program::Operation;
using program::Role;

constexpr std::int64_t kFloat = 4;
constexpr const char* kWithDecay = ": gradient with decay";

Foreach foreach_norm() {
  return {"foreach_norm", "aten::_foreach_norm", 1, 2, 1};
}

class UpdateBuilder {
 public:
  UpdateBuilder(program::Program& program, const program::Config& config, const ModelBuffers& model,
                bool sharded)
      : program_(program),
        config_(config),
        sharded_(sharded),
        memory_(program.buffers[model.parameters.front()].kind),
        type_(program.buffers[model.parameters.front()].type) {
    for (std::size_t i = 0; i < model.parameters.size(); ++i) {
      if (model.gradients[i] == program::kNoIndex) continue;
      parameters_.push_back(model.parameters[i]);
      gradients_.push_back(model.gradients[i]);
      whole_.push_back(model.gradients[i]);
      if (i < model.sums.size() && model.sums[i] != program::kNoIndex) {
        whole_.back() = model.sums[i];
        update_.gradients_everywhere.push_back({gradients_.back(), whole_.back(), false});
      }
      sizes_.push_back(program.buffers[model.parameters[i]].elements());
      cut_.push_back(i < model.cut.size() && model.cut[i]);
    }
  }

  Update build() {
    update_.fused = config_.word("optimizer.impl") == "fused";
    update_.has_scaler = config_.flag("scaler.enabled");
    add_zero_grad();
    if (update_.has_scaler) add_scaler();
    add_injection();
    if (config_.number("clip_grad_norm") > 0) add_clip();
    if (config_.word("optimizer.name") == "sgd") {
      add_sgd();
    } else {
      add_adam();
    }
    return std::move(update_);
  }

 private:
  Index add(Operation operation) {
    program_.operations.push_back(std::move(operation));
    return static_cast<Index>(program_.operations.size() - 1);
  }

  void add_kernel(Launches& list, const program::Function& function, Operands operands) {
    list.push_back(
        add(make_operation(program_, function, ElementType::kFp32, std::move(operands))));
  }

  // A small kernel of which nothing is kept.
  void add_small(Launches& list, const char* kernel, const char* framework) {
    list.push_back(
        add(pointwise(kernel, framework, program::OperationKind::kElementwise, 1, 1, 8)));
  }

  // An operator over all parameters, whose last launch computes the function.
  void add_foreach(Launches& list, const Foreach& op, const program::Function& function = {},
                   Operands operands = {}) {
    add_foreach(list, sizes_, op, function, std::move(operands));
  }
  // Over parameters of these sizes.
  void add_foreach(Launches& list, const std::vector<std::int64_t>& sizes, const Foreach& op,
                   const program::Function& function, Operands operands) {
    std::vector<Operation> launches = foreach_launches(op, type_, sizes);
    launches.back().function = function;
    launches.back().reads = std::move(operands.reads);
    launches.back().writes = std::move(operands.writes);
    for (Operation& launch : launches) list.push_back(add(std::move(launch)));
  }

  // An update's operators, one over all parameters after another; foreach=False: all of one
  // parameter, then all of the next.
  void add_operators(const std::vector<Foreach>& operators, const program::Function& function,
                     Operands operands) {
    std::vector<Operation> launches;
    if (for_loop()) {
      for (const std::int64_t size : sizes_)
        for (const Foreach& op : operators) launches.push_back(launch_of_one(op, type_, size));
    } else {
      for (const Foreach& op : operators) {
        std::vector<Operation> more = foreach_launches(op, type_, sizes_);
        std::move(more.begin(), more.end(), std::back_inserter(launches));
      }
    }
    launches.back().function = function;
    launches.back().reads = std::move(operands.reads);
    launches.back().writes = std::move(operands.writes);
    for (Operation& launch : launches) update_.step.push_back(add(std::move(launch)));
  }

  std::vector<Index> add_state(const std::string& name) {
    std::vector<Index> state;
    for (const Index parameter : parameters_) {
      const program::Buffer& like = program_.buffers[parameter];
      state.push_back(add_numbers(program_, like.name + name, like.elements(), type_, memory_,
                                  Role::kOptimizerState));
    }
    update_.state.insert(update_.state.end(), state.begin(), state.end());
    return state;
  }

  Index add_number(const std::string& name, Role role, double value = 0) {
    const Index buffer = add_numbers(program_, name, 1, ElementType::kFp32, memory_, role);
    program_.buffers[buffer].initial.value = value;
    return buffer;
  }

  // Numbers that the first step allocates.
  Index add_workspace(const std::string& name, std::int64_t elements, ElementType type) {
    update_.state.push_back(add_numbers(program_, name, elements, type, memory_, Role::kWorkspace));
    return update_.state.back();
  }

  void add_zero_grad() {
    add_foreach(update_.zero_grad, {"foreach_zero", "aten::_foreach_zero_", 1, 0, 1},
                program::Fill{std::numeric_limits<std::int64_t>::max(), 0}, {{}, gradients_});
  }

  // torch/amp/grad_scaler.py.
  void add_scaler() {
    ScalerBuffers& scaler = update_.scaler;
    scaler.scale = add_number("loss scale", Role::kWorkspace, config_.number("scaler.init_scale"));
    scaler.tracker = add_number("growth tracker", Role::kWorkspace);
    scaler.found_inf = add_number("found_inf", Role::kWorkspace);
    scaler.found_inf_on_host = add_buffer(program_, "found_inf on the host", kFloat,
                                          program::MemoryKind::kPageable, Role::kWorkspace);
    Launches& list = update_.unscale;
    add_kernel(list, program::Fill{1, 0}, {{}, {scaler.found_inf}});
    Operands operands{{}, gradients_};
    operands.writes.push_back(scaler.found_inf);
    program::Unscale unscale;
    unscale.only_look = update_.fused && config_.number("clip_grad_norm") == 0;
    if (!unscale.only_look) {
      const Index inverse = add_number("inverse scale", Role::kWorkspace);
      update_.state.push_back(inverse);
      add_small(list, "cast", "aten::to");
      add_kernel(list, program::InvertScale{}, {{scaler.scale}, {inverse}});
      add_small(list, "cast", "aten::to");
      operands.reads.push_back(inverse);
    }
    add_foreach(list,
                {"unscale, look for infinities", "aten::_amp_foreach_non_finite_check_and_unscale_",
                 1, 2, 2},
                unscale, std::move(operands));
    if (sharded_)
      update_.found_anywhere = RankSum{
          scaler.found_inf, add_workspace("found_inf of all ranks", 1, ElementType::kFp32), true};
    program::UpdateScale rule;
    rule.growth_factor = config_.number("scaler.growth_factor");
    rule.backoff_factor = config_.number("scaler.backoff_factor");
    rule.growth_interval = config_.whole("scaler.growth_interval");
    add_kernel(update_.update_scale, rule, {{scaler.found_inf}, {scaler.scale, scaler.tracker}});
    update_.state.insert(update_.state.end(), {scaler.scale, scaler.tracker, scaler.found_inf});
  }

  // One gradient that is not finite is enough.
  void add_injection() {
    add_kernel(update_.inject_infinity, program::Fill{1, std::numeric_limits<double>::infinity()},
               {{}, {gradients_.front()}});
  }

  // torch/nn/utils/clip_grad.py. Every norm has the gradients' type.
  void add_clip() {
    const Index norm = add_workspace("total norm", 1, type_);
    program_.gauges.gradient_norm = norm;
    if (sharded_) {
      add_norm_of(update_.clip, add_norms_of_all(), norm);
    } else {
      add_foreach(update_.norm, foreach_norm());
      add_small(update_.norm, "stack", "aten::stack");
      add_norm_of(update_.norm, gradients_, norm);
    }
    Launches& list = update_.clip;
    add_small(list, "add", "aten::add");
    add_small(list, "div", "aten::div");
    add_small(list, "clamp", "aten::clamp");
    add_foreach(list, {"foreach_mul", "aten::_foreach_mul_", 1, 1, 2},
                program::ClipGradients{config_.number("clip_grad_norm")}, {{norm}, gradients_});
  }

  // Of the stacked norms.
  void add_norm_of(Launches& list, std::vector<Index> of, Index norm) {
    add_kernel(list, program::GradientNorm{}, {std::move(of), {norm}});
    Operation& operation = program_.operations[list.back()];
    operation.kernel = "norm";
    operation.framework = "aten::linalg_vector_norm";
    operation.bytes = static_cast<double>(std::ssize(sizes_) * program::size_of(type_));
    operation.blocks = 1;
  }

  // Of gradients on one mesh and on another by themselves: norms of both cannot be stacked.
  std::vector<Index> add_norms_of_all() {
    std::vector<Index> all;
    for (const bool is_cut : {false, true})
      if (std::ranges::find(cut_, is_cut) != cut_.end()) all.push_back(add_norms_of(is_cut));
    return all;
  }

  // Of each gradient, whose parts the ranks have: the root of the sum of their squares
  // (torch/distributed/tensor/_ops/_math_ops.py, _NormPartial), of one that is cut over both
  // dimensions of the mesh.
  Index add_norms_of(bool is_cut) {
    std::vector<Index> gradients;
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (cut_[i] != is_cut) continue;
      gradients.push_back(gradients_[i]);
      sizes.push_back(sizes_[i]);
    }
    const std::int64_t count = std::ssize(sizes);
    const auto add_numbers_each = [&](const char* name) {
      return add_workspace(name, count, type_);
    };
    const Index own = add_numbers_each("norms of this rank's parts");
    const Index squares = add_numbers_each("their squares");
    const Index sums = add_numbers_each("sums of all ranks' squares");
    const Index norms = add_numbers_each("norms");
    add_foreach(update_.norm, sizes, foreach_norm(), program::GradientNorms{}, {gradients, {own}});
    add_small(update_.norm, "stack", "aten::stack");
    add_kernel(update_.norm, program::Power{count, 2}, {{own}, {squares}});
    update_.norms_everywhere.push_back({squares, sums, false});
    Index everywhere = sums;
    if (is_cut) {
      everywhere = add_numbers_each("their sums over the tensor group");
      update_.norms_everywhere.push_back({sums, everywhere, false, true});
    }
    add_kernel(update_.clip, program::Power{count, 0.5}, {{everywhere}, {norms}});
    return norms;
  }

  // The operands of an update: gradients, the loss scale where the kernel takes it out itself;
  // parameters.
  Operands update_operands(bool scaled) const {
    Operands operands{whole_, parameters_};
    if (scaled) operands.reads.push_back(update_.scaler.scale);
    return operands;
  }
  bool takes_scale() const {
    return update_.has_scaler && update_.fused && config_.number("clip_grad_norm") == 0;
  }

  static void append(std::vector<Index>& to, const std::vector<Index>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  // torch/optim/sgd.py: _multi_tensor_sgd, _single_tensor_sgd, _fused_sgd.
  void add_sgd() {
    program::SgdUpdate sgd;
    sgd.lr = config_.number("optimizer.lr");
    sgd.momentum = config_.number("optimizer.momentum");
    sgd.weight_decay = config_.number("optimizer.weight_decay");
    sgd.scaled = takes_scale();
    sgd.fused = update_.fused;
    Operands operands = update_operands(sgd.scaled);
    const bool has_momentum = sgd.momentum != 0;
    if (has_momentum) append(operands.writes, add_state(": momentum"));
    if (update_.fused)
      return add_foreach(update_.step,
                         {"fused_sgd", "aten::_fused_sgd_", has_momentum ? 3 : 2,
                          has_momentum ? 4.0 : 2.0, has_momentum ? 5 : 3},
                         sgd, std::move(operands));
    const Foreach add_in_place{"foreach_add", "aten::_foreach_add_", 2, 2, 3};
    std::vector<Foreach> list;
    if (sgd.weight_decay != 0) list.push_back({"foreach_add", "aten::_foreach_add", 3, 2, 3});
    if (has_momentum) {
      list.push_back({"foreach_mul", "aten::_foreach_mul_", 1, 1, 2});
      list.push_back(add_in_place);
    }
    list.push_back(add_in_place);
    add_operators(list, sgd, std::move(operands));
    if (sgd.weight_decay != 0) add_temporaries(kWithDecay, 0, list.size() - 1);
  }

  bool for_loop() const { return config_.word("optimizer.impl") == "for_loop"; }

  Index add_copy(std::size_t i, const std::string& name) {
    const program::Buffer& like = program_.buffers[parameters_[i]];
    return add_numbers(program_, like.name + name, like.elements(), type_, memory_,
                       Role::kWorkspace);
  }

  // What each parameter's operators make from one of them to another: a list of all of them, which
  // stays to the end of the step, or of one parameter after another. Behind add_operators.
  void add_temporaries(const std::string& name, std::size_t from, std::size_t to) {
    const std::size_t each = update_.step.size() / parameters_.size();
    const std::size_t end = update_.step.size() - 1;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      update_.temporaries.push_back(
          for_loop() ? Temporary{add_copy(i, name), i * each + from, std::min(i * each + to, end)}
                     : Temporary{add_copy(i, name), 0, end});
  }

  // Of Adam's `denom = (exp_avg_sq.sqrt() / …).add_(eps)`, the root, and the quotient until that of
  // the next parameter takes its name.
  void add_denominators(std::size_t root) {
    add_temporaries(": sqrt(exp_avg_sq)", root, root + 1);
    if (!for_loop()) return;
    const std::size_t each = update_.step.size() / parameters_.size();
    add_temporaries(": denom", root + 1, each + root + 1);
  }

  // torch/optim/adam.py: _multi_tensor_adam, _single_tensor_adam, _fused_adam. The number of steps
  // is kept on the host by the former, on the device by the latter.
  void add_adam() {
    program::AdamUpdate adam;
    adam.lr = config_.number("optimizer.lr");
    adam.weight_decay = config_.number("optimizer.weight_decay");
    adam.decoupled = config_.word("optimizer.name") == "adamw";
    adam.scaled = takes_scale();
    adam.fused = update_.fused;
    Operands operands = update_operands(adam.scaled);
    append(operands.writes, add_state(": exp_avg"));
    append(operands.writes, add_state(": exp_avg_sq"));
    const Index steps = add_number("optimizer's steps", Role::kOptimizerState);
    update_.state.push_back(steps);
    operands.writes.push_back(steps);
    if (update_.fused)
      return add_foreach(update_.step, {"fused_adam", "aten::_fused_adam_", 4, 12, 7}, adam,
                         std::move(operands));
    const Foreach multiply{"foreach_mul", "aten::_foreach_mul_", 1, 1, 2};
    std::vector<Foreach> list;
    if (adam.weight_decay != 0) {
      const Foreach add_decay{"foreach_add", "aten::_foreach_add", 3, 2, 3};
      list.push_back(adam.decoupled ? multiply : add_decay);
    }
    list.push_back({"foreach_lerp", "aten::_foreach_lerp_", 2, 2, 3});
    list.push_back(multiply);
    list.push_back({"foreach_addcmul", "aten::_foreach_addcmul_", 3, 3, 4});
    const std::size_t root = list.size();
    list.push_back({"foreach_sqrt", "aten::_foreach_sqrt", 2, 1, 2});
    list.push_back({"foreach_div", "aten::_foreach_div_", 1, 1, 2});
    list.push_back({"foreach_add", "aten::_foreach_add_", 1, 1, 2});
    list.push_back({"foreach_addcdiv", "aten::_foreach_addcdiv_", 3, 3, 4});
    add_operators(list, adam, std::move(operands));
    if (adam.weight_decay != 0 && !adam.decoupled) add_temporaries(kWithDecay, 0, list.size() - 1);
    add_denominators(root);
  }

  program::Program& program_;
  const program::Config& config_;
  bool sharded_;
  program::MemoryKind memory_;
  ElementType type_;  // of parameters, gradients and state
  std::vector<Index> parameters_;
  std::vector<Index> gradients_;
  std::vector<Index> whole_;  // the same, summed where each rank has a part of the sum
  std::vector<std::int64_t> sizes_;
  std::vector<bool> cut_;  // between a tensor group's ranks, and FSDP's behind them
  Update update_;
};

}  // namespace

std::vector<Index> Update::sums_of(std::vector<Index> gradients) const {
  for (const RankSum& one : gradients_everywhere) std::ranges::replace(gradients, one.own, one.sum);
  return gradients;
}

Update add_update(program::Program& program, const program::Config& config,
                  const ModelBuffers& model, bool sharded) {
  return UpdateBuilder(program, config, model, sharded).build();
}

}  // namespace trainscope::train
