/* Reads the fills and the scalars of template.json, and computes them for a case. */
#include "template/load.h"

#include <math.h>
#include <string.h>

/* ---- template.json ---- */

/* Fills that are a word, and those that are an object with one of these keys. */
static const struct {
    const char *word;
    enum fill fill;
} words[] = {
    {"normal", FILL_NORMAL},
    {"arange", FILL_ARANGE},
    {"permutation", FILL_PERMUTATION},
    {"probabilities", FILL_PROBABILITIES},
    {"setup", FILL_SETUP},
};
static const char *const fill_keys[] = {"uniform", "integers", "constant", "arange", "sorted",
                                        "sparse",  "file",     "tensor",   NULL};
static const char *const kinds =
    "\"normal\", \"arange\", \"permutation\", \"probabilities\", \"setup\", or an object of "
    "\"uniform\", \"integers\", \"constant\", \"arange\", \"sorted\", \"sparse\" or \"file\"";

/* Whether its value depends on genes, also by way of derived quantities. */
static bool reads_genes(const struct space *space, const struct expression *expression) {
    struct slots reads = *expression_reads(expression);
    bool genes = false;
    for (int d = space->derived_count - 1; d >= 0; d--) /* each reads only earlier ones */
        if (slots_has(&reads, space->derived[d].slot))
            slots_join(&reads, expression_reads(space->derived[d].expression));
    for (int g = 0; g < space->gene_count; g++)
        genes = genes || slots_has(&reads, space->genes[g].slot);
    return genes;
}

/* Reads a number of a fill: any number, or an expression in a string. */
static int load_fill_number(struct template *template, const struct json *value,
                            struct declared_fill *fill, int index, struct error *error) {
    if (cJSON_IsNumber(value->value))
        return json_number(value, &fill->numbers[index], error);
    if (load_expression(template, value, &fill->expressions[index], error) < 0)
        return -1;
    return reads_genes(template->space, fill->expressions[index])
               ? json_error(value, error,
                            "reads a gene: inputs are the same for every genome, so use dimensions")
               : 0;
}

/* Reads [a, b]. */
static int load_fill_pair(struct template *template, const struct json *value,
                          struct declared_fill *fill, struct error *error) {
    if (json_is_array(value, error) < 0)
        return -1;
    if (json_count(value) != 2)
        return json_error(value, error, "must have 2 numbers");
    for (int i = 0; i < 2; i++) {
        struct json item = json_at(value, i);
        if (load_fill_number(template, &item, fill, i, error) < 0)
            return -1;
    }
    return 0;
}

static int load_fill_file(struct template *template, const struct json *object,
                          const struct json *value, struct declared_fill *fill,
                          struct error *error) {
    struct json member;
    char path[PATH_SIZE];
    const char *tensor = NULL;
    char *name = NULL;
    if (json_find(object, "tensor", &member) && json_string(&member, &tensor, error) < 0)
        return -1;
    if (load_file_name(template->folder, value, &name, error) < 0)
        return -1;
    bool fits = strlen(name) < NAME_SIZE;
    snprintf(fill->file, NAME_SIZE, "%s", name);
    free(name);
    if (!fits)
        return json_error(value, error, "a file name has fewer than %d characters", NAME_SIZE);
    if (path_join(path, template->folder, fill->file, error) < 0)
        return -1;
    return data_file_open(path, tensor, &fill->data, error) < 0 ? load_locate_error(value, error)
                                                                : 0;
}

static int load_fill_object(struct template *template, const struct json *object,
                            struct declared_fill *fill, struct error *error) {
    struct json value, tensor;
    if (json_check_keys(object, fill_keys, error) < 0)
        return -1;
    bool file = json_find(object, "file", &value);
    if (json_find(object, "tensor", &tensor) && !file)
        return json_error(&tensor, error, "names a tensor of a \"file\", which is missing");
    if (json_count(object) != 1 + (file && json_find(object, "tensor", &tensor)))
        return json_error(object, error, "must be %s", kinds);
    if (file) {
        fill->fill = FILL_FILE;
        return load_fill_file(template, object, &value, fill, error);
    }
    value = json_at(object, 0);
    const char *key = json_key(&value);
    bool list = cJSON_IsArray(value.value);
    fill->fill = strcmp(key, "uniform") == 0    ? FILL_UNIFORM
                 : strcmp(key, "integers") == 0 ? FILL_INTEGERS
                 : strcmp(key, "sparse") == 0   ? FILL_SPARSE
                 : strcmp(key, "sorted") != 0   ? FILL_ARANGE
                 : list                         ? FILL_SORTED
                                                : FILL_SORTED_INTEGERS;
    if (strcmp(key, "uniform") == 0 || strcmp(key, "arange") == 0 || fill->fill == FILL_SORTED)
        return load_fill_pair(template, &value, fill, error);
    return load_fill_number(template, &value, fill, 0, error);
}

