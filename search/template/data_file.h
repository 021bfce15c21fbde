/*
 * data_file: finds a tensor in a file: .npy, .safetensors, or, with any other name, raw bytes. It
 * reads headers only, which are bounded; files may come from elsewhere.
 *
 *     struct data_file file;
 *     if (data_file_open("templates/pick/weights.npy", NULL, &file, &error) == 0)
 *         log_info("%s, %lld bytes", dtype_name(file.dtype), (long long)file.bytes);
 */
#ifndef EVOTILE_TEMPLATE_DATA_FILE_H
#define EVOTILE_TEMPLATE_DATA_FILE_H

#include "base/error.h"
#include "template/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANK_MAX = 6, DATA_HEADER_MAX = 16 << 20 };
#define DATA_FILE_MAX (INT64_C(1) << 28) /* bytes of a file */

/* A tensor in a file: data_file.h reads its header. */
struct data_file {
    int64_t offset, bytes; /* where the elements are */
    bool raw;              /* without a header: dtype, rank and extents are not known */
    enum dtype dtype;
    int rank;
    int64_t extents[RANK_MAX];
};

/* `tensor` names one of a .safetensors file; NULL for other files, which hold one. An error is one
   line that names the file. */
int data_file_open(const char *path, const char *tensor, struct data_file *file,
                   struct error *error);
/* Reads the elements. The caller frees them. */
void *data_file_read(const char *path, const struct data_file *file, struct error *error);

/* The parser of a .safetensors file of `file_bytes`, of whose first `size` bytes `bytes` is a copy.
   An error does not name the file. */
int safetensors_parse(const uint8_t *bytes, size_t size, int64_t file_bytes, const char *tensor,
                      struct data_file *file, struct error *error);

#endif
