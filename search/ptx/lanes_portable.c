/* Portable lane functions. */
#if !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#define LANES_VARIANT      lanes_portable
#define LANES_VECTOR_BYTES 16
#include "ptx/lanes_all.inc"