int load_fill(struct template *template, const struct json *value, struct declared_fill *fill,
              struct error *error) {
    const char *text;
    *fill = (struct declared_fill){.fill = FILL_NORMAL, .numbers = {1}};
    if (cJSON_IsObject(value->value)) {
        fill->numbers[0] = 0;
        return load_fill_object(template, value, fill, error);
    }
    if (!cJSON_IsString(value->value))
        return json_error(value, error, "must be %s", kinds);
    if (json_string(value, &text, error) < 0)
        return -1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, text) == 0) {
            fill->fill = words[i].fill;
            fill->numbers[0] = fill->fill == FILL_NORMAL;
            fill->numbers[1] = fill->fill == FILL_ARANGE;
            return 0;
        }
    return json_error(value, error, "unknown fill \"%s\": must be %s", text, kinds);
}

/* "normal" has no effect on other tensors: templates of earlier versions may say so. Whether an
   output holds anything before a call, which is then filled, before.c knows. */
int load_tensor_fill(struct template *template, const struct json *value, struct tensor *tensor,
                     struct error *error) {
    if (load_fill(template, value, &tensor->fill, error) < 0)
        return -1;
    if (tensor->role == ROLE_WORKSPACE && tensor->fill.fill != FILL_NORMAL)
        return json_error(value, error, "only an input or a tensor of setup is filled");
    if (tensor->role == ROLE_OUTPUT && tensor->fill.fill == FILL_SETUP)
        return json_error(value, error,
                          "setup writes inputs alone: fill what is read and written by another "
                          "fill");
    if (tensor->fill.fill == FILL_SETUP && tensor->role == ROLE_SETUP)
        return json_error(value, error,
                          "a tensor of role \"setup\" has another fill: { \"constant\": 0 } if "
                          "setup writes it first");
    return 0;
}

int check_strided_fill(const struct json *value, const struct tensor *tensor, struct error *error) {
    const enum fill fill = tensor->fill.fill;
    const bool alike = fill == FILL_NORMAL || fill == FILL_UNIFORM || fill == FILL_INTEGERS ||
                       fill == FILL_SPARSE || fill == FILL_SETUP;
    return alike || !tensor->strided
               ? 0
               : json_error(value, error,
                            "has strides, so that its rows may lie anywhere: fill it by "
                            "\"normal\", \"uniform\", \"integers\", \"sparse\" or \"setup\"");
}

/* ---- scalars ---- */

int find_scalar(const struct template *template, const char *name) {
    int s = template->scalar_count - 1;
    while (s >= 0 && strcmp(template->scalars[s].name, name) != 0)
        s--;
    return s;
}

static int load_scalar(struct template *template, const struct json *value, struct error *error) {
    static const char *const keys[] = {"about", "dtype", "fill", NULL};
    static const enum dtype dtypes[] = {DTYPE_I32, DTYPE_I64, DTYPE_F32, DTYPE_F64};
    struct scalar *scalar = &template->scalars[template->scalar_count];
    struct json member;
    const char *word;
    size_t d = 0;
    if (load_key(value, scalar->name, error) < 0)
        return -1;
    if (find_tensor(template, scalar->name) >= 0 || find_map(template, scalar->name) >= 0 ||
        symbol_table_find(&template->space->symbols, scalar->name) >= 0)
        return json_error(value, error, "is also the name of something else: write another name");
    template->scalar_count++;
    if (json_check_keys(value, keys, error) < 0 || load_about(value, scalar->about, error) < 0 ||
        json_require(value, "dtype", &member, error) < 0 || json_string(&member, &word, error) < 0)
        return -1;
    while (d < 4 && strcmp(dtype_name(dtypes[d]), word) != 0)
        d++;
    if (d == 4)
        return json_error(&member, error, "a scalar is i32, i64, f32 or f64");
    scalar->dtype = dtypes[d];
    if (json_require(value, "fill", &member, error) < 0 ||
        load_fill(template, &member, &scalar->fill, error) < 0)
        return -1;
    const enum fill fill = scalar->fill.fill;
    return fill == FILL_UNIFORM || fill == FILL_INTEGERS
               ? 0
               : json_error(&member, error,
                            "a scalar is drawn for each set of inputs, by \"uniform\" or "
                            "\"integers\"; one that stays is a dimension");
}

const struct section scalar_sections[] = {
    {"scalars", load_scalar, .object = true, .maximum = SCALARS_MAX, .noun = "scalars"},
    {0},
};

