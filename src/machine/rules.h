// What must hold between two numbers of a machine file.
//
// Each function looks at a machine that has been read from the file `root` on top of `before`,
// which is empty for a file without a base. Numbers that the file itself wrote and that contradict
// each other are refused with InputError: file, line, column and what to write. A number that the
// file inherits and whose counterpart it changes is carried over by its share, and its figure says
// so.
#pragma once

#include <toml++/toml.h>
#include <string>

#include "machine/machine.h"

namespace trainscope::machine {

// pcie.both lies between the faster direction alone and the sum of the two.
void settle_pcie(const toml::table& root, const std::string& file, const Machine& before,
                 Machine& machine);

// host.interpreter_call is a part of host.eager_operator; host.page_lock, where no file says it, is
// what one host was measured to reach.
void settle_host(const toml::table& root, const std::string& file, const Machine& before,
                 Machine& machine);

// gpu_link.ring and gpu_link.nvls, where no file says them, are the share of gpu_link.bandwidth
// that measured machines of that kind reach.
void settle_gpu_link(const toml::table& root, const Machine& before, Machine& machine);

}  // namespace trainscope::machine
