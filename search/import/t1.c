#include "import/t1_internal.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* SEARCHED_MAX: combinations among which the first valid one is looked for. */
enum { SEARCHED_MAX = 200000 };

const char *importer_text(const cJSON *object, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(value) ? value->valuestring : NULL;
}

void importer_note(struct importer *importer, const char *text) {
    import_texts_add(&importer->space.notes, "%s", text);
}

/* The text of a string or of a whole number; NULL if it is neither. */
char *importer_expression(const cJSON *value) {
    char *text = NULL;
    if (cJSON_IsString(value))
        return xstrdup(value->valuestring);
    if (cJSON_IsNumber(value) && asprintf(&text, "%.17g", value->valuedouble) < 0)
        BUG("out of memory");
    return text;
}

/* ---- parameters and conditions ---- */

/* JSON's own list as Python's text, for descriptions that have no strings. */
static char *values_text(const cJSON *values) {
    return cJSON_IsString(values)  ? xstrdup(values->valuestring)
           : cJSON_IsArray(values) ? cJSON_PrintUnformatted(values)
                                   : NULL;
}

static int read_parameter(struct importer *importer, const cJSON *parameter, struct error *error) {
    const char *name = importer_text(parameter, "Name"), *type = importer_text(parameter, "Type");
    char *text = values_text(cJSON_GetObjectItemCaseSensitive(parameter, "Values"));
    struct python_value list;
    if (name == NULL || text == NULL) {
        free(text);
        return error_input(error, "%s: a parameter of TuningParameters has no Name or no Values",
                           importer->document->file);
    }
    /* Values of texts outlive the tree: they are in its heap. */
    struct python *python = python_parse(text, error);
    free(text);
    if (python == NULL)
        return error_prefix(error, "the values of %s", name);
    int status = python_evaluate(python, NULL, &importer->space.heap, &list, error);
    if (status == 0 && type != NULL && strcmp(type, "float") == 0 && list.type == PYTHON_LIST) {
        struct python_value *reals =
            python_heap_alloc(&importer->space.heap, (size_t)list.count * sizeof *reals);
        for (int i = 0; i < list.count; i++)
            reals[i] = python_is_number(&list.items[i])
                           ? (struct python_value){.type = PYTHON_FLOAT,
                                                   .real = python_real(&list.items[i])}
                           : list.items[i];
        list.items = reals;
    }
    if (status == 0)
        status = import_add_parameter(&importer->space, name, &list, error);
    /* The heap of the tree becomes that of the space. */
    for (int i = 0; i < python->heap.count; i++) {
        importer->space.heap.blocks =
            xgrow(importer->space.heap.blocks, (size_t)importer->space.heap.count,
                  sizeof *importer->space.heap.blocks);
        importer->space.heap.blocks[importer->space.heap.count++] = python->heap.blocks[i];
    }
    free(python->heap.blocks);
    python->heap = (struct python_heap){0};
    python_free(python);
    return status < 0 ? error_prefix(error, "%s", importer->document->file) : 0;
}

int importer_read_space(struct importer *importer, struct error *error) {
    const cJSON *space =
        cJSON_GetObjectItemCaseSensitive(importer->document->root, "ConfigurationSpace");
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(space, "TuningParameters"), *item;
    if (!cJSON_IsArray(list) || list->child == NULL)
        return error_input(error,
                           "%s has no ConfigurationSpace.TuningParameters: it is no T1 description",
                           importer->document->file);
    cJSON_ArrayForEach(item, list) if (importer_text(item, "Name") != NULL)
        import_texts_add(&importer->space.originals, "%s", importer_text(item, "Name"));
    cJSON_ArrayForEach(item, list) if (read_parameter(importer, item, error) < 0) return -1;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(space, "Conditions")) {
        const char *text =
            cJSON_IsString(item) ? item->valuestring : importer_text(item, "Expression");
        const int before = importer->constraints.count;
        if (text == NULL)
            return error_input(error, "%s: a condition has no Expression",
                               importer->document->file);
        if (import_condition(&importer->space, text, &importer->constraints, error) < 0)
            return error_prefix(error, "%s", importer->document->file);
        import_texts_add(&importer->conditions, "%s", text);
        for (int i = before; i < importer->constraints.count; i++)
            import_texts_add(&importer->because, "%.200s", text);
    }
    return 0;
}

