// The memory that the program has been given and no longer uses.
#pragma once

namespace trainscope {

// Keeps up to half a gigabyte of freed memory for the next run instead of giving it back to the
// system at once: a run after each move of a slider would pay for every page again. For main(),
// before threads start; does nothing where the C library is not glibc.
void keep_freed_memory();

}  // namespace trainscope
