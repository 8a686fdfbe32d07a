#include "cuda/plugin_loader.h"

#include "base/error.h"
#include "base/program_folder.h"

namespace trainscope::cuda {

bool can_have_plugin() {
  return false;
}

std::filesystem::path plugin_folder() {
  return program_folder();
}

OpenDevice open_device(const std::filesystem::path&, int) {
  throw MissingError("Trainscope runs on GPUs under Linux only");
}

}  // namespace trainscope::cuda
