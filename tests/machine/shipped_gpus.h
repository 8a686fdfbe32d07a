// Every GPU of assets/gpus, those that no machine uses included.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "machine/machine.h"

namespace trainscope::test {

inline std::vector<machine::Gpu> shipped_gpus() {
  const TemporaryFolder folder;
  std::vector<machine::Gpu> gpus;
  for (const auto& entry : std::filesystem::directory_iterator(home_folder() / "assets" / "gpus")) {
    const std::string id = entry.path().stem().string();
    const auto file =
        folder.write("with-" + id + ".toml", "base = \"h200-1\"\ngpu = \"" + id + "\"\n");
    gpus.push_back(machine::load_machine(file.string()).gpu);
  }
  REQUIRE(!gpus.empty());
  return gpus;
}

}  // namespace trainscope::test