int load_scalar_argument(const struct template *template, const struct json *value,
                         struct argument *argument, struct error *error) {
    const int s =
        cJSON_IsString(value->value) ? find_scalar(template, value->value->valuestring) : -1;
    if (s < 0)
        return 0;
    const char *name = dtype_name(template->scalars[s].dtype);
    argument->scalar = s;
    return strcmp(json_key(value), name) == 0
               ? 1
               : json_error(value, error, "%s is a scalar of %s: write { \"%s\": \"%s\" }",
                            template->scalars[s].name, name, name, template->scalars[s].name);
}

/* ---- for a case ---- */

/* The whole numbers that a dtype holds without a gap: from the first to the second. */
static void whole_range(enum dtype dtype, double *least, double *most) {
    const double rounding = dtype_rounding(dtype);
    *most = rounding > 0 ? 1 / rounding : fmin(dtype_largest(dtype), 0x1p53);
    *least = dtype == DTYPE_U32 || dtype == DTYPE_U8 || dtype == DTYPE_BOOL ? 0
             : rounding > 0 || dtype == DTYPE_I64                           ? -*most
                                                                            : -*most - 1;
}

static bool is_whole(double number) {
    return number == floor(number) && fabs(number) <= 0x1p53;
}

/* The smallest and the largest number of a fill; false for those that have no range. */
static bool fill_range(const struct tensor_fill *fill, const struct planned_tensor *tensor,
                       double *least, double *most) {
    const double last = fill->value + fill->most * (double)(tensor->elements - 1);
    *least = fill->fill == FILL_PERMUTATION || fill->fill == FILL_PROBABILITIES ? 0
             : fill->fill == FILL_ARANGE ? fmin(fill->value, last)
                                         : fill->value;
    *most = fill->fill == FILL_PERMUTATION     ? (double)(tensor->row - 1)
            : fill->fill == FILL_PROBABILITIES ? 1
            : fill->fill == FILL_ARANGE        ? fmax(fill->value, last)
                                               : fill->most;
    return fill->fill >= FILL_UNIFORM && fill->fill <= FILL_PROBABILITIES;
}

/* Returns why a tensor cannot be filled so, or NULL. */
static const char *refusal(const struct tensor_fill *fill, const struct planned_tensor *tensor) {
    const bool integers = dtype_rounding(tensor->dtype) == 0;
    const bool whole = integers || fill->fill == FILL_INTEGERS ||
                       fill->fill == FILL_SORTED_INTEGERS || fill->fill == FILL_PERMUTATION;
    double least, most, holds_least, holds_most;
    if (fill->fill == FILL_SPARSE)
        return fill->value >= 0 && fill->value <= 1 ? NULL : "a density is from 0 to 1";
    if (!fill_range(fill, tensor, &least, &most))
        return NULL;
    if (fill->fill == FILL_PROBABILITIES && integers)
        return "probabilities are floating-point numbers";
    if (!(least <= most))
        return "its range is empty";
    if (whole && (!is_whole(fill->value) || !is_whole(fill->most)))
        return "its numbers must be whole";
    whole_range(tensor->dtype, &holds_least, &holds_most);
    if (!whole)
        holds_most = dtype_largest(tensor->dtype), holds_least = -holds_most;
    return least >= holds_least && most <= holds_most ? NULL
           : whole && !integers ? "its dtype does not hold every whole number of that range"
                                : "its dtype does not hold that range";
}

/* "f32 [3, 4]" */
static void print_shape(enum dtype dtype, int rank, const int64_t *extents, char *text,
                        size_t size) {
    size_t used = (size_t)snprintf(text, size, "%s [", dtype_name(dtype));
    for (int i = 0; i < rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i > 0 ? ", " : "",
                                 (long long)extents[i]);
    if (used < size)
        snprintf(text + used, size - used, "]");
}

/* "FILE:LINE: tensors.x.fill", where the fill of a tensor or a scalar is declared. */
static const char *print_place(const struct template *template, const char *name, char place[512]) {
    static const char *const lists[] = {"tensors", "scalars"};
    struct json root = json_root(&template->document), list, declared, fill;
    snprintf(place, 512, "%s", template->document.file);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (json_find(&root, lists[i], &list) && json_find(&list, name, &declared))
            json_location(json_find(&declared, "fill", &fill) ? &fill : &declared, place, 512);
    return place;
}

