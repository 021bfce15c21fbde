/* Lane functions for any machine. */
#if !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#define LANES_VARIANT lanes_plain
#include "device/ptx/lanes_all.inc"
