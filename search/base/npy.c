#include "base/npy.h"

#include "base/memory.h"
#include "base/path.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The format: docs of numpy.lib.format. "\x93NUMPY", two bytes of version, the length of the header
   in 2 bytes (version 1) or 4, then a Python dictionary, padded by spaces, that ends in a newline.
 */
static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, TEXT_MAX = 4096 };

/* ---- the dictionary ---- */

/* What is left of a header's text. */
struct reader {
    const char *at, *end;
};

static void skip_spaces(struct reader *reader) {
    while (reader->at < reader->end &&
           (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\t'))
        reader->at++;
}

static bool accept(struct reader *reader, char wanted) {
    skip_spaces(reader);
    if (reader->at == reader->end || *reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

/* Reads 'text' or "text" without escapes. */
static bool read_string(struct reader *reader, char *text, size_t size) {
    skip_spaces(reader);
    if (reader->at == reader->end || (*reader->at != '\'' && *reader->at != '"'))
        return false;
    char quote = *reader->at++;
    size_t length = 0;
    while (reader->at < reader->end && *reader->at != quote && length + 1 < size)
        text[length++] = *reader->at++;
    text[length] = '\0';
    return reader->at < reader->end && *reader->at++ == quote;
}

static bool read_word(struct reader *reader, const char *word) {
    skip_spaces(reader);
    size_t length = strlen(word);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

static bool read_extent(struct reader *reader, int64_t *extent) {
    skip_spaces(reader);
    const char *start = reader->at;
    *extent = 0;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9') {
        if (*extent > (INT64_MAX - 9) / 10)
            return false;
        *extent = 10 * *extent + (*reader->at++ - '0');
    }
    return reader->at > start;
}

/* Reads (2, 3), (2,) or (). */
static bool read_shape(struct reader *reader, struct npy *array) {
    if (!accept(reader, '('))
        return false;
    while (!accept(reader, ')')) {
        if (array->rank == NPY_RANK_MAX || !read_extent(reader, &array->extents[array->rank++]))
            return false;
        if (!accept(reader, ','))
            return accept(reader, ')');
    }
    return true;
}

/* Reads "<f4". */
static int read_dtype(struct npy *array, const char *name, const char *text, struct error *error) {
    char *end;
    if (*text == '>')
        return error_input(error, "%s: dtype %s is big-endian: save .astype('<%s')", name, text,
                           text + 1);
    if (strchr("<|=", *text) == NULL || text[0] == '\0' || text[1] == '\0')
        return error_input(error, "%s: dtype %s cannot be read: save numbers", name, text);
    array->kind = text[1];
    long size = strtol(text + 2, &end, 10);
    bool whole = size == 1 || size == 2 || size == 4 || size == 8;
    bool known = array->kind == 'f'   ? whole && size > 1
                 : array->kind == 'b' ? size == 1
                                      : strchr("iuV", array->kind) != NULL && whole;
    if (!known || *end != '\0')
        return error_input(error,
                           "%s: dtype %s cannot be read: save floats of 2, 4 or 8 bytes, "
                           "integers of 1 to 8, or bool",
                           name, text);
    array->size = (int)size;
    return 0;
}

/* Reads the three keys, each once, in any order. */
static int read_dictionary(struct reader *reader, struct npy *array, const char *name,
                           struct error *error) {
    char key[16], dtype[16] = "";
    int seen = 0;
    bool columns = false, good = accept(reader, '{');
    while (good && !accept(reader, '}')) {
        good = read_string(reader, key, sizeof key) && accept(reader, ':');
        if (good && strcmp(key, "descr") == 0 && !(seen & 1))
            seen |= 1, good = read_string(reader, dtype, sizeof dtype);
        else if (good && strcmp(key, "fortran_order") == 0 && !(seen & 2))
            seen |= 2, columns = read_word(reader, "True"),
                       good = columns || read_word(reader, "False");
        else if (good && strcmp(key, "shape") == 0 && !(seen & 4))
            seen |= 4, good = read_shape(reader, array);
        else
            good = false;
        if (good && !accept(reader, ',')) {
            good = accept(reader, '}');
            break;
        }
    }
    skip_spaces(reader);
    if (!good || seen != 7 || reader->at != reader->end)
        return error_input(error,
                           "%s: its header is not that of one array of numbers with at most %d "
                           "dimensions: write it with numpy.save",
                           name, NPY_RANK_MAX);
    if (columns && array->rank > 1)
        return error_input(
            error, "%s: its elements are in columns: save numpy.ascontiguousarray(x)", name);
    return read_dtype(array, name, dtype, error);
}

/* ---- files ---- */

/* Multiplies the extents; false: more elements than that. */
static bool count_elements(struct npy *array, int64_t most) {
    array->elements = 1;
    for (int i = 0; i < array->rank; i++)
        if (array->extents[i] == 0)
            return array->elements = 0, true;
    for (int i = 0; i < array->rank; i++) {
        if (array->extents[i] > most / array->elements)
            return false;
        array->elements *= array->extents[i];
    }
    return array->elements <= most;
}

int npy_parse(struct npy *array, const char *name, const void *bytes, size_t size,
              struct error *error) {
    const unsigned char *all = bytes;
    *array = (struct npy){0};
    if (size < MAGIC + 4 || memcmp(all, magic, MAGIC) != 0)
        return error_input(error, "%s: not a .npy file: write it with numpy.save", name);
    int version = all[MAGIC];
    size_t start = version == 1 ? 10 : 12;
    if (version < 1 || version > 3 || size < start)
        return error_input(error, "%s: version %d of .npy cannot be read: versions 1 to 3 can",
                           name, version);
    size_t length = (size_t)(all[8] | all[9] << 8);
    if (version > 1)
        length |= (size_t)all[10] << 16 | (size_t)all[11] << 24;
    if (length > TEXT_MAX || length > size - start)
        return error_input(error, "%s: its header does not fit: write it with numpy.save", name);
    struct reader reader = {(const char *)all + start, (const char *)all + start + length};
    if (read_dictionary(&reader, array, name, error) < 0)
        return -1;
    size_t rest = size - start - length;
    char text[NPY_SHAPE_SIZE];
    npy_print(array, text);
    if (!count_elements(array, (int64_t)(rest / (size_t)array->size)) ||
        (size_t)array->elements * (size_t)array->size != rest)
        return error_input(error,
                           "%s: %zu bytes follow its header, which are not those of %s: the file "
                           "is truncated or damaged",
                           name, rest, text);
    array->data = all + start + length;
    return 0;
}

void npy_print(const struct npy *array, char text[NPY_SHAPE_SIZE]) {
    size_t used = (size_t)snprintf(text, NPY_SHAPE_SIZE, "%c%c%d (", array->size > 1 ? '<' : '|',
                                   array->kind, array->size);
    for (int i = 0; i < array->rank; i++)
        used += (size_t)snprintf(text + used, NPY_SHAPE_SIZE - used, "%s%lld", i > 0 ? ", " : "",
                                 (long long)array->extents[i]);
    snprintf(text + used, NPY_SHAPE_SIZE - used, array->rank == 1 ? ",)" : ")");
}

size_t npy_header(const struct npy *array, char header[NPY_HEADER_MAX]) {
    char text[NPY_SHAPE_SIZE];
    npy_print(array, text);
    char *shape = strchr(text, ' ');
    *shape++ = '\0';
    memset(header, ' ', NPY_HEADER_MAX);
    memcpy(header, magic, MAGIC);
    header[6] = 1, header[7] = 0;
    int length = snprintf(header + 10, NPY_HEADER_MAX - 10,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", text, shape);
    size_t size = (10 + (size_t)length + 1 + 63) / 64 * 64;
    header[10 + length] = ' ';
    header[size - 1] = '\n';
    header[8] = (char)((size - 10) & 0xff), header[9] = (char)((size - 10) >> 8);
    return size;
}

int npy_write_file(const char *path, const struct npy *array, struct error *error) {
    size_t bytes = (size_t)array->elements * (size_t)array->size;
    char header[NPY_HEADER_MAX];
    size_t start = npy_header(array, header);
    char *file = xmalloc(start + bytes);
    memcpy(file, header, start);
    if (bytes > 0)
        memcpy(file + start, array->data, bytes);
    int result = path_write_unsynced(path, file, start + bytes, error);
    free(file);
    return result;
}
