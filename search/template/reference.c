/* Reads who judges a candidate: the reference; the plain kernel, or what stands in for it; and the
   reference on the CPU. */
#include "template/load.h"

#include "base/memory.h"

#include <ctype.h>
#include <string.h>

/* reference_runner.py.in, embedded by the Makefile */
extern const char _binary_search_template_reference_runner_py_in_start[];
extern const char _binary_search_template_reference_runner_py_in_end[];

/* The first import of a framework from a cold disk is slow. */
static const double program_limit_s = 120;

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
    if (load_file_name(template->folder, &source, &template->cpu_reference, error) < 0)
        return -1;
    template->cpu_reference_function = xstrdup(name);
    return 0;
}

/* Whether `real` as a float loses what the reference computes: floats do not hold every whole
   number of 32 bits, nor a double. */
static bool is_wider_than_float(enum dtype dtype) {
    return dtype == DTYPE_F64 || dtype == DTYPE_I32 || dtype == DTYPE_U32;
}

static enum plain_kind derived_plain(const struct template *template) {
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        if (tensor->role == ROLE_OUTPUT &&
            (is_wider_than_float(tensor->dtype) ||
             (tensor->dtype_when != NULL && is_wider_than_float(tensor->other_dtype))))
            return PLAIN_NONE;
    }
    return template->real ? PLAIN_REAL : PLAIN_NONE;
}

/* Reads { "source": "reference.cu", "real": true, "launches": [...] }. */
static int load_reference_kernel(struct template *template, const struct json *root,
                                 const struct json *value, struct error *error) {
    static const char *const keys[] = {"source", "launches", "real", NULL};
    struct json real;
    if (json_check_keys(value, keys, error) < 0)
        return -1;
    if (json_find(value, "real", &real) && json_bool(&real, &template->real, error) < 0)
        return -1;
    return load_program(template, root, "reference", &template->reference_source,
                        &template->reference, error);
}

/* Without "plain", one is derived from a reference in `real`, or there is none. */
static int load_plain(struct template *template, const struct json *root, struct error *error) {
    static const char *const keys[] = {"source", "launches", NULL};
    struct json value;
    if (json_find(root, "plain", &value))
        return json_check_keys(&value, keys, error) < 0
                   ? -1
                   : load_program(template, root, "plain", &template->plain_source,
                                  &template->plain, error);
    template->plain_kind = derived_plain(template);
    if (template->plain_kind == PLAIN_REAL) {
        template->plain = template->reference;
        template->plain_source = xstrdup(template->reference_source);
    }
    return 0;
}

/* Reads { "python": "reference.py" }: the file's function is called by a text of evotile's. */
static int load_python(struct template *template, const struct json *value, struct error *error) {
    static const char *const keys[] = {"python", "limit_s", NULL};
    struct baseline_command *command = &template->reference_program;
    struct json file, limit;
    char path[PATH_SIZE];
    if (json_check_keys(value, keys, error) < 0 ||
        json_require(value, "python", &file, error) < 0 ||
        load_file_name(template->folder, &file, &template->reference_python, error) < 0 ||
        path_join(path, template->folder, template->reference_python, error) < 0)
        return -1;
    command->limit_s = program_limit_s;
    command->words[0] = xstrdup("python3");
    command->words[1] = xstrdup("-c");
    command->words[2] = xstrndup(_binary_search_template_reference_runner_py_in_start,
                                 (size_t)(_binary_search_template_reference_runner_py_in_end -
                                          _binary_search_template_reference_runner_py_in_start));
    command->words[3] = xstrdup(path);
    command->count = 4;
    return json_find(value, "limit_s", &limit) ? baseline_command_read_limit(command, &limit, error)
                                               : 0;
}

static int load_reference_program(struct template *template, const struct json *value,
                                  struct error *error) {
    struct json command;
    template->reference_kind = REFERENCE_PROGRAM;
    return json_find(value, "command", &command)
               ? baseline_command_read(&template->reference_program, value, template, error)
               : load_python(template, value, error);
}

/* What the default genome cannot be asked for. */
static int check_default_genome(const struct template *template, const struct json *root,
                                const struct json *value, struct error *error) {
    struct json atomics;
    bool differ = false;
    if (json_find(root, "float_atomics", &atomics) && json_bool(&atomics, &differ, error) < 0)
        return -1;
    if (differ)
        return json_error(value, error,
                          "a default genome with \"float_atomics\" gives another result each time: "
                          "write a reference");
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role == ROLE_MAGNITUDE)
            return json_error(value, error,
                              "a genome writes no magnitudes, but \"%s\" is declared: give a "
                              "\"tolerance\", or write a reference",
                              template->tensors[t].name);
    return 0;
}

/* Reads "reference": a kernel, or the words "default genome". */
static int load_reference(struct template *template, const struct json *root,
                          const struct json *value, struct error *error) {
    struct json member;
    if (cJSON_IsObject(value->value) &&
        (json_find(value, "python", &member) || json_find(value, "command", &member)))
        return check_array_names(template, value, error) < 0
                   ? -1
                   : load_reference_program(template, value, error);
    if (cJSON_IsObject(value->value) && json_find(value, "answers", &member)) {
        static const char *const keys[] = {"answers", NULL};
        return json_check_keys(value, keys, error) < 0 ||
                       check_array_names(template, value, error) < 0
                   ? -1
                   : load_answers(template, root, &member, error);
    }
    if (cJSON_IsObject(value->value))
        return load_reference_kernel(template, root, value, error);
    if (!cJSON_IsString(value->value) || strcmp(value->value->valuestring, "default genome") != 0)
        return json_error(value, error,
                          "must be an object with \"source\" and \"launches\", or with "
                          "\"python\" or \"answers\", or \"default genome\"");
    if (is_split(template))
        return json_error(value, error,
                          "would let a solution judge itself: write a reference, or keep problem "
                          "and solution in one template.json");
    template->reference_kind = REFERENCE_DEFAULT_GENOME;
    return check_default_genome(template, root, value, error);
}

int load_references(struct template *template, const struct json *root, struct error *error) {
    struct json value;
    if (json_require(root, "reference", &value, error) < 0 ||
        load_reference(template, root, &value, error) < 0 || load_plain(template, root, error) < 0)
        return -1;
    if (json_find(root, "cpu_reference", &value) &&
        template->reference_kind == REFERENCE_DEFAULT_GENOME)
        return json_error(
            &value, error,
            "says what is correct, and \"reference\" takes the default genome: write the "
            "reference in CUDA as well, or remove this key");
    if (json_find(root, "cpu_reference", &value) && load_cpu_reference(template, &value, error) < 0)
        return -1;
    return template->real ? check_real_source(template, template->cpu_reference == NULL, error) : 0;
}
