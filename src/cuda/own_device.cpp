#include "cuda/own_device.h"

#include <string>

#include "base/error.h"

namespace trainscope::cuda {

OpenDevice open_own_device(std::string_view instead) try {
  return open_device(plugin_folder());
} catch (const MissingError& error) {
  throw MissingError(error.what() + ("; " + std::string(instead)));
}

}  // namespace trainscope::cuda
