/* Reads the tensors and tensor maps of a template. */
#include "template/load.h"

#include "base/spelling.h"

#include <string.h>

static const char *const dtype_names[DTYPE_COUNT] = {
    [DTYPE_F16] = "f16",   [DTYPE_BF16] = "bf16",    [DTYPE_F32] = "f32",
    [DTYPE_F64] = "f64",   [DTYPE_U32] = "u32",      [DTYPE_I32] = "i32",
    [DTYPE_I8] = "i8",     [DTYPE_U8] = "u8",        [DTYPE_I16] = "i16",
    [DTYPE_I64] = "i64",   [DTYPE_E4M3] = "f8_e4m3", [DTYPE_E5M2] = "f8_e5m2",
    [DTYPE_BOOL] = "bool",
};
static const int dtype_sizes[DTYPE_COUNT] = {
    [DTYPE_F16] = 2,  [DTYPE_BF16] = 2, [DTYPE_F32] = 4,  [DTYPE_F64] = 8, [DTYPE_U32] = 4,
    [DTYPE_I32] = 4,  [DTYPE_I8] = 1,   [DTYPE_U8] = 1,   [DTYPE_I16] = 2, [DTYPE_I64] = 8,
    [DTYPE_E4M3] = 1, [DTYPE_E5M2] = 1, [DTYPE_BOOL] = 1,
};
/* One that is read and written is an output, whose input is a tensor of its own (before.c). */
enum { ROLE_INOUT = ROLE_COUNT, ROLE_WORDS };
static const char *const role_names[ROLE_WORDS] = {
    [ROLE_INPUT] = "input", [ROLE_OUTPUT] = "output", [ROLE_WORKSPACE] = "workspace",
    [ROLE_SETUP] = "setup", [ROLE_INOUT] = "inout",
};

const char *dtype_name(enum dtype dtype) {
    return dtype_names[dtype];
}

int dtype_bytes(enum dtype dtype) {
    return dtype_sizes[dtype];
}

/* Looks a word up in a table and returns its index. */
static int load_word(const struct json *value, const char *const *words, int count, int *index,
                     struct error *error) {
    const char *text;
    if (json_string(value, &text, error) < 0)
        return -1;
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], text) == 0) {
            *index = i;
            return 0;
        }
    return json_error(value, error, "unknown word \"%s\"; did you mean \"%s\"?", text,
                      spelling_nearest(text, words, count));
}

/* ---- tensors ---- */

int find_tensor(const struct template *template, const char *name) {
    int t = template->tensor_count - 1;
    while (t >= 0 &&
           (template->tensors[t].of_output || strcmp(template->tensors[t].name, name) != 0))
        t--;
    return t;
}

static const char *const tensor_keys[] = {
    "dtype",     "shape",     "strides",   "role",      "fill",   "when",   "clear",
    "precision", "alignment", "tolerance", "magnitude", "before", "symbol", NULL};
static const char *const choice_keys[] = {"when", "then", "else", NULL};

/* Reads a word, or {"when": EXPRESSION, "then": WORD, "else": WORD}. */
static int load_choice(struct template *template, const struct json *value,
                       const char *const *words, int count, struct expression **when, int *then,
                       int *otherwise, struct error *error) {
    struct json member;
    if (!cJSON_IsObject(value->value)) {
        if (load_word(value, words, count, then, error) < 0)
            return -1;
        *otherwise = *then;
        return 0;
    }
    if (json_check_keys(value, choice_keys, error) < 0 ||
        load_required_expression(template, value, "when", when, error) < 0 ||
        json_require(value, "then", &member, error) < 0 ||
        load_word(&member, words, count, then, error) < 0 ||
        json_require(value, "else", &member, error) < 0)
        return -1;
    return load_word(&member, words, count, otherwise, error);
}

/* Strides are names of derived quantities, so that callers of an exported kernel can pass other
   values. */
static int load_strides(const struct template *template, const struct json *value,
                        struct tensor *tensor, struct error *error) {
    const struct space *space = template->space;
    if (json_is_array(value, error) < 0)
        return -1;
    if (tensor->role == ROLE_WORKSPACE)
        return json_error(value, error, "a workspace is always packed");
    if (json_count(value) != tensor->rank - 1)
        return json_error(value, error, "must have a stride for each extent but the last: %d",
                          tensor->rank - 1);
    tensor->strided = true;
    for (int i = 0; i < tensor->rank - 1; i++) {
        struct json item = json_at(value, i);
        const char *name;
        int d = 0;
        if (json_string(&item, &name, error) < 0)
            return -1;
        tensor->strides[i] = symbol_table_find(&space->symbols, name);
        while (d < space->derived_count && space->derived[d].slot != tensor->strides[i])
            d++;
        if (d == space->derived_count)
            return json_error(&item, error, "there is no derived quantity \"%s\"", name);
        if (load_reject_genes(template, &item, space->derived[d].expression, error) < 0)
            return -1;
    }
    return 0;
}

