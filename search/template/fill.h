/*
 * fill: how inputs are filled, as a template declares it and as it is for a case.
 *
 *     struct tensor_fill fill = {FILL_INTEGERS, 0, 31};
 *     char text[FILL_TEXT_SIZE];
 *     puts(template_fill_text(&fill, DTYPE_I32, text)); // integers 0 to 31
 */
#ifndef EVOTILE_TEMPLATE_FILL_H
#define EVOTILE_TEMPLATE_FILL_H

#include "base/path.h"
#include "space/space.h"
#include "template/data_file.h"

struct template;

/* How an input tensor is filled, implemented by the comparator's kernels (evaluate/compare.cu). A
   template declares the first or one of those from FILL_UNIFORM on, which are functions of
   template/fills.h.in; stress recipes replace the first. A row is one of the last dimension. */
enum fill {
    FILL_NORMAL,   /* value * N(0, 1), limited to FILL_NORMAL_MAX times value */
    FILL_CONSTANT, /* value */
    FILL_SPIKES,   /* N(0, 1), but `value` in one column of one row in 64; the column is the same in
                      all tensors */
    FILL_EXTREMES, /* N(0, 1), but one element in 256 is `value` times the dtype's largest number,
                      at least one of either sign; all in a column have the same sign, because no
                      correct summation survives two that cancel */
    FILL_NAN,      /* value * N(0, 1), but one element is NaN */
    FILL_COLUMN,   /* N(0, 1), but `value` in one column, which is the same in all tensors */
    FILL_FIRST, /* N(0, 1), but in that column `value` in the first row and 0 in the others: of the
                   products of rows with those of a FILL_COLUMN tensor, one leads by the product
                   of both values */
    FILL_LAST,  /* the same with the last row */
    FILL_STRESSES,
    FILL_UNIFORM = FILL_STRESSES, /* real numbers from value to most */
    FILL_INTEGERS,                /* whole numbers from value to most */
    FILL_ARANGE,                  /* value, then `most` more in each place */
    FILL_SORTED,                  /* as uniform; each row ascends */
    FILL_SORTED_INTEGERS,         /* as integers; each row ascends */
    FILL_PERMUTATION,   /* each row has 0 to its length - 1, each once, in a random order */
    FILL_PROBABILITIES, /* each row is of positive numbers whose sum is 1 */
    FILL_SPARSE,        /* a share of `value` of the elements as FILL_NORMAL, the others 0 */
    FILL_FILE,          /* the bytes of a file */
    FILL_SETUP,         /* zeros, then the launches of "setup" write it */
    FILL_COUNT
};
#define FILL_NORMAL_MAX 6.8

struct tensor_fill {
    enum fill fill;
    double value, most;
};

/* A fill as template.json declares it: its numbers may be expressions. */
struct declared_fill {
    enum fill fill;
    double numbers[2];
    struct expression *expressions[2]; /* instead of the numbers, if not NULL */
    char file[NAME_SIZE];              /* of FILL_FILE, in the template's folder */
    struct data_file data;
};

/* A number that differs from one set of inputs to the next: an argument of the candidate, the
   reference, the plain kernel and setup, by value. */
struct scalar {
    char name[NAME_SIZE], about[ABOUT_SIZE];
    enum dtype dtype; /* i32, i64, f32, f64 */
    struct declared_fill fill;
};

/* The path of the file that fills a tensor. */
int template_fill_path(const struct template *template, int tensor, char path[PATH_SIZE],
                       struct error *error);
/* A fill as a reader knows it: "integers 0 to 31". */
enum { FILL_TEXT_SIZE = 128 };
const char *template_fill_text(const struct tensor_fill *fill, enum dtype dtype,
                               char text[FILL_TEXT_SIZE]);

/* The largest absolute value that a fill writes into a tensor of that dtype. */
double template_fill_maximum(const struct tensor_fill *fill, enum dtype dtype);

#endif
