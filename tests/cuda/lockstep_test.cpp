// Every operation of every model on the emulated device: what tests/device does on a real one.

#include "cuda/lockstep.h"

#include <catch2/catch.hpp>

#include "cuda/emulated_device.h"
#include "cuda/lockstep_models.h"
#include "support/skip.h"

using namespace trainscope;

TEST_CASE("operation by operation the kernels give the host's numbers") {
#ifdef __SANITIZE_ADDRESS__
  TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
#endif
  test::EmulatedDevice device;
  for (const test::Settings& settings : test::lockstep_models(test::LockstepSize::kSmall))
    test::check_in_lockstep(device, settings);
}

namespace {

// Its products are a thousandth too large.
class WrongDevice : public test::EmulatedDevice {
 public:
  void launch(const cuda::KernelCall& kernel, cuda::StreamHandle stream) override {
    const auto* linear = std::get_if<program::Linear>(&kernel.operation->function);
    if (!linear || linear->part != program::Part::kForward)
      return EmulatedDevice::launch(kernel, stream);
    EmulatedDevice::launch(kernel, stream);
    program::Operation larger = *kernel.operation;
    larger.function = program::Multiply{kernel.writes[0].elements, 1.001};
    cuda::KernelCall again = kernel;
    again.operation = &larger;
    again.reads = again.writes = kernel.writes;
    EmulatedDevice::launch(again, stream);
    synchronise_stream(stream);
  }
};

}  // namespace

TEST_CASE("an operation that gives other numbers is found, and no other") {
  WrongDevice device;
  program::Config config;
  for (const char* setting : {"workload=train", "model.name=mlp", "data.name=digits", "steps=1",
                              "batch_size=4", "model.hidden=8", "loop.evaluate=false"})
    config.set_text(setting);
  const program::Program program = train::build_program(config, train::machine_of(config));
  test::Lockstep lockstep(program, device);
  test::Stepper(program, lockstep).step();
  int wrong = 0;
  for (const auto& [name, difference] : lockstep.differences()) {
    INFO(name);
    if (difference.share() <= 1) continue;
    ++wrong;
    CHECK(name.starts_with("aten::addmm"));
    CHECK(difference.ulps == Approx(0.001 / 0x1p-23).epsilon(0.5));
  }
  CHECK(wrong > 0);
}