static int load_alignment(const struct json *value, struct tensor *tensor, struct error *error) {
    int64_t least = dtype_sizes[tensor->dtype], bytes;
    if (least < dtype_sizes[tensor->other_dtype])
        least = dtype_sizes[tensor->other_dtype];
    if (json_integer(value, &bytes, error) < 0)
        return -1;
    if (tensor->role == ROLE_WORKSPACE)
        return json_error(value, error, "only an input or an output has an alignment");
    if (bytes < least || bytes > ALIGNMENT_MAX || (bytes & (bytes - 1)) != 0)
        return json_error(value, error,
                          "must be a power of two from %d, the bytes of an element, to %d",
                          (int)least, ALIGNMENT_MAX);
    tensor->alignment = (int)bytes;
    return 0;
}

/* Adds a tensor and reads its name. */
static struct tensor *add_tensor(struct template *template, const struct json *value,
                                 struct error *error) {
    char name[NAME_SIZE];
    if (template->tensor_count == TENSORS_MAX) {
        json_error(value, error, "more than %d tensors", TENSORS_MAX);
        return NULL;
    }
    if (load_key(value, name, error) < 0)
        return NULL;
    if (find_tensor(template, name) >= 0) {
        json_error(value, error, "is also the name of a tensor of the problem");
        return NULL;
    }
    struct tensor *tensor = &template->tensors[template->tensor_count++];
    strcpy(tensor->name, name);
    tensor->alignment = ALIGNMENT_DEFAULT;
    tensor->fill = (struct declared_fill){.fill = FILL_NORMAL, .numbers = {1}};
    return tensor;
}

static int load_shape(struct template *template, const struct json *value, struct tensor *tensor,
                      struct error *error) {
    struct json member;
    if (json_require(value, "shape", &member, error) < 0 || json_is_array(&member, error) < 0)
        return -1;
    if (json_count(&member) < 1 || json_count(&member) > RANK_MAX)
        return json_error(&member, error, "must have 1 to %d dimensions", RANK_MAX);
    for (int i = 0; i < json_count(&member); i++) {
        struct json extent = json_at(&member, i);
        if (load_expression(template, &extent, &tensor->shape[i], error) < 0)
            return -1;
        tensor->rank++;
    }
    return 0;
}

static int load_dtype(struct template *template, const struct json *value, struct tensor *tensor,
                      struct error *error) {
    struct json member;
    int index = 0;
    int other = 0;
    if (json_require(value, "dtype", &member, error) < 0 ||
        load_choice(template, &member, dtype_names, DTYPE_COUNT, &tensor->dtype_when, &index,
                    &other, error) < 0)
        return -1;
    tensor->dtype = (enum dtype)index;
    tensor->other_dtype = (enum dtype)other;
    return 0;
}

/* Reads a workspace of a solution.json. */
static int load_workspace(struct template *template, const struct json *value,
                          struct error *error) {
    static const char *const keys[] = {"dtype", "shape", "when", "clear", NULL};
    struct json member;
    struct tensor *tensor = add_tensor(template, value, error);
    if (tensor == NULL)
        return -1;
    tensor->role = ROLE_WORKSPACE;
    return json_check_keys(value, keys, error) < 0 ||
                   load_dtype(template, value, tensor, error) < 0 ||
                   load_shape(template, value, tensor, error) < 0 ||
                   (json_find(value, "clear", &member) &&
                    json_bool(&member, &tensor->clear, error) < 0)
               ? -1
               : load_optional_expression(template, value, "when", &tensor->when, error);
}

