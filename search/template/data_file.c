#include "template/data_file.h"

#include "base/memory.h"

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

/* ---- .npy: numpy/lib/format.py, versions 1 to 3 ---- */

/* A Python literal, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, as NumPy writes
   it. */
struct literal {
    const char *at, *end;
};

static void skip_blanks(struct literal *text) {
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\n'))
        text->at++;
}

/* Whether the text goes on with this word, which is skipped. */
static bool take(struct literal *text, const char *word) {
    const size_t length = strlen(word);
    skip_blanks(text);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

/* A quoted word of fewer than `size` bytes. */
static bool take_quoted(struct literal *text, char *word, size_t size) {
    const char quote = take(text, "'") ? '\'' : take(text, "\"") ? '"' : '\0';
    size_t length = 0;
    if (quote == '\0')
        return false;
    while (text->at < text->end && *text->at != quote && length + 1 < size)
        word[length++] = *text->at++;
    word[length] = '\0';
    if (text->at == text->end || *text->at != quote)
        return false;
    text->at++;
    return true;
}

static bool take_shape(struct literal *text, struct data_file *file) {
    file->rank = 0;
    if (!take(text, "("))
        return false;
    while (!take(text, ")")) {
        int64_t extent = 0;
        skip_blanks(text);
        if (file->rank == RANK_MAX || text->at == text->end || *text->at < '0' || *text->at > '9')
            return false;
        for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
            if (__builtin_mul_overflow(extent, 10, &extent) ||
                __builtin_add_overflow(extent, *text->at - '0', &extent))
                return false;
        file->extents[file->rank++] = extent;
        if (!take(text, ",")) {
            if (!take(text, ")"))
                return false;
            break;
        }
    }
    return true;
}

static bool find_npy_dtype(const char *descr, enum dtype *dtype) {
    static const struct {
        const char *descr;
        enum dtype dtype;
    } dtypes[] = {{"<f2", DTYPE_F16}, {"<f4", DTYPE_F32}, {"<f8", DTYPE_F64}, {"<i8", DTYPE_I64},
                  {"<i4", DTYPE_I32}, {"<u4", DTYPE_U32}, {"<i2", DTYPE_I16}, {"|i1", DTYPE_I8},
                  {"|u1", DTYPE_U8},  {"|b1", DTYPE_BOOL}};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].descr, descr) == 0) {
            *dtype = dtypes[i].dtype;
            return true;
        }
    return false;
}

/* Reads the dictionary's three members, in any order. */
static int parse_npy_header(struct literal text, struct data_file *file, struct error *error) {
    static const char *const names[] = {"descr", "fortran_order", "shape"};
    char name[16], descr[16] = "";
    bool seen[3] = {false}, fortran = false, right = take(&text, "{");
    while (right && !take(&text, "}")) {
        int n = 0;
        right = take_quoted(&text, name, sizeof name) && take(&text, ":");
        while (n < 3 && strcmp(names[n], name) != 0)
            n++;
        if (!right || n == 3 || seen[n])
            return error_input(error, "its header is no dictionary of NumPy's");
        seen[n] = true;
        right = n == 0   ? take_quoted(&text, descr, sizeof descr)
                : n == 2 ? take_shape(&text, file)
                         : (fortran = take(&text, "True")) || take(&text, "False");
        if (right && !take(&text, ",")) {
            right = take(&text, "}");
            break;
        }
    }
    if (!right || !seen[0] || !seen[1] || !seen[2])
        return error_input(error, "its header is no dictionary of NumPy's");
    if (!find_npy_dtype(descr, &file->dtype))
        return error_input(error,
                           "its elements are '%s': save little-endian f2, f4, f8, i1, i2, i4, i8, "
                           "u1, u4 or bool, others as .safetensors or raw bytes",
                           strpbrk(descr, "\n\r\t\033") == NULL ? descr : "?");
    return fortran && file->rank > 1
               ? error_input(error, "it is in Fortran's order: save numpy.ascontiguousarray(...)")
               : 0;
}

int npy_parse(const uint8_t *bytes, size_t size, int64_t file_bytes, struct data_file *file,
              struct error *error) {
    *file = (struct data_file){0};
    if (size < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 3)
        return error_input(error, "it is no .npy file of version 1, 2 or 3");
    const size_t start = bytes[6] == 1 ? 10 : 12;
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (start == 12)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length > size - start)
        return error_input(error, "its header is longer than the file or than %d bytes",
                           DATA_HEADER_MAX);
    const char *text = (const char *)bytes + start;
    file->offset = (int64_t)(start + length);
    return parse_npy_header((struct literal){text, text + length}, file, error) < 0
               ? -1
               : check_extent(file, file_bytes, error);
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
        status = npy ? npy_parse(header, (size_t)got, bytes, file, error)
                     : safetensors_parse(header, (size_t)got, bytes, tensor, file, error);
    free(header);
    return status < 0 && got >= 0 ? error_prefix(error, "%s", path) : status;
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