/* Whether the conditions hold, as Python evaluates them. */
static bool is_valid(const struct importer *importer, struct python *const *conditions,
                     const int *values) {
    struct python_scope scopes[GENES_MAX];
    const int count = importer->space.count;
    bool valid = true;
    for (int i = 0; i < count; i++)
        scopes[i] = (struct python_scope){.name = importer->space.parameters[i].original,
                                          .value = importer->space.parameters[i].values[values[i]],
                                          .outer = i > 0 ? &scopes[i - 1] : NULL};
    for (int c = 0; c < importer->conditions.count && valid; c++) {
        struct python_heap heap = {0};
        struct python_value value;
        struct error ignored = {0};
        valid = python_evaluate(conditions[c], &scopes[count - 1], &heap, &value, &ignored) == 0 &&
                python_is_true(&value);
        python_heap_clear(&heap);
    }
    return valid;
}

/* The default genome: the first value of each parameter or, if these are not valid together,
   others. */
void importer_choose_defaults(struct importer *importer) {
    struct python **conditions =
        xcalloc((size_t)importer->conditions.count + 1, sizeof *conditions);
    int values[GENES_MAX];
    struct random random;
    struct error ignored = {0};
    bool found = false;
    random_seed(&random, 1, 0);
    for (int c = 0; c < importer->conditions.count; c++)
        conditions[c] = python_parse(importer->conditions.items[c], &ignored);
    for (int i = 0; i < importer->space.count; i++)
        values[i] = importer->space.parameters[i].default_index;
    for (int tried = 0; tried < SEARCHED_MAX && !found; tried++) {
        found = is_valid(importer, conditions, values);
        for (int i = 0; i < importer->space.count && found; i++)
            importer->space.parameters[i].default_index = values[i];
        for (int i = 0; i < importer->space.count && !found; i++)
            values[i] = (int)random_below(&random, (uint64_t)importer->space.parameters[i].count);
    }
    if (!found)
        importer_note(importer,
                      "no valid default genome was found: set each gene's \"default\" to one");
    for (int c = 0; c < importer->conditions.count; c++)
        python_free(conditions[c]);
    free(conditions);
}

static void add_number_or_text(cJSON *array, const struct import_parameter *parameter, int index) {
    cJSON_AddItemToArray(array, parameter->words
                                    ? cJSON_CreateString(parameter->labels[index])
                                    : cJSON_CreateNumber((double)parameter->values[index].number));
}

/* What the source gets for a word. */
static cJSON *pasted(const struct python_value *value) {
    char text[64];
    if (value->type == PYTHON_TEXT)
        return cJSON_CreateString(value->text);
    if (value->type == PYTHON_FLOAT) {
        space_print_real(value->real, text);
        if (strpbrk(text, ".en") == NULL)
            strcat(text, ".0");
    } else
        snprintf(text, sizeof text, "%" PRId64, value->number);
    return cJSON_CreateString(text);
}