static int load_tensor(struct template *template, const struct json *value, struct error *error) {
    struct json member;
    int index = 0;
    struct tensor *tensor = add_tensor(template, value, error);
    if (tensor == NULL || json_check_keys(value, tensor_keys, error) < 0 ||
        load_dtype(template, value, tensor, error) < 0)
        return -1;
    if (json_require(value, "role", &member, error) < 0 ||
        load_word(&member, role_names, ROLE_WORDS, &index, error) < 0)
        return -1;
    tensor->role = index == ROLE_INOUT ? ROLE_OUTPUT : (enum role)index;
    if (tensor->role == ROLE_WORKSPACE && is_split(template))
        return json_error(&member, error, "a workspace belongs to \"workspaces\" in solution.json");
    if (json_find(value, "alignment", &member) && load_alignment(&member, tensor, error) < 0)
        return -1;
    if (json_find(value, "fill", &member) && load_tensor_fill(template, &member, tensor, error) < 0)
        return -1;
    if (json_find(value, "clear", &member)) {
        if (json_bool(&member, &tensor->clear, error) < 0)
            return -1;
        if (tensor->clear && tensor->role != ROLE_WORKSPACE)
            return json_error(&member, error, "only a workspace can be cleared");
    }
    if (json_find(value, "precision", &member)) {
        if (load_word(&member, dtype_names, DTYPE_COUNT, &index, error) < 0)
            return -1;
        if (tensor->role != ROLE_OUTPUT)
            return json_error(&member, error, "only an output has a precision");
        tensor->coarse = true;
        tensor->precision = (enum dtype)index;
    }
    if (load_tolerance(value, tensor, error) < 0)
        return -1;
    if (load_optional_expression(template, value, "when", &tensor->when, error) < 0 ||
        load_shape(template, value, tensor, error) < 0)
        return -1;
    return json_find(value, "strides", &member) &&
                   (load_strides(template, &member, tensor, error) < 0 ||
                    check_strided_fill(&member, tensor, error) < 0)
               ? -1
               : 0;
}

/* ---- tensor maps ---- */

static const char *const swizzle_names[SWIZZLE_COUNT] = {
    [SWIZZLE_NONE] = "none",
    [SWIZZLE_32B] = "32B",
    [SWIZZLE_64B] = "64B",
    [SWIZZLE_128B] = "128B",
};
static const char *const map_keys[] = {"tensor", "box", "swizzle", "when", NULL};

int find_map(const struct template *template, const char *name) {
    int m = template->map_count - 1;
    while (m >= 0 && strcmp(template->maps[m].name, name) != 0)
        m--;
    return m;
}

static int load_box(struct template *template, const struct json *value,
                    struct tensor_map_spec *map, struct error *error) {
    int rank = template->tensors[map->tensor].rank;
    if (json_is_array(value, error) < 0)
        return -1;
    if (json_count(value) != rank || rank > TENSOR_MAP_RANK_MAX)
        return json_error(value, error,
                          "must have an extent for each of the tensor's %d dimensions; a tensor "
                          "map has at most %d",
                          rank, TENSOR_MAP_RANK_MAX);
    for (int i = 0; i < rank; i++) {
        struct json extent = json_at(value, i);
        if (load_expression(template, &extent, &map->box[i], error) < 0)
            return -1;
    }
    return 0;
}

static int load_map(struct template *template, const struct json *value, struct error *error) {
    struct json member;
    const char *name;
    int swizzle = 0;
    int other = 0;
    if (template->map_count == TENSOR_MAPS_MAX)
        return json_error(value, error, "more than %d tensor maps", TENSOR_MAPS_MAX);
    struct tensor_map_spec *map = &template->maps[template->map_count];
    if (load_key(value, map->name, error) < 0)
        return -1;
    if (find_tensor(template, map->name) >= 0)
        return json_error(value, error, "is also the name of a tensor");
    template->map_count++;
    if (json_check_keys(value, map_keys, error) < 0 ||
        json_require(value, "tensor", &member, error) < 0 || json_string(&member, &name, error) < 0)
        return -1;
    map->tensor = find_tensor(template, name);
    if (map->tensor < 0)
        return json_error(&member, error, "there is no tensor \"%s\"", name);
    if (template->tensors[map->tensor].alignment < ALIGNMENT_DEFAULT)
        return json_error(&member, error, "the \"alignment\" of \"%s\" must be at least %d", name,
                          ALIGNMENT_DEFAULT);
    if (json_require(value, "box", &member, error) < 0 ||
        load_box(template, &member, map, error) < 0 ||
        json_require(value, "swizzle", &member, error) < 0 ||
        load_choice(template, &member, swizzle_names, SWIZZLE_COUNT, &map->swizzle_when, &swizzle,
                    &other, error) < 0)
        return -1;
    map->swizzle = (enum tensor_swizzle)swizzle;
    map->other_swizzle = (enum tensor_swizzle)other;
    return load_optional_expression(template, value, "when", &map->when, error);
}

const struct section tensor_sections[] = {
    {"tensors", load_tensor, .object = true, .required = true},
    {0},
};
const struct section workspace_sections[] = {
    {"workspaces", load_workspace, .object = true},
    {0},
};
const struct section map_sections[] = {
    {"tensor_maps", load_map, .object = true},
    {0},
};
