#include "base/memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace trainscope {

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  mallopt(M_TOP_PAD, 16 << 20);
#endif
}

}  // namespace trainscope