void importer_write_space(struct importer *importer) {
    cJSON *genes = cJSON_AddObjectToObject(importer->template, "genes");
    for (int i = 0; i < importer->space.count; i++) {
        const struct import_parameter *parameter = &importer->space.parameters[i];
        cJSON *gene = cJSON_AddObjectToObject(genes, parameter->name);
        cJSON *values = cJSON_AddArrayToObject(gene, "values");
        for (int v = 0; v < parameter->count; v++)
            add_number_or_text(values, parameter, v);
        if (parameter->words) {
            cJSON *texts = cJSON_AddArrayToObject(gene, "text");
            for (int v = 0; v < parameter->count; v++)
                cJSON_AddItemToArray(texts, pasted(&parameter->values[v]));
        }
        cJSON_AddItemToObject(
            gene, "default",
            cJSON_Duplicate(cJSON_GetArrayItem(values, parameter->default_index), true));
    }
    cJSON *constraints = cJSON_AddArrayToObject(importer->template, "constraints");
    for (int i = 0; i < importer->constraints.count; i++) {
        cJSON *constraint = cJSON_CreateObject();
        cJSON_AddStringToObject(constraint, "require", importer->constraints.items[i]);
        cJSON_AddStringToObject(constraint, "because", importer->because.items[i]);
        cJSON_AddItemToArray(constraints, constraint);
    }
}

/* ---- arguments ---- */

/* The words behind NAME= in "NAME=A,OTHER=B"; with `alone`, whether NAME is in "NAME,OTHER". */
char *importer_option(const char *list, const char *name, bool alone) {
    const size_t length = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0'; at += *at == ',') {
        const size_t end = strcspn(at, ",");
        if (strncmp(at, name, length) == 0 && at[length] == (alone ? at[end] : '=') &&
            (!alone || end == length))
            return alone ? xstrdup("") : xstrndup(at + length + 1, end - length - 1);
        at += end;
    }
    return NULL;
}

static const struct {
    const char *type, *dtype;
    int elements;
} types[] = {
    {"bool", "bool", 1},    {"int8", "i8", 1},      {"uint8", "u8", 1},    {"int16", "i16", 1},
    {"int32", "i32", 1},    {"uint32", "u32", 1},   {"int64", "i64", 1},   {"half", "f16", 1},
    {"half2", "f16", 2},    {"half4", "f16", 4},    {"half8", "f16", 8},   {"half16", "f16", 16},
    {"float", "f32", 1},    {"float2", "f32", 2},   {"float4", "f32", 4},  {"float8", "f32", 8},
    {"float16", "f32", 16}, {"double", "f64", 1},   {"double2", "f64", 2}, {"double4", "f64", 4},
    {"double8", "f64", 8},  {"double16", "f64", 16}};

static int find_type(const char *type) {
    for (size_t i = 0; type != NULL && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].type, type) == 0)
            return (int)i;
    return -1;
}

/* input, output or inout; NULL with the error that asks for it. */
static const char *find_role(const struct importer *importer, const cJSON *argument,
                             const char *name, struct error *error) {
    const struct import_options *options = importer->options;
    const char *access = importer_text(argument, "AccessType");
    char *output = importer_option(options->outputs, name, true);
    char *inout = importer_option(options->inouts, name, true);
    const char *role = output != NULL                     ? "output"
                       : inout != NULL                    ? "inout"
                       : access == NULL                   ? NULL
                       : strcmp(access, "WriteOnly") == 0 ? "output"
                       : strcmp(access, "ReadWrite") == 0 ? "inout"
                                                          : "input";
    free(output);
    free(inout);
    if (role == NULL && (options->outputs != NULL || options->inouts != NULL))
        return "input";
    if (role == NULL)
        error_input(
            error,
            "%s does not say whether the kernel reads or writes %s: name the arguments that "
            "it writes: --output NAME,... and those that it reads and writes: --inout "
            "NAME,...",
            importer->document->file, name);
    return role;
}

