#include "cuda/plugin_loader.h"

#include <array>

#include "base/platform.h"
#include "base/program_folder.h"
#include "cuda/plugin_interface.h"

namespace trainscope::cuda {
namespace {

template <typename Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(platform::function_in(library, name));
}

bool is_of_installed(const std::filesystem::path& folder) {
  return is_installed() && folder == plugin_folder();
}

// How to come by one that fits.
std::string remedy(const std::filesystem::path& folder) {
  if (is_of_installed(folder)) return "`./run package` packs it where the CUDA toolkit is";
  return "where the CUDA toolkit is installed, `ninja -C " + folder.string() +
         " trainscope_cuda` builds it";
}

std::string absence(const std::filesystem::path& folder) {
  return is_of_installed(folder) ? ", is not installed: " : ", was not built: ";
}

}  // namespace

bool can_have_plugin() {
  return true;
}

std::filesystem::path plugin_folder() {
  const std::filesystem::path folder = program_folder();
  std::error_code ignored;
  const bool beside = !is_installed() || std::filesystem::exists(folder / kPluginFile, ignored);
  return beside ? folder : folder.parent_path() / "lib" / "trainscope";
}

OpenDevice open_device(const std::filesystem::path& folder, int number) {
  const std::filesystem::path file = folder / kPluginFile;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    throw MissingError("the plug-in for GPUs, " + file.string() + absence(folder) + remedy(folder));
  std::string why_not;
  void* library = platform::load_library(file, why_not);
  if (!library) throw MissingError("the plug-in for GPUs does not load: " + why_not);
  const auto version = find<decltype(trainscope_cuda_version)>(library, "trainscope_cuda_version");
  const auto open = find<decltype(trainscope_cuda_open)>(library, "trainscope_cuda_open");
  const auto close = find<decltype(trainscope_cuda_close)>(library, "trainscope_cuda_close");
  if (!version || !open || !close || version() != kPluginVersion)
    throw MissingError("the plug-in for GPUs, " + file.string() +
                       ", is of another version of Trainscope: " + remedy(folder));
  std::array<char, 1000> why{};
  DeviceCalls* device = open(number, why.data(), why.size());
  if (!device) throw MissingError(why.data());
  return {device, close};
}

}  // namespace trainscope::cuda
