/*
 * dtype: what a tensor's elements are.
 *
 *     log_info("%s: %d bytes", dtype_name(DTYPE_BF16), dtype_bytes(DTYPE_BF16));
 */
#ifndef EVOTILE_TEMPLATE_DTYPE_H
#define EVOTILE_TEMPLATE_DTYPE_H

/* DTYPE_E4M3 and DTYPE_E5M2 are bytes with so many bits of exponent and fraction; a DTYPE_BOOL is a
   byte that is 0 or 1. */
enum dtype {
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_F32,
    DTYPE_F64,
    DTYPE_U32,
    DTYPE_I32,
    DTYPE_I8,
    DTYPE_U8,
    DTYPE_I16,
    DTYPE_I64,
    DTYPE_E4M3,
    DTYPE_E5M2,
    DTYPE_BOOL,
    DTYPE_COUNT
};

/* The short name of a dtype (f16), and its size in bytes. */
const char *dtype_name(enum dtype dtype);
int dtype_bytes(enum dtype dtype);
/* Relative half unit in the last place: 2^-11 for f16; 0 for integers. And the smallest normal and
   the largest number. */
double dtype_rounding(enum dtype dtype);
double dtype_smallest_normal(enum dtype dtype);
double dtype_largest(enum dtype dtype);

#endif
