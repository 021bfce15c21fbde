#include "template/data_file.h"

#include "base/memory.h"
#include "base/npy.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Checks that the elements lie in the file, whose dtype and shape are known. */
static int check_extent(struct data_file *file, int64_t file_bytes, struct error *error) {
    int64_t bytes = dtype_bytes(file->dtype);
    for (int i = 0; i < file->rank; i++)
        if (file->extents[i] < 1 || __builtin_mul_overflow(bytes, file->extents[i], &bytes))
            return error_input(error, "its shape has an extent below 1, or is too large");
    if (file->offset < 0 || bytes > file_bytes - file->offset)
        return error_input(error,
                           "its header says %lld bytes of elements from byte %lld, but the "
                           "file ends at %lld",
                           (long long)bytes, (long long)file->offset, (long long)file_bytes);
    file->bytes = bytes;
    return 0;
}

/* ---- .npy ---- */

static bool find_npy_dtype(const struct npy *array, enum dtype *dtype) {
    static const struct {
        char kind;
        int size;
        enum dtype dtype;
    } dtypes[] = {{'f', 2, DTYPE_F16}, {'f', 4, DTYPE_F32}, {'f', 8, DTYPE_F64},
                  {'i', 8, DTYPE_I64}, {'i', 4, DTYPE_I32}, {'u', 4, DTYPE_U32},
                  {'i', 2, DTYPE_I16}, {'i', 1, DTYPE_I8},  {'u', 1, DTYPE_U8},
                  {'b', 1, DTYPE_BOOL}};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].kind == array->kind && dtypes[i].size == array->size) {
            *dtype = dtypes[i].dtype;
            return true;
        }
    return false;
}

/* npy_parse reads the header alone, which is short, so that the elements need not be there. */
static int open_npy(const char *path, const uint8_t *bytes, int64_t file_bytes,
                    struct data_file *file, struct error *error) {
    struct npy array;
    char text[NPY_SHAPE_SIZE];
    *file = (struct data_file){0};
    if (npy_parse(&array, path, bytes, (size_t)file_bytes, error) < 0)
        return -1;
    npy_print(&array, text);
    if (array.rank > RANK_MAX || !find_npy_dtype(&array, &file->dtype))
        return error_input(error,
                           "%s: its elements are %s: save f2, f4, f8, i1, i2, i4, i8, u1, u4 or "
                           "bool of at most %d extents, others as .safetensors or raw bytes",
                           path, text, RANK_MAX);
    file->rank = array.rank;
    memcpy(file->extents, array.extents, sizeof file->extents);
    file->offset = (const uint8_t *)array.data - bytes;
    return check_extent(file, file_bytes, error) < 0 ? error_prefix(error, "%s", path) : 0;
}

/* ---- .safetensors: eight bytes with the length of a header in JSON, then the elements ---- */

static bool find_safetensors_dtype(const char *name, enum dtype *dtype) {
    static const char *const names[DTYPE_COUNT] = {
        [DTYPE_F16] = "F16",  [DTYPE_BF16] = "BF16",    [DTYPE_F32] = "F32",
        [DTYPE_F64] = "F64",  [DTYPE_U32] = "U32",      [DTYPE_I32] = "I32",
        [DTYPE_I8] = "I8",    [DTYPE_U8] = "U8",        [DTYPE_I16] = "I16",
        [DTYPE_I64] = "I64",  [DTYPE_E4M3] = "F8_E4M3", [DTYPE_E5M2] = "F8_E5M2",
        [DTYPE_BOOL] = "BOOL"};
    for (int d = 0; d < DTYPE_COUNT; d++)
        if (name != NULL && strcmp(names[d], name) == 0) {
            *dtype = (enum dtype)d;
            return true;
        }
    return false;
}

static bool whole_number(const cJSON *value, int64_t *number) {
    if (!cJSON_IsNumber(value) || value->valuedouble < 0 || value->valuedouble > 0x1p53 ||
        value->valuedouble != (double)(int64_t)value->valuedouble)
        return false;
    *number = (int64_t)value->valuedouble;
    return true;
}