static int check_file(const struct template *template, const char *name,
                      const struct declared_fill *declared, const struct planned_tensor *tensor,
                      struct error *error) {
    const struct data_file *file = &declared->data;
    char has[128], needs[128], place[512];
    if (file->raw && file->bytes == tensor->bytes)
        return 0;
    if (!file->raw && file->dtype == tensor->dtype && file->rank == tensor->rank &&
        memcmp(file->extents, tensor->extents, (size_t)file->rank * sizeof(int64_t)) == 0)
        return 0;
    print_shape(tensor->dtype, tensor->rank, tensor->extents, needs, sizeof needs);
    if (file->raw)
        snprintf(has, sizeof has, "%lld bytes", (long long)file->bytes);
    else
        print_shape(file->dtype, file->rank, file->extents, has, sizeof has);
    return error_input(error,
                       "%s: tensor %s: %s holds %s, but the tensor is %s, %lld bytes: give the "
                       "tensor the file's shape, and cases that have it",
                       print_place(template, name, place), name, declared->file, has, needs,
                       (long long)tensor->bytes);
}

int plan_fill(const struct template *template, const char *name,
              const struct declared_fill *declared, const int64_t *values,
              const struct planned_tensor *tensor, struct tensor_fill *fill, struct error *error) {
    double numbers[2];
    char text[FILL_TEXT_SIZE], place[512];
    for (int i = 0; i < 2; i++) {
        int64_t whole;
        numbers[i] = declared->numbers[i];
        if (declared->expressions[i] == NULL)
            continue;
        if (expression_evaluate(declared->expressions[i], values, &whole, error) < 0)
            return error_prefix(error, "%s: the fill of %s", print_place(template, name, place),
                                name);
        numbers[i] = (double)whole;
    }
    *fill = (struct tensor_fill){declared->fill, numbers[0], numbers[1]};
    if (fill->fill == FILL_INTEGERS || fill->fill == FILL_SORTED_INTEGERS)
        *fill = (struct tensor_fill){fill->fill, 0, numbers[0] - 1};
    if (dtype_rounding(tensor->dtype) == 0 && fill->fill == FILL_UNIFORM)
        fill->fill = FILL_INTEGERS;
    if (dtype_rounding(tensor->dtype) == 0 && fill->fill == FILL_SORTED)
        fill->fill = FILL_SORTED_INTEGERS;
    const char *why = refusal(fill, tensor);
    if (why != NULL)
        return error_input(error, "%s: the fill of %s, %s %s: %s: change its numbers or its dtype",
                           print_place(template, name, place), name, dtype_name(tensor->dtype),
                           template_fill_text(fill, tensor->dtype, text), why);
    return fill->fill == FILL_FILE ? check_file(template, name, declared, tensor, error) : 0;
}

int plan_scalars(const struct template *template, const int64_t *values, struct launch_plan *plan,
                 struct error *error) {
    for (int s = 0; s < template->scalar_count; s++) {
        const struct scalar *scalar = &template->scalars[s];
        const struct planned_tensor one = {.dtype = scalar->dtype, .elements = 1, .row = 1};
        if (plan_fill(template, scalar->name, &scalar->fill, values, &one, &plan->scalars[s],
                      error) < 0)
            return -1;
    }
    return 0;
}

int template_fill_path(const struct template *template, int tensor, char path[PATH_SIZE],
                       struct error *error) {
    return path_join(path, template->folder, template->tensors[tensor].fill.file, error);
}

const char *template_fill_text(const struct tensor_fill *fill, enum dtype dtype,
                               char text[FILL_TEXT_SIZE]) {
    const double a = fill->value, b = fill->most;
    switch (fill->fill) {
    case FILL_UNIFORM:
        snprintf(text, FILL_TEXT_SIZE, "uniform from %.10g to %.10g", a, b);
        break;
    case FILL_INTEGERS:
        snprintf(text, FILL_TEXT_SIZE, "integers %.17g to %.17g", a, b);
        break;
    case FILL_ARANGE:
        if (b == 0)
            snprintf(text, FILL_TEXT_SIZE, "constant %.10g", a);
        else
            snprintf(text, FILL_TEXT_SIZE, "arange from %.10g by %.10g", a, b);
        break;
    case FILL_SORTED:
    case FILL_SORTED_INTEGERS:
        snprintf(text, FILL_TEXT_SIZE, "sorted from %.17g to %.17g", a, b);
        break;
    case FILL_SPARSE:
        snprintf(text, FILL_TEXT_SIZE, "sparse %.10g", a);
        break;
    default:
        snprintf(text, FILL_TEXT_SIZE, "%s",
                 fill->fill == FILL_PERMUTATION     ? "permutation"
                 : fill->fill == FILL_PROBABILITIES ? "probabilities"
                 : fill->fill == FILL_FILE          ? "file"
                 : fill->fill == FILL_SETUP         ? "setup"
                 : dtype_rounding(dtype) > 0        ? "normal"
                                                    : "normal, which is any integer");
    }
    return text;
}
