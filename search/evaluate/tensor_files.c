#include "evaluate/tensor_files.h"

#include "base/memory.h"
#include "base/npy.h"
#include "base/path.h"
#include "ptx/half.h"

#include <math.h>
#include <string.h>

enum { HEADER_ROOM = 8192 };

/* NumPy's kind of a dtype; 'V': it has none. */
static char kind_of(enum dtype dtype) {
    switch (dtype) {
    case DTYPE_F16:
    case DTYPE_F32:
    case DTYPE_F64:
        return 'f';
    case DTYPE_U8:
    case DTYPE_U32:
        return 'u';
    case DTYPE_BOOL:
        return 'b';
    case DTYPE_BF16:
    case DTYPE_E4M3:
    case DTYPE_E5M2:
        return 'V';
    default:
        return 'i';
    }
}

static struct npy describe(const struct planned_tensor *tensor, char kind, int size) {
    struct npy array = {.kind = kind, .size = size, .rank = tensor->rank, .elements = 1};
    for (int i = 0; i < tensor->rank; i++) {
        array.extents[i] = tensor->extents[i];
        array.elements *= tensor->extents[i];
    }
    return array;
}

/* Where the index-th element in row-major order lies, in elements. */
static int64_t position(const struct planned_tensor *tensor, int64_t index) {
    int64_t at = 0;
    for (int i = tensor->rank - 1; i >= 0; i--) {
        at += index % tensor->extents[i] * tensor->strides[i];
        index /= tensor->extents[i];
    }
    return at;
}

/* ---- inputs ---- */

static float widen(enum dtype dtype, const unsigned char *element) {
    uint16_t half;
    if (dtype == DTYPE_E4M3)
        return e4m3_to_float(*element);
    if (dtype == DTYPE_E5M2)
        return e5m2_to_float(*element);
    memcpy(&half, element, sizeof half);
    return bfloat_to_float(half);
}

int tensor_file_write_input(struct device *device, uint64_t address,
                            const struct planned_tensor *tensor, const char *path,
                            struct error *error) {
    const int bytes = dtype_bytes(tensor->dtype);
    const char kind = kind_of(tensor->dtype);
    struct npy array = kind == 'V' ? describe(tensor, 'f', 4) : describe(tensor, kind, bytes);
    unsigned char *stored = xmalloc((size_t)tensor->bytes);
    unsigned char *packed = xmalloc((size_t)array.elements * (size_t)array.size);
    int status = device->backend->read(device, address, stored, (size_t)tensor->bytes, error);
    for (int64_t i = 0; i < array.elements && status == 0; i++) {
        const unsigned char *element = stored + position(tensor, i) * bytes;
        unsigned char *to = packed + i * array.size;
        if (kind == 'V') {
            const float value = widen(tensor->dtype, element);
            memcpy(to, &value, sizeof value);
        } else {
            memcpy(to, element, (size_t)bytes);
        }
    }
    array.data = packed;
    if (status == 0)
        status = npy_write_file(path, &array, error);
    free(stored);
    free(packed);
    return status;
}

/* ---- reading ---- */

static char *read_array(const char *path, const char *name, const struct planned_tensor *tensor,
                        struct npy *array, struct error *error) {
    struct npy wanted = describe(tensor, 'f', 8);
    char found[NPY_SHAPE_SIZE], expected[NPY_SHAPE_SIZE];
    size_t size, limit = (size_t)wanted.elements * 8 + HEADER_ROOM;
    if (!path_exists(path)) {
        error_input(error, "wrote no %s.npy", name);
        return NULL;
    }
    char *bytes = path_read_file(path, limit, &size, error);
    if (bytes == NULL || npy_parse(array, path_name(path), bytes, size, error) < 0) {
        free(bytes);
        return NULL;
    }
    if (array->rank == wanted.rank &&
        memcmp(array->extents, wanted.extents, sizeof wanted.extents) == 0)
        return bytes;
    npy_print(array, found);
    npy_print(&wanted, expected);
    error_input(error, "%s: its shape is %s, not %s", path_name(path), strchr(found, ' ') + 1,
                strchr(expected, ' ') + 1);
    free(bytes);
    return NULL;
}