static int put_fill(struct importer *importer, const cJSON *argument, const char *name, int type,
                    int64_t count, cJSON *tensor, struct error *error) {
    const char *fill = importer_text(argument, "FillType");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(argument, "FillValue");
    const bool real = types[type].dtype[0] == 'f';
    /* KTT's default. */
    if (fill == NULL && cJSON_IsNumber(value))
        fill = "Constant";
    if (fill == NULL || strcmp(fill, "Random") == 0) {
        if (real && !(cJSON_IsNumber(value) && value->valuedouble > 0))
            return 0; /* normal, on which sums are judged best */
        cJSON *object = cJSON_AddObjectToObject(tensor, "fill");
        if (real) {
            const double range[] = {0, value->valuedouble};
            cJSON_AddItemToObject(object, "uniform", cJSON_CreateDoubleArray(range, 2));
            return 0;
        }
        const bool given = cJSON_IsNumber(value) && value->valuedouble >= 1;
        cJSON_AddNumberToObject(object, "integers",
                                strcmp(types[type].dtype, "bool") == 0 ? 2
                                : given                                ? value->valuedouble
                                                                       : 100);
        if (!given)
            import_texts_add(&importer->space.notes,
                             "%s holds random numbers from 0 to 99: change its \"fill\" if it has "
                             "indices",
                             name);
        return 0;
    }
    if (strcmp(fill, "Constant") == 0) {
        cJSON *object = cJSON_AddObjectToObject(tensor, "fill");
        cJSON_AddNumberToObject(object, "constant", cJSON_IsNumber(value) ? value->valuedouble : 0);
        return 0;
    }
    if (strcmp(fill, "Generator") == 0 || strcmp(fill, "BinaryRaw") == 0)
        return importer_put_data(importer, argument, name, types[type].dtype, count, tensor, error);
    return error_input(error,
                       "%s: %s is filled by %s, which cannot be imported: write \"Random\" or "
                       "\"Constant\" and change the \"fill\" in template.json",
                       importer->document->file, name, fill);
}

static int read_size(struct importer *importer, const cJSON *argument, const char *name,
                     int64_t *elements, struct error *error) {
    char *given = importer_option(importer->options->sizes, name, false);
    char *text = given != NULL
                     ? given
                     : importer_expression(cJSON_GetObjectItemCaseSensitive(argument, "Size"));
    struct python_heap heap = {0};
    struct python_value value;
    if (text == NULL)
        return error_input(error, "%s does not say how many elements %s has: --size %s=NUMBER",
                           importer->document->file, name, name);
    struct python *python = python_parse(text, error);
    int status = python == NULL
                     ? -1
                     : python_evaluate(python, &importer->problem_sizes, &heap, &value, error);
    if (status == 0 && (!python_whole(&value, elements) || *elements < 1))
        status = error_input(error, "is no positive whole number");
    if (status < 0)
        error_prefix(error, "the size '%.100s' of %s (give another by --size %s=NUMBER)", text,
                     name, name);
    python_heap_clear(&heap);
    python_free(python);
    free(text);
    return status;
}

static int add_tensor(struct importer *importer, const cJSON *argument, const char *name, int type,
                      cJSON *arguments, struct error *error) {
    cJSON *tensors = cJSON_GetObjectItemCaseSensitive(importer->template, "tensors");
    const char *role = find_role(importer, argument, name, error);
    const char *memory = importer_text(argument, "MemoryType");
    const bool symbol = memory != NULL && strcmp(memory, "Symbol") == 0;
    int64_t elements;
    if (role == NULL || read_size(importer, argument, name, &elements, error) < 0)
        return -1;
    cJSON *tensor = cJSON_AddObjectToObject(tensors, name), *shape = cJSON_CreateArray();
    char text[32];
    const char *bits = strpbrk(types[type].dtype, "123468");
    importer->elements += (double)(elements * types[type].elements);
    importer->bytes +=
        (double)(elements * types[type].elements) * (bits != NULL ? strtod(bits, NULL) / 8 : 1);
    snprintf(text, sizeof text, "%" PRId64, elements * types[type].elements);
    cJSON_AddStringToObject(tensor, "dtype", types[type].dtype);
    cJSON_AddItemToArray(shape, cJSON_CreateString(text));
    cJSON_AddItemToObject(tensor, "shape", shape);
    cJSON_AddStringToObject(tensor, "role", role);
    if (symbol)
        cJSON_AddStringToObject(tensor, "symbol", name);
    else
        cJSON_AddItemToArray(arguments, cJSON_CreateString(name));
    return strcmp(role, "input") == 0 ? put_fill(importer, argument, name, type,
                                                 elements * types[type].elements, tensor, error)
                                      : 0;
}

