/*
 * lanes: what an instruction does to the 32 lanes of a warp, without control, memory or masks. A
 * register of width w is an array of 32 values of w bytes (2, 4 or 8); a predicate (width 0) is one
 * word, a bit a lane. Values narrower than 16 bits live in 16-bit lanes.
 *
 * A lanes_function computes every lane, whether it is wanted or not, so that its loop vectorises;
 * the caller merges. `out` may be one of the inputs.
 *
 *     struct lanes lanes = lanes_best();
 *     struct lanes_row row;
 *     if (lanes.find(&row, "mul.wide", TYPE_S32))
 *         row.function(out, in);
 *
 * The .inc files are compiled twice, for any machine and for x86-64 with AVX2 and FMA; lanes_best
 * chooses. Rounding modes and flush-to-zero are not in here: the caller sets the machine's
 * (execute.c).
 */
#ifndef EVOTILE_DEVICE_PTX_LANES_H
#define EVOTILE_DEVICE_PTX_LANES_H

#include "device/ptx/ast.h"

enum { LANES = 32, LANE_INPUTS_MAX = 4 };
enum {
    PRODUCT_COLUMNS = 256, /* of a wgmma, at most */
    PRODUCT_DEPTH = 32,    /* products that an element of it is the sum of, at most */
    KEPT_MAX = 64,         /* of a row of a sparse matrix */
};

/* Rounding of the machine's floating point unit, and flush-to-zero. */
enum float_mode {
    FLOAT_NEAREST,
    FLOAT_ZERO,
    FLOAT_DOWN,
    FLOAT_UP,
    FLOAT_ROUNDING = 3, /* mask */
    FLOAT_FLUSH = 4,
    FLOAT_ANY = 0xff, /* the instruction does not care */
};

typedef void (*lanes_function)(void *out, const void *const *in);

struct lanes_row {
    const char *name; /* the opcode with the modifiers that choose the operation: mul.wide */
    uint32_t types;   /* a bit for each enum type that it serves */
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

/* cvt. The packed formats (f16x2, bf16x2) take two fp32 sources, the upper half's first. */
struct conversion {
    enum type from, to;
    enum rounding_to_integer to_integer;
    bool saturate; /* .sat: floats to [0, 1], integers to the target's range */
    bool relu;     /* negative to 0 */
    bool finite;   /* .satfinite of results in 16 bits or tf32: no infinity */
    bool away;     /* ties away from zero: of results in tf32 */
    enum float_mode
        rounding; /* of results in 16 bits or tf32; others round as the machine is set */
};

/* The shape of an mma; matrix.inc says which lane holds what and how it is added up. */
enum matrix_format { MATRIX_F16, MATRIX_BF16, MATRIX_TF32, MATRIX_E4M3, MATRIX_E5M2 };
static inline enum matrix_format matrix_format_of(enum type type) {
    return type == TYPE_BF16   ? MATRIX_BF16
           : type == TYPE_TF32 ? MATRIX_TF32
           : type == TYPE_E4M3 ? MATRIX_E4M3
           : type == TYPE_E5M2 ? MATRIX_E5M2
                               : MATRIX_F16;
}

struct matrix_shape {
    int k;                          /* m is 16, n is 8; of wgmma and wmma they are given apart */
    int b_registers;                /* of mma */
    enum matrix_format left, right; /* of a and b: formats of fp8 may differ */
    bool half_accumulators;         /* c and d are f16 (pairs) */
};
/* d = a * b + c; the arrays hold the registers in PTX's order. */
typedef void (*matrix_function)(const struct matrix_shape *shape, void *const *d,
                                const void *const *a, const void *const *b, const void *const *c);

struct lanes {
    /* The row of a name and type; false if there is none. */
    bool (*find)(struct lanes_row *row, struct slice name, enum type type);
    /* The rows one after the other, and what compares; false, or NULL, beyond the last. */
    bool (*row_at)(struct lanes_row *row, int index);
    lanes_function (*compare_at)(int index, const char **name, uint32_t *types);
    /* The comparison (eq, ltu, nan ...) of a type: out is a predicate; of packed types two, the
       lower half's first. NULL if there is none. */
    lanes_function (*compare)(struct slice name, enum type type);
    /* Any conversion; and a faster function for a frequent one, or NULL. */
    void (*convert)(const struct conversion *conversion, void *out, const void *const *in);
    lanes_function (*convert_frequent)(const struct conversion *conversion);
    matrix_function matrix;
    /* Numbers of a format of 8 or 16 bits as fp32. */
    void (*widen)(float *out, const void *in, int count, enum matrix_format format);
    /* sum += left * right, 16 rows of n columns; of left and right the first k. Sums for
       half_accumulators are still to be rounded, by float_to_half. */
    void (*rows)(const struct matrix_shape *shape, int n, float (*sum)[PRODUCT_COLUMNS],
                 const float (*left)[PRODUCT_DEPTH], const float (*right)[PRODUCT_COLUMNS]);
    /* The same where `left` is what was kept of 2k columns, and `kept` says of each row which. */
    void (*sparse_rows)(const struct matrix_shape *shape, int n, float (*sum)[PRODUCT_COLUMNS],
                        const float (*left)[PRODUCT_DEPTH], const float (*right)[PRODUCT_COLUMNS],
                        const uint8_t (*kept)[KEPT_MAX]);
};

struct lanes lanes_best(void);
struct lanes lanes_plain(void);
struct lanes lanes_avx2(void);

#endif
