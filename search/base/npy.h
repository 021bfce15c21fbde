/*
 * npy: NumPy's file of one array: a line of text that says what the array is, then its bytes.
 *
 *     struct npy array;
 *     size_t size;
 *     char *bytes = path_read_file("x.npy", limit, &size, error);
 *     if (bytes == NULL || npy_parse(&array, "x.npy", bytes, size, error) < 0)
 *         return -1;
 *     const float *numbers = array.data; // if array.kind is 'f' and array.size 4
 *
 * Read are versions 1 to 3, little-endian, in rows (C order), without Python objects or structures.
 * Every header is untrusted: its array fits into the file, and so does each product of extents.
 */
#ifndef EVOTILE_BASE_NPY_H
#define EVOTILE_BASE_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { NPY_RANK_MAX = 8, NPY_SHAPE_SIZE = 176, NPY_HEADER_MAX = 512 };

struct npy {
    char kind; /* 'f' float, 'i' signed, 'u' unsigned, 'b' bool, 'V' other bytes: a dtype that NumPy
                  has not itself, such as bfloat16, is written so */
    int size;  /* bytes of an element: 1, 2, 4 or 8 */
    int rank;  /* 0: one number */
    int64_t extents[NPY_RANK_MAX];
    int64_t elements;
    const void *data; /* size * elements bytes inside the file's; may not be aligned */
};

/* Reads a whole file; `array` points into `bytes`. An error begins with the name and says how to
   write a file that can be read. */
int npy_parse(struct npy *array, const char *name, const void *bytes, size_t size,
              struct error *error);

/* Writes the header of an array of that kind, size, rank and extents; returns its size, a multiple
   of 64. The elements follow it in the file. */
size_t npy_header(const struct npy *array, char header[NPY_HEADER_MAX]);
/* Writes a file: the header, and `data`. */
int npy_write_file(const char *path, const struct npy *array, struct error *error);

/* Prints the dtype and the shape: "<f4 (2, 3)". */
void npy_print(const struct npy *array, char text[NPY_SHAPE_SIZE]);

#endif