static int add_scalar(struct importer *importer, const cJSON *argument, const char *name, int type,
                      cJSON *arguments, struct error *error) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(argument, "FillValue");
    const char *dtype = types[type].dtype;
    char *given = importer_option(importer->options->sizes, name, false), text[64];
    double number = cJSON_IsNumber(value) ? value->valuedouble : 0;
    if (given == NULL && !cJSON_IsNumber(value))
        return error_input(error, "%s does not say what the number %s is: --size %s=NUMBER",
                           importer->document->file, name, name);
    if (given != NULL)
        number = strtod(given, NULL);
    free(given);
    cJSON *object = cJSON_CreateObject();
    if (dtype[0] == 'f') {
        /* A real dimension with one value. */
        cJSON *dimension = cJSON_AddObjectToObject(
            cJSON_GetObjectItemCaseSensitive(importer->template, "dimensions"), name);
        cJSON_AddBoolToObject(dimension, "real", true);
        cJSON_AddNumberToObject(dimension, "minimum", number);
        cJSON_AddNumberToObject(dimension, "maximum", number);
        cJSON_AddNumberToObject(dimension, "default", number);
        cJSON_AddStringToObject(object, strcmp(dtype, "f64") == 0 ? "f64" : "f32", name);
    } else {
        snprintf(text, sizeof text, "%.0f", number);
        cJSON_AddStringToObject(object, strstr(dtype, "64") != NULL ? "i64" : "i32", text);
    }
    cJSON_AddItemToArray(arguments, object);
    return 0;
}

/* Of a gene, or of the dimension of every import. */
static bool is_name_of_a_gene(const struct importer *importer, const char *name) {
    for (int i = 0; i < importer->space.count; i++)
        if (strcmp(importer->space.parameters[i].name, name) == 0 ||
            strcmp(importer->space.parameters[i].original, name) == 0)
            return true;
    return strcmp(name, "CASE") == 0;
}

int importer_read_arguments(struct importer *importer, cJSON *arguments, struct error *error) {
    const cJSON *argument;
    int index = 0;
    cJSON_ArrayForEach(argument, cJSON_GetObjectItemCaseSensitive(importer->kernel, "Arguments")) {
        const char *given = importer_text(argument, "Name"),
                   *memory = importer_text(argument, "MemoryType");
        const int type = find_type(importer_text(argument, "Type"));
        char name[NAME_SIZE];
        if (given != NULL)
            snprintf(name, sizeof name, "%.40s", given);
        else
            snprintf(name, sizeof name, "argument_%d", index);
        index++;
        while (is_name_of_a_gene(importer, name) && strlen(name) + 2 < sizeof name)
            strcat(name, "_");
        if (index > ARGUMENT_COUNT_MAX)
            return error_input(error, "%s has more than %d arguments", importer->document->file,
                               ARGUMENT_COUNT_MAX);
        if (type < 0)
            return error_input(error,
                               "%s: the argument %s is of a type that templates do not have: write "
                               "a numeric one",
                               importer->document->file, name);
        if (memory != NULL && strcmp(memory, "Local") == 0)
            return error_input(error, "%s: %s is local memory, which no CUDA kernel takes",
                               importer->document->file, name);
        if ((memory != NULL && strcmp(memory, "Scalar") == 0 ? add_scalar : add_tensor)(
                importer, argument, name, type, arguments, error) < 0)
            return -1;
    }
    return index > 0 ? 0
                     : error_input(error,
                                   "%s has no KernelSpecification.Arguments: list what the kernel "
                                   "takes there, in its order",
                                   importer->document->file);
}
