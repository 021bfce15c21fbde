/* Reads the parts of template.json that define the kernel's interface: tensors, tensor maps,
   launches, their arguments, compiler options and source files. One reader a key; the file is long
   so that they are in one place. */
#include "template/load.h"

#include "base/memory.h"
#include "base/spelling.h"

#include <ctype.h>
#include <string.h>

static const char *const dtype_names[DTYPE_COUNT] = {
    [DTYPE_F16] = "f16", [DTYPE_BF16] = "bf16", [DTYPE_F32] = "f32",
    [DTYPE_F64] = "f64", [DTYPE_U32] = "u32",   [DTYPE_I32] = "i32",
};
static const int dtype_sizes[DTYPE_COUNT] = {
    [DTYPE_F16] = 2, [DTYPE_BF16] = 2, [DTYPE_F32] = 4,
    [DTYPE_F64] = 8, [DTYPE_U32] = 4,  [DTYPE_I32] = 4,
};
static const char *const role_names[ROLE_COUNT] = {
    [ROLE_INPUT] = "input",
    [ROLE_OUTPUT] = "output",
    [ROLE_WORKSPACE] = "workspace",
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

static const char *const tensor_keys[] = {"dtype", "shape", "strides",   "role", "fill",
                                          "when",  "clear", "precision", NULL};
static const char *const choice_keys[] = {"when", "then", "else", NULL};
static const char *const fills[] = {"normal"};

/* Reads a word, or {"when": EXPRESSION, "then": WORD, "else": WORD}. */
static int load_choice(const struct template *template, const struct json *value,
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
        json_require(value, "when", &member, error) < 0 ||
        load_expression(template, &member, when, error) < 0 ||
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
    }
    return 0;
}

