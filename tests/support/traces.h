// Where the recorded traces of real runs lie. They are large and not part of the repository.
#pragma once

#include <filesystem>
#include <vector>

namespace trainscope::test {

// The folder named by TRAINSCOPE_TRACES, or shared/traces beside the source tree.
std::filesystem::path real_traces_folder();

// Those of them that are packed, by name.
std::vector<std::filesystem::path> real_traces();

// Whether that folder exists; a test that needs it skips itself otherwise (support/skip.h).
bool real_traces_present();

}  // namespace trainscope::test
