#include "base/program_folder.h"

#include "base/platform.h"

namespace trainscope {

std::filesystem::path program_folder() {
  return platform::program_file().parent_path();
}

bool is_installed() {
  return program_folder().filename() == "bin";
}

}  // namespace trainscope
