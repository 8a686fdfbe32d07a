#include "machine/power.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace trainscope::machine {
namespace {

// Fitted to a ViT-Base trained in TF32 on an RTX 3090, whose limit was set from 230 to 480 W: 80 %
// of its best at 230 W, 90 % at 280 W, 95 % at 320 W (blog.qwertyforce.dev, "Optimal power limit
// for deep learning tasks on RTX 3090"). The share says 80, 89 and 96 %.
constexpr double kAtAnyClock = 0.3;
// H100 and H200 take 200 of 700 W at least (arXiv:2604.11391). An RTX 3090 takes less, but below
// 150 of its 350 W its speed collapses to a fifth (jankyai.droidgram.com, "Power limiting RTX 3090
// GPU"), which no cube says.
constexpr double kLeastOfTdp = 0.4;

}  // namespace

double clock_under(const Gpu& gpu, double watts) {
  if (gpu.tdp_watts <= 0)
    throw InputError(
        fmt::format("power_limit cannot be set: the power of {} is not known; choose another "
                    "machine, or write tdp = {{ value = 100, unit = \"W\" }} into its GPU's file",
                    gpu.name));
  const double least = kLeastOfTdp * gpu.tdp_watts;
  if (watts > gpu.tdp_watts)
    throw InputError(fmt::format("power_limit = {:g} cannot be: {} draws {:g} W at most", watts,
                                 gpu.name, gpu.tdp_watts));
  if (watts < least)
    throw InputError(
        fmt::format("power_limit = {:g} is not simulated: how fast {} is below {:.0f} W is not "
                    "known, whatever nvidia-smi lets you set; write {:.0f} to {:g}",
                    watts, gpu.name, std::ceil(least), std::ceil(least), gpu.tdp_watts));
  const double rest = kAtAnyClock * gpu.tdp_watts;
  return std::cbrt((watts - rest) / (gpu.tdp_watts - rest));
}

void limit_power(Machine& machine, double watts) {
  Gpu& gpu = machine.gpu;
  const double share = clock_under(gpu, watts);
  if (share == 1) return;
  gpu.clock_share *= share;
  gpu.boost_clock_hz *= share;
  gpu.fp32_flops_per_s *= share;
  gpu.tf32_flops_per_s *= share;
  gpu.fp16_flops_per_s *= share;
  gpu.l2_bytes_per_s *= share;
  machine.name += fmt::format(", limited to {:g} W", watts);
}

}  // namespace trainscope::machine