static int read_safetensor(const cJSON *entry, int64_t data, int64_t file_bytes,
                           struct data_file *file, struct error *error) {
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(entry, "shape");
    const cJSON *offsets = cJSON_GetObjectItemCaseSensitive(entry, "data_offsets");
    const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(entry, "dtype");
    int64_t begin, end;
    file->rank = cJSON_IsArray(shape) ? cJSON_GetArraySize(shape) : -1;
    if (file->rank < 0 || file->rank > RANK_MAX || !cJSON_IsArray(offsets) ||
        cJSON_GetArraySize(offsets) != 2 || !whole_number(cJSON_GetArrayItem(offsets, 0), &begin) ||
        !whole_number(cJSON_GetArrayItem(offsets, 1), &end))
        return error_input(error,
                           "the tensor has no \"shape\" of at most %d extents, or no "
                           "\"data_offsets\"",
                           RANK_MAX);
    for (int i = 0; i < file->rank; i++)
        if (!whole_number(cJSON_GetArrayItem(shape, i), &file->extents[i]))
            return error_input(error, "an extent of the tensor's \"shape\" is no whole number");
    if (!find_safetensors_dtype(cJSON_GetStringValue(dtype), &file->dtype))
        return error_input(error, "the tensor's \"dtype\" is none of this program's");
    file->offset = data + begin;
    if (check_extent(file, file_bytes, error) < 0)
        return -1;
    return end - begin == file->bytes
               ? 0
               : error_input(error, "the tensor's \"data_offsets\" do not fit its shape");
}

int safetensors_parse(const uint8_t *bytes, size_t size, int64_t file_bytes, const char *tensor,
                      struct data_file *file, struct error *error) {
    uint64_t length = 0;
    *file = (struct data_file){0};
    for (int i = 7; i >= 0 && size >= 8; i--)
        length = length << 8 | bytes[i];
    if (size < 8 || length > size - 8)
        return error_input(error, "its header is longer than the file or than %d bytes",
                           DATA_HEADER_MAX);
    cJSON *header = cJSON_ParseWithLength((const char *)bytes + 8, length);
    const cJSON *entry =
        cJSON_IsObject(header) ? cJSON_GetObjectItemCaseSensitive(header, tensor) : NULL;
    int status = !cJSON_IsObject(header) ? error_input(error, "its header is no JSON object")
                 : !cJSON_IsObject(entry)
                     ? error_input(error, "it has no tensor \"%s\"", tensor)
                     : read_safetensor(entry, 8 + (int64_t)length, file_bytes, file, error);
    cJSON_Delete(header);
    return status;
}

/* ---- files ---- */

static bool ends_in(const char *path, const char *extension) {
    const size_t length = strlen(path), end = strlen(extension);
    return length > end && strcmp(path + length - end, extension) == 0;
}

/* Reads at most `size` bytes. Returns how many, or -1. */
static int64_t read_bytes(const char *path, int64_t offset, void *to, size_t size,
                          struct error *error) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return error_input(error, "cannot read %s: %s", path, strerror(errno));
    const size_t got = fseeko(file, (off_t)offset, SEEK_SET) == 0 ? fread(to, 1, size, file) : 0;
    const bool failed = ferror(file) != 0;
    fclose(file);
    return failed ? error_input(error, "cannot read %s", path) : (int64_t)got;
}

static int file_size(const char *path, int64_t *bytes, struct error *error) {
    struct stat status;
    if (stat(path, &status) < 0)
        return error_input(error, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode) || status.st_size > DATA_FILE_MAX)
        return error_input(error, "%s: must be a file of at most %lld bytes", path,
                           (long long)DATA_FILE_MAX);
    *bytes = (int64_t)status.st_size;
    return 0;
}

int data_file_open(const char *path, const char *tensor, struct data_file *file,
                   struct error *error) {
    int64_t bytes = 0;
    const bool npy = ends_in(path, ".npy"), named = ends_in(path, ".safetensors");
    if (file_size(path, &bytes, error) < 0)
        return -1;
    if (named != (tensor != NULL))
        return error_input(error, "%s: %s", path,
                           named ? "name one of its tensors: \"tensor\": \"NAME\""
                                 : "only a .safetensors file has names of tensors");
    if (!npy && !named) {
        *file = (struct data_file){.raw = true, .bytes = bytes};
        return 0;
    }
    const size_t size = bytes < DATA_HEADER_MAX ? (size_t)bytes : DATA_HEADER_MAX;
    uint8_t *header = xmalloc(size + 1);
    const int64_t got = read_bytes(path, 0, header, size, error);
    int status = -1;
    if (got >= 0)
        status = npy ? open_npy(path, header, bytes, file, error)
                     : safetensors_parse(header, (size_t)got, bytes, tensor, file, error);
    free(header);
    return status < 0 && got >= 0 && named ? error_prefix(error, "%s", path) : status;
}

void *data_file_read(const char *path, const struct data_file *file, struct error *error) {
    void *elements = xmalloc((size_t)file->bytes + 1);
    const int64_t got = read_bytes(path, file->offset, elements, (size_t)file->bytes, error);
    if (got == file->bytes)
        return elements;
    if (got >= 0)
        error_input(error, "%s: changed while it was used: it ends early", path);
    free(elements);
    return NULL;
}
