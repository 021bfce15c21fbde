/* What KTT's loader reads and Kernel Tuner's does not: contents that an expression or a file gives,
   type arguments of a kernel, a budget. */
#include "import/t1_internal.h"

#include "base/memory.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

enum { GENERATED_MAX = 1 << 24, DATA_MAX = 256 << 20 };

/* ---- contents ---- */

/* The integers that a generator writes. */
static const struct integer_dtype {
    const char *name;
    size_t bytes;
    double least, beyond; /* values from `least` on, and below `beyond` */
} integer_dtypes[] = {
    {"bool", 1, 0, 2},           {"i8", 1, -0x1p7, 0x1p7},    {"u8", 1, 0, 0x1p8},
    {"i16", 2, -0x1p15, 0x1p15}, {"i32", 4, -0x1p31, 0x1p31}, {"u32", 4, 0, 0x1p32},
    {"i64", 8, -0x1p63, 0x1p63},
};

/* Appends a number as the dtype to the file, which has room for it. */
static int store_number(struct import_file *file, const char *dtype,
                        const struct python_value *value, struct error *error) {
    const double real = python_real(value);
    const float single = (float)real;
    char *to = file->bytes + file->size;
    if (strcmp(dtype, "f32") == 0) {
        memcpy(to, &single, sizeof single);
        file->size += sizeof single;
        return 0;
    }
    if (strcmp(dtype, "f64") == 0) {
        memcpy(to, &real, sizeof real);
        file->size += sizeof real;
        return 0;
    }
    for (size_t i = 0; i < sizeof integer_dtypes / sizeof *integer_dtypes; i++) {
        const struct integer_dtype *integer = &integer_dtypes[i];
        if (strcmp(dtype, integer->name) != 0)
            continue;
        /* NaN, too. An integer of Python's here is one of 64 bits. */
        if ((value->type == PYTHON_FLOAT || integer->bytes < sizeof(int64_t)) &&
            !(real >= integer->least && real < integer->beyond))
            return error_input(error, "%g is no value of %s: correct the expression", real, dtype);
        const int64_t whole = value->type == PYTHON_FLOAT ? (int64_t)real : value->number;
        memcpy(to, &whole, integer->bytes); /* x86-64 is little-endian */
        file->size += integer->bytes;
        return 0;
    }
    return error_input(
        error, "an expression fills no %s: write the data to a file, and FillType BinaryRaw",
        dtype);
}

static int generate(const char *text, const char *dtype, int64_t count, struct import_file *file,
                    struct error *error) {
    struct python *python = python_parse(text, error);
    int status = python == NULL ? -1 : 0;
    if (status == 0 && count > GENERATED_MAX)
        status = error_input(error,
                             "an expression fills at most %d elements: write the data to a "
                             "file, and FillType BinaryRaw",
                             GENERATED_MAX);
    file->bytes = xmalloc((size_t)(status == 0 ? count : 1) * sizeof(double));
    for (int64_t i = 0; i < count && status == 0; i++) {
        const struct python_scope scope = {.name = "i", .value = {.type = PYTHON_INT, .number = i}};
        struct python_heap heap = {0};
        struct python_value value;
        status = python_evaluate(python, &scope, &heap, &value, error);
        if (status == 0 && !python_is_number(&value))
            status = error_input(error, "'%.100s' is no number", text);
        if (status == 0)
            status = store_number(file, dtype, &value, error);
        python_heap_clear(&heap);
    }
    python_free(python);
    return status;
}

int importer_put_data(struct importer *importer, const cJSON *argument, const char *name,
                      const char *dtype, int64_t count, cJSON *tensor, struct error *error) {
    const char *source = importer_text(argument, "DataSource");
    struct import_file *file = &importer->files[importer->file_count];
    char *path = xmalloc(PATH_SIZE);
    int status = 0;
    *file = (struct import_file){0};
    if (source == NULL)
        status = error_input(error, "there is no DataSource");
    else if (strcmp(importer_text(argument, "FillType"), "Generator") == 0)
        status = generate(source, dtype, count, file, error);
    else if (path_parent(path, importer->options->file, error) < 0 ||
             path_join(path, path, source, error) < 0)
        status = -1;
    else if ((file->bytes = path_read_file(path, DATA_MAX, &file->size, error)) == NULL)
        status = -1;
    free(path);
    if (status < 0) {
        free(file->bytes);
        return error_prefix(error, "%s: the contents of %s", importer->document->file, name);
    }
    snprintf(file->name, sizeof file->name, "%s.bin", name);
    importer->file_count++;
    cJSON_AddStringToObject(cJSON_AddObjectToObject(tensor, "fill"), "file", file->name);
    return 0;
}

/* ---- the kernel's type arguments ---- */

void importer_print_kernel(const struct importer *importer, struct strbuf *text) {
    const cJSON *types = cJSON_GetObjectItemCaseSensitive(importer->kernel, "KernelTypeNames"),
                *item;
    const char *separator = "<";
    strbuf_print(text, "%s", importer_text(importer->kernel, "KernelName"));
    cJSON_ArrayForEach(item, types) {
        strbuf_print(text, "%s%s", separator, cJSON_IsString(item) ? item->valuestring : "?");
        separator = ", ";
    }
    if (types != NULL && types->child != NULL)
        strbuf_print(text, ">");
}

/* ---- the budget ---- */

static void add_limit(struct importer *importer, const cJSON *limit, cJSON *budget) {
    const char *type = importer_text(limit, "Type");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(limit, "BudgetValue");
    char seconds[32];
    if (type == NULL || !cJSON_IsNumber(value) || value->valuedouble < 1 ||
        value->valuedouble > 1e9 || strcmp(type, "ConfigurationFraction") == 0)
        import_texts_add(&importer->space.notes,
                         "the budget %s is left out: write \"budget\" into the config",
                         type != NULL ? type : "without a Type");
    else if (strcmp(type, "ConfigurationCount") == 0)
        cJSON_AddNumberToObject(budget, "trials", (double)(int64_t)value->valuedouble);
    else if (strcmp(type, "TuningDuration") == 0) {
        snprintf(seconds, sizeof seconds, "%.0fs", value->valuedouble);
        cJSON_AddStringToObject(budget, "time", seconds);
    }
}

/* A list, or in files of an earlier KTT one object. */
void importer_write_budget(struct importer *importer, cJSON *budget) {
    const cJSON *root = importer->document->root,
                *given = cJSON_GetObjectItemCaseSensitive(root, "Budget"), *item;
    if (cJSON_IsObject(given))
        add_limit(importer, given, budget);
    else
        cJSON_ArrayForEach(item, given) add_limit(importer, item, budget);
    if (budget->child == NULL)
        cJSON_AddNumberToObject(budget, "trials", 100);
    if (cJSON_GetObjectItemCaseSensitive(root, "Search") != NULL)
        importer_note(importer, "Search is left out: the strategy is evotile's own; the config's "
                                "\"search\" names another");
    if (importer->options->reference == NULL &&
        (cJSON_GetObjectItemCaseSensitive(importer->kernel, "ReferenceArguments") != NULL ||
         cJSON_GetObjectItemCaseSensitive(importer->kernel, "ReferenceData") != NULL))
        importer_note(importer, "the description's reference data is left out: --reference FILE.py "
                                "or FILE.cu says what is correct, on any inputs");
}
