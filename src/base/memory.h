// What the program asks of the system's memory, beyond allocating it.
#pragma once

#include <cstddef>

namespace trainscope {

// For memory of many megabytes, just allocated and not yet written: all of it will be filled. The
// system may then give it in large pages: one fault where there would be five hundred.
void expect_to_fill(void* memory, std::size_t bytes);

// Keeps up to half a gigabyte of freed memory for the next run instead of giving it back to the
// system at once: a run after each move of a slider would pay for every page again. For main(),
// before threads start; does nothing where the C library is not glibc.
void keep_freed_memory();

}  // namespace trainscope
