// Where the program stands that runs.
#pragma once

#include <filesystem>

namespace trainscope {

// The folder of the program that runs: a build folder, or bin/ of an installed one. Empty where the
// system does not tell.
std::filesystem::path program_folder();

// Whether the program is an installed one, which stands in a folder bin: what it needs is then in
// share/trainscope and lib/trainscope beside that (package/install.cmake puts it there).
bool is_installed();

}  // namespace trainscope
