/*
 * lanes: the data path of instructions for the 32 lanes of a warp, without control flow, memory or
 * masks. A register of width w is an array of 32 values of w bytes (2, 4 or 8); a predicate (width
 * 0) is one word with one bit per lane. Values narrower than 16 bits are held in 16-bit lanes.
 *
 * A lanes_function computes all lanes, active or not, so that its loop vectorises; the caller
 * merges. `out` may alias an input.
 *
 *     struct lanes lanes = lanes_select();
 *     struct lanes_row row;
 *     if (lanes.find(&row, (struct slice){"mul.wide", 8}, TYPE_S32))
 *         row.function(out, in);
 *
 * The .inc files are compiled twice: portably, and for x86-64 with AVX2 and FMA; lanes_select
 * selects at run time. The caller sets the host's rounding mode and flush-to-zero (execute.c).
 */
#ifndef EVOTILE_PTX_LANES_H
#define EVOTILE_PTX_LANES_H

#include "ptx/ast.h"

enum { LANES = 32, LANE_INPUTS_MAX = 4 };
enum {
    MMA_COLUMNS_MAX = 256,   /* maximum n of a wgmma */
    MMA_DEPTH_MAX = 32,      /* maximum k of one wgmma step */
    SPARSE_COLUMNS_MAX = 64, /* maximum kept elements per row of a sparse matrix */
};

/* Rounding mode of the host FPU, and flush-to-zero. */
enum float_mode {
    FLOAT_NEAREST,
    FLOAT_ZERO,
    FLOAT_DOWN,
    FLOAT_UP,
    FLOAT_ROUNDING = 3, /* mask */
    FLOAT_FLUSH = 4,
    FLOAT_ANY = 0xff, /* the instruction does not depend on the mode */
};

typedef void (*lanes_function)(void *out, const void *const *in);

struct lanes_row {
    const char *name; /* opcode with the modifiers that select the operation: mul.wide */
    uint32_t types;   /* bit mask of supported enum types */
    lanes_function function;
    int input_count;
    int out_width;
    int in_width[LANE_INPUTS_MAX];
};

enum rounding_to_integer {
    TO_INTEGER_NONE,
    TO_INTEGER_NEAREST,
    TO_INTEGER_ZERO,
    TO_INTEGER_DOWN,
    TO_INTEGER_UP
};

/* cvt. The packed formats (f16x2, bf16x2) take two fp32 sources, the upper half first. */
struct conversion {
    enum type from, to;
    enum rounding_to_integer to_integer;
    bool saturate;            /* .sat: floats to [0, 1], integers to the target's range */
    bool relu;                /* .relu: negative values become 0 */
    bool finite;              /* .satfinite for 16-bit or tf32 results: no infinity */
    bool away;                /* tf32 results: round half away from zero */
    enum float_mode rounding; /* of 16-bit or tf32 results; others use the host's rounding mode */
};

/* The shape of an mma; mma.inc documents the register layout and the summation. */
enum matrix_format { MATRIX_F16, MATRIX_BF16, MATRIX_TF32, MATRIX_E4M3, MATRIX_E5M2 };
static inline enum matrix_format matrix_format_of(enum type type) {
    return type == TYPE_BF16   ? MATRIX_BF16
           : type == TYPE_TF32 ? MATRIX_TF32
           : type == TYPE_E4M3 ? MATRIX_E4M3
           : type == TYPE_E5M2 ? MATRIX_E5M2
                               : MATRIX_F16;
}

struct matrix_shape {
    int k;                          /* m is 16, n is 8; wgmma and wmma pass theirs separately */
    int b_registers;                /* of mma */
    enum matrix_format left, right; /* of a and b: fp8 formats may differ */
    bool half_accumulators;         /* c and d are f16 (packed pairs) */
};
/* d = a * b + c; the arrays hold registers in PTX order. */
typedef void (*matrix_function)(const struct matrix_shape *shape, void *const *d,
                                const void *const *a, const void *const *b, const void *const *c);

struct lanes {
    /* Finds the row of a name and type; false if there is none. */
    bool (*find)(struct lanes_row *row, struct slice name, enum type type);
    /* Enumerates the rows, and the comparisons; false, or NULL, past the last. */
    bool (*row_at)(struct lanes_row *row, int index);
    lanes_function (*compare_at)(int index, const char **name, uint32_t *types);
    /* The comparison (eq, ltu, nan ...) of a type: out is a predicate; for packed types two, lower
       half first. NULL if there is none. */
    lanes_function (*compare)(struct slice name, enum type type);
    /* Any conversion; and a specialised function for a frequent one, or NULL. */
    void (*convert)(const struct conversion *conversion, void *out, const void *const *in);
    lanes_function (*convert_frequent)(const struct conversion *conversion);
    matrix_function matrix;
    /* Converts elements of an 8-bit or 16-bit format to fp32. */
    void (*widen)(float *out, const void *in, int count, enum matrix_format format);
    /* sum += left * right, 16 rows of n columns; the first k of left and right. With
       half_accumulators the caller rounds the sums with float_to_half. */
    void (*rows)(const struct matrix_shape *shape, int n, float (*sum)[MMA_COLUMNS_MAX],
                 const float (*left)[MMA_DEPTH_MAX], const float (*right)[MMA_COLUMNS_MAX]);
    /* As rows, for a sparse `left` that holds k of 2k columns; `sparse_columns` holds the column
       indices of each row. */
    void (*sparse_rows)(const struct matrix_shape *shape, int n, float (*sum)[MMA_COLUMNS_MAX],
                        const float (*left)[MMA_DEPTH_MAX], const float (*right)[MMA_COLUMNS_MAX],
                        const uint8_t (*sparse_columns)[SPARSE_COLUMNS_MAX]);
};

struct lanes lanes_select(void);
struct lanes lanes_portable(void);
struct lanes lanes_avx2(void);

#endif
