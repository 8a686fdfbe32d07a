#include "train/build.h"

#include "base/error.h"
#include "base/units.h"

namespace trainscope::train {
namespace {

void refuse_what_does_not_fit(const program::Program& program, const machine::Machine& machine) {
  double on_device = 0;
  for (const program::Buffer& buffer : program.buffers)
    if (buffer.kind == program::MemoryKind::kDevice) on_device += static_cast<double>(buffer.bytes);
  if (on_device > static_cast<double>(machine.gpu.memory_bytes))
    throw InputError("the program needs " + format_bytes(on_device) + " of device memory, and " +
                     machine.gpu.name + " has " +
                     format_bytes(static_cast<double>(machine.gpu.memory_bytes)) +
                     "; make it smaller or choose another machine");
}

}  // namespace

program::Program build_program(const program::Config& config, const machine::Machine& machine) {
  program::Program program =
      config.word("workload") == "copy" ? build_copy(config) : build_train(config);
  refuse_what_does_not_fit(program, machine);
  program::validate(program);
  return program;
}

}  // namespace trainscope::train
