#include "ptx/lanes.h"

struct lanes lanes_select(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return lanes_avx2();
#endif
    return lanes_portable();
}