static int load_tensor(struct template *template, const struct json *value, struct error *error) {
    struct json member;
    int index = 0;
    int other = 0;
    if (template->tensor_count == TENSORS_MAX)
        return json_error(value, error, "more than %d tensors", TENSORS_MAX);
    struct tensor *tensor = &template->tensors[template->tensor_count];
    if (strlen(json_key(value)) >= NAME_SIZE)
        return json_error(value, error, "a name has fewer than %d characters", NAME_SIZE);
    strcpy(tensor->name, json_key(value));
    template->tensor_count++;
    if (json_check_keys(value, tensor_keys, error) < 0 ||
        json_require(value, "dtype", &member, error) < 0 ||
        load_choice(template, &member, dtype_names, DTYPE_COUNT, &tensor->dtype_when, &index,
                    &other, error) < 0)
        return -1;
    tensor->dtype = (enum dtype)index;
    tensor->other_dtype = (enum dtype)other;
    if (json_require(value, "role", &member, error) < 0 ||
        load_word(&member, role_names, ROLE_COUNT, &index, error) < 0)
        return -1;
    tensor->role = (enum role)index;
    if (json_find(value, "fill", &member) && load_word(&member, fills, 1, &index, error) < 0)
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
    if (load_optional_expression(template, value, "when", &tensor->when, error) < 0 ||
        json_require(value, "shape", &member, error) < 0 || json_is_array(&member, error) < 0)
        return -1;
    if (json_count(&member) < 1 || json_count(&member) > RANK_MAX)
        return json_error(&member, error, "must have 1 to %d dimensions", RANK_MAX);
    for (int i = 0; i < json_count(&member); i++) {
        struct json extent = json_at(&member, i);
        if (load_expression(template, &extent, &tensor->shape[i], error) < 0)
            return -1;
        tensor->rank++;
    }
    return json_find(value, "strides", &member) ? load_strides(template, &member, tensor, error)
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

static int find_tensor(const struct template *template, const char *name) {
    int t = template->tensor_count - 1;
    while (t >= 0 && strcmp(template->tensors[t].name, name) != 0)
        t--;
    return t;
}

static int find_map(const struct template *template, const char *name) {
    int m = template->map_count - 1;
    while (m >= 0 && strcmp(template->maps[m].name, name) != 0)
        m--;
    return m;
}

static int load_box(const struct template *template, const struct json *value,
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
    if (strlen(json_key(value)) >= NAME_SIZE)
        return json_error(value, error, "a name has fewer than %d characters", NAME_SIZE);
    if (find_tensor(template, json_key(value)) >= 0)
        return json_error(value, error, "is also the name of a tensor");
    struct tensor_map_spec *map = &template->maps[template->map_count++];
    strcpy(map->name, json_key(value));
    if (json_check_keys(value, map_keys, error) < 0 ||
        json_require(value, "tensor", &member, error) < 0 || json_string(&member, &name, error) < 0)
        return -1;
    map->tensor = find_tensor(template, name);
    if (map->tensor < 0)
        return json_error(&member, error, "there is no tensor \"%s\"", name);
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

/* ---- launches ---- */

static const char *const launch_keys[] = {"kernel", "grid",  "block",       "smem", "arguments",
                                          "when",   "early", "cooperative", NULL};
static const char *const argument_keys[] = {"i32", "i64", "f32", NULL};

static int load_triple(const struct template *template, const struct json *launch, const char *key,
                       struct expression *triple[3], struct error *error) {
    struct json value;
    if (json_require(launch, key, &value, error) < 0 || json_is_array(&value, error) < 0)
        return -1;
    if (json_count(&value) != 3)
        return json_error(&value, error, "must have 3 extents: x, y, z");
    for (int i = 0; i < 3; i++) {
        struct json extent = json_at(&value, i);
        if (load_expression(template, &extent, &triple[i], error) < 0)
            return -1;
    }
    return 0;
}

/* Reads the name of a real dimension. */
static int load_real_argument(const struct template *template, const struct json *value,
                              struct argument *argument, struct error *error) {
    const char *name;
    int d = 0;
    if (json_string(value, &name, error) < 0)
        return -1;
    while (d < template->dimension_count &&
           !(template->dimensions[d].real && strcmp(template->dimensions[d].name, name) == 0))
        d++;
    if (d == template->dimension_count)
        return json_error(value, error, "there is no real dimension \"%s\"", name);
    argument->real = true;
    argument->expression = expression_parse(name, &template->space->symbols, error);
    return argument->expression != NULL ? 0 : -1;
}

static int load_argument(const struct template *template, const struct json *value,
                         struct argument *argument, struct error *error) {
    const char *name;
    struct json inner;
    *argument = (struct argument){.tensor = -1, .map = -1};
    if (cJSON_IsObject(value->value)) {
        if (json_check_keys(value, argument_keys, error) < 0)
            return -1;
        if (json_count(value) != 1)
            return json_error(value, error,
                              "must be {\"i32\": ...}, {\"i64\": ...} or {\"f32\": ...}");
        inner = json_at(value, 0);
        argument->size = 4;
        if (strcmp(json_key(&inner), "f32") == 0)
            return load_real_argument(template, &inner, argument, error);
        argument->size = strcmp(json_key(&inner), "i64") == 0 ? 8 : 4;
        return load_expression(template, &inner, &argument->expression, error);
    }
    if (json_string(value, &name, error) < 0)
        return -1;
    argument->tensor = find_tensor(template, name);
    argument->map = find_map(template, name);
    argument->size = argument->map >= 0 ? TENSOR_MAP_BYTES : 8;
    if (argument->tensor < 0 && argument->map < 0)
        return json_error(value, error, "there is no tensor or tensor map \"%s\"", name);
    return 0;
}

static int load_launch(const struct template *template, const struct json *value,
                       struct launch_list *list, struct error *error) {
    struct json member;
    if (list->count == LAUNCHES_MAX)
        return json_error(value, error, "more than %d launches", LAUNCHES_MAX);
    struct launch *launch = &list->launches[list->count++];
    if (json_check_keys(value, launch_keys, error) < 0 ||
        json_require(value, "kernel", &member, error) < 0 ||
        load_name(&member, launch->kernel, error) < 0 ||
        load_triple(template, value, "grid", launch->grid, error) < 0 ||
        load_triple(template, value, "block", launch->block, error) < 0 ||
        load_optional_expression(template, value, "smem", &launch->smem, error) < 0 ||
        load_optional_expression(template, value, "when", &launch->when, error) < 0 ||
        load_optional_expression(template, value, "early", &launch->early, error) < 0 ||
        load_optional_expression(template, value, "cooperative", &launch->cooperative, error) < 0 ||
        json_require(value, "arguments", &member, error) < 0 || json_is_array(&member, error) < 0)
        return -1;
    if (json_count(&member) > ARGUMENTS_MAX)
        return json_error(&member, error, "more than %d arguments", ARGUMENTS_MAX);
    for (int i = 0; i < json_count(&member); i++) {
        struct json argument = json_at(&member, i);
        launch->argument_count++;
        if (load_argument(template, &argument, &launch->arguments[i], error) < 0)
            return -1;
    }
    return 0;
}

static int load_launches(const struct template *template, const struct json *object,
                         struct launch_list *list, struct error *error) {
    struct json value;
    if (json_require(object, "launches", &value, error) < 0 || json_is_array(&value, error) < 0)
        return -1;
    if (json_count(&value) == 0)
        return json_error(&value, error, "must have at least one launch");
    for (int i = 0; i < json_count(&value); i++) {
        struct json launch = json_at(&value, i);
        if (load_launch(template, &launch, list, error) < 0)
            return -1;
    }
    return 0;
}

/* ---- options ---- */

static const char *const option_keys[] = {"option", "when", NULL};

static int load_options(struct template *template, const struct json *root, struct error *error) {
    struct json list;
    struct json text;
    if (!json_find(root, "options", &list))
        return 0;
    if (json_is_array(&list, error) < 0)
        return -1;
    if (json_count(&list) > OPTIONS_MAX)
        return json_error(&list, error, "more than %d options", OPTIONS_MAX);
    for (int i = 0; i < json_count(&list); i++) {
        struct json value = json_at(&list, i);
        struct option *option = &template->options[template->option_count++];
        if (json_check_keys(&value, option_keys, error) < 0 ||
            json_require(&value, "option", &text, error) < 0 ||
            load_name(&text, option->text, error) < 0 ||
            load_optional_expression(template, &value, "when", &option->when, error) < 0)
            return -1;
    }
    return 0;
}

/* ---- whole kernel ---- */

/* Reads the name of a file in the template's folder. */
static int load_file_name(const struct template *template, const struct json *value, char **name,
                          struct error *error) {
    const char *text;
    char path[PATH_SIZE];
    if (json_string(value, &text, error) < 0)
        return -1;
    if (*text == '\0' || *text == '.' || strchr(text, '/') != NULL)
        return json_error(value, error, "must name a file in the template's own folder");
    if (path_join(path, template->folder, text, error) < 0)
        return -1;
    if (!path_exists(path))
        return json_error(value, error, "there is no file %s", path);
    *name = xstrdup(text);
    return 0;
}

/* Reads "reference.c" (with a function NAME_reference), or { "source": ..., "function": ... }. */
static int load_cpu_reference(struct template *template, const struct json *value,
                              struct error *error) {
    static const char *const keys[] = {"source", "function", NULL};
    struct json source = *value;
    struct json function;
    const char *name = NULL;
    char own[2 * NAME_SIZE];
    if (cJSON_IsObject(value->value)) {
        if (json_check_keys(value, keys, error) < 0 ||
            json_require(value, "source", &source, error) < 0 ||
            json_require(value, "function", &function, error) < 0 ||
            json_string(&function, &name, error) < 0)
            return -1;
        if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
                strlen(name) ||
            *name == '\0' || isdigit((unsigned char)*name))
            return json_error(&function, error, "must be the name of a C function");
    } else {
        snprintf(own, sizeof own, "%s_reference", template->name);
        name = own;
    }
    if (load_file_name(template, &source, &template->cpu_reference, error) < 0)
        return -1;
    template->cpu_reference_function = xstrdup(name);
    return 0;
}

static const char *const program_keys[] = {"source", "launches", NULL};

int load_program(struct template *template, const struct json *root, const char *key, char **source,
                 struct launch_list *launches, struct error *error) {
    struct json value;
    struct json file;
    if (json_require(root, key, &value, error) < 0 ||
        json_check_keys(&value, program_keys, error) < 0 ||
        load_launches(template, &value, launches, error) < 0 ||
        json_require(&value, "source", &file, error) < 0)
        return -1;
    for (int i = 0; i < launches->count; i++)
        for (int k = 0; k < launches->launches[i].argument_count; k++)
            if (launches->launches[i].arguments[k].map >= 0)
                return json_error(&value, error, "takes tensors, not tensor maps");
    return load_file_name(template, &file, source, error);
}

static int load_maps(struct template *template, const struct json *root, struct error *error) {
    struct json maps;
    if (!json_find(root, "tensor_maps", &maps))
        return 0;
    if (json_is_object(&maps, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&maps); i++) {
        struct json map = json_at(&maps, i);
        if (load_map(template, &map, error) < 0)
            return -1;
    }
    return 0;
}

int load_kernel(struct template *template, const struct json *root, struct error *error) {
    struct json value;
    struct json source;
    if (json_require(root, "tensors", &value, error) < 0 || json_is_object(&value, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&value); i++) {
        struct json tensor = json_at(&value, i);
        if (load_tensor(template, &tensor, error) < 0)
            return -1;
    }
    if (load_maps(template, root, error) < 0 ||
        load_launches(template, root, &template->launches, error) < 0 ||
        load_options(template, root, error) < 0 ||
        json_require(root, "source", &source, error) < 0 ||
        load_file_name(template, &source, &template->source, error) < 0 ||
        load_program(template, root, "reference", &template->reference_source, &template->reference,
                     error) < 0 ||
        load_error_model(template, root, error) < 0 ||
        json_require(root, "operations", &value, error) < 0 ||
        load_expression(template, &value, &template->operations, error) < 0 ||
        json_require(root, "bytes", &value, error) < 0 ||
        load_expression(template, &value, &template->bytes, error) < 0)
        return -1;
    if (json_find(root, "cpu_reference", &value) && load_cpu_reference(template, &value, error) < 0)
        return -1;
    if (json_find(root, "architecture_variant", &value) &&
        json_bool(&value, &template->architecture_variant, error) < 0)
        return -1;
    return 0;
}

static void release_launches(struct launch_list *list) {
    for (int i = 0; i < list->count; i++) {
        struct launch *launch = &list->launches[i];
        for (int k = 0; k < 3; k++) {
            expression_free(launch->grid[k]);
            expression_free(launch->block[k]);
        }
        expression_free(launch->smem);
        expression_free(launch->when);
        expression_free(launch->early);
        expression_free(launch->cooperative);
        for (int k = 0; k < launch->argument_count; k++)
            expression_free(launch->arguments[k].expression);
    }
}

void release_kernel(struct template *template) {
    for (int i = 0; i < template->tensor_count; i++) {
        struct tensor *tensor = &template->tensors[i];
        for (int k = 0; k < tensor->rank; k++)
            expression_free(tensor->shape[k]);
        expression_free(tensor->dtype_when);
        expression_free(tensor->when);
    }
    for (int i = 0; i < template->map_count; i++) {
        struct tensor_map_spec *map = &template->maps[i];
        for (int k = 0; k < RANK_MAX; k++)
            expression_free(map->box[k]);
        expression_free(map->swizzle_when);
        expression_free(map->when);
    }
    release_launches(&template->launches);
    release_launches(&template->reference);
    release_launches(&template->plain);
    release_error_model(template);
    for (int i = 0; i < template->option_count; i++)
        expression_free(template->options[i].when);
    expression_free(template->operations);
    expression_free(template->bytes);
    free(template->source);
    free(template->reference_source);
    free(template->plain_source);
    free(template->cpu_reference);
    free(template->cpu_reference_function);
}