static int64_t whole_element(const struct npy *array, int64_t index) {
    const char *element = (const char *)array->data + index * array->size;
    const bool is_signed = array->kind == 'i';
    int64_t value = 0;
    memcpy(&value, element, (size_t)array->size); /* little-endian */
    if (is_signed && array->size < 8 && value >> (8 * array->size - 1) != 0)
        value -= INT64_C(1) << 8 * array->size;
    return value;
}

static bool is_whole(const struct npy *array) {
    return array->kind == 'i' || array->kind == 'u' || array->kind == 'b';
}

/* Whether a double holds every one of the integers. */
static bool fits_double(const struct npy *array) {
    const int64_t most = INT64_C(1) << 53;
    for (int64_t i = 0; array->size == 8 && i < array->elements; i++)
        if (whole_element(array, i) > most || whole_element(array, i) < -most)
            return false;
    return true;
}

static double float_element(const struct npy *array, int64_t index) {
    const char *element = (const char *)array->data + index * array->size;
    double wide = 0;
    float narrow = 0;
    uint16_t half = 0;
    memcpy(&wide, element, array->size == 8 ? 8 : 0);
    memcpy(&narrow, element, array->size == 4 ? 4 : 0);
    memcpy(&half, element, array->size == 2 ? 2 : 0);
    return array->size == 8 ? wide : array->size == 4 ? (double)narrow : half_to_float(half);
}

static void *read_doubles(const char *path, const char *name, const struct planned_tensor *tensor,
                          int float_bytes, struct error *error) {
    struct npy array;
    char text[NPY_SHAPE_SIZE];
    char *bytes = read_array(path, name, tensor, &array, error);
    if (bytes == NULL)
        return NULL;
    bool whole = tensor->dtype == DTYPE_I64;
    bool fits = whole ? is_whole(&array)
                      : (array.kind == 'f' && array.size >= float_bytes) ||
                            (is_whole(&array) && fits_double(&array));
    if (!fits) {
        npy_print(&array, text);
        *strchr(text, ' ') = '\0';
        error_input(error, "%s: its dtype is %s, not %s: %s", path_name(path), text,
                    whole ? "one of integers" : "<f8",
                    whole ? "save numpy.int64" : "compute in double precision");
        free(bytes);
        return NULL;
    }
    double *doubles = xmalloc((size_t)array.elements * sizeof *doubles);
    for (int64_t i = 0; i < array.elements; i++) {
        const int64_t number = is_whole(&array) ? whole_element(&array, i) : 0;
        if (whole)
            memcpy(&doubles[i], &number, sizeof number);
        else if (is_whole(&array))
            doubles[i] = (double)number;
        else
            doubles[i] = float_element(&array, i);
    }
    free(bytes);
    return doubles;
}

void *tensor_file_read_output(const char *path, const char *name,
                              const struct planned_tensor *tensor, struct error *error) {
    return read_doubles(path, name, tensor, 8, error);
}

void *tensor_file_read_answer(const char *path, const char *name,
                              const struct planned_tensor *tensor, struct error *error) {
    return read_doubles(path, name, tensor, 2, error);
}

void *tensor_file_read_input(const char *path, const char *name,
                             const struct planned_tensor *tensor, struct error *error) {
    struct npy array;
    char found[NPY_SHAPE_SIZE], wanted[NPY_SHAPE_SIZE];
    const int bytes_of = dtype_bytes(tensor->dtype);
    char *bytes = read_array(path, name, tensor, &array, error);
    if (bytes == NULL)
        return NULL;
    if (array.kind != kind_of(tensor->dtype) || array.size != bytes_of) {
        const struct npy expected = describe(tensor, kind_of(tensor->dtype), bytes_of);
        npy_print(&array, found);
        npy_print(&expected, wanted);
        error_input(error, "%s: it is %s, not %s, which has the bytes of %s", path_name(path),
                    found, wanted, dtype_name(tensor->dtype));
        free(bytes);
        return NULL;
    }
    unsigned char *stored = xcalloc(1, (size_t)tensor->bytes);
    for (int64_t i = 0; i < array.elements; i++)
        memcpy(stored + position(tensor, i) * bytes_of, (const char *)array.data + i * bytes_of,
               (size_t)bytes_of);
    free(bytes);
    return stored;
}
