#include "base/program_folder.h"

#include <system_error>

namespace trainscope {

std::filesystem::path program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

bool is_installed() {
  return program_folder().filename() == "bin";
}

}  // namespace trainscope
