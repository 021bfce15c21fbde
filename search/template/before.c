/* Reads what a caller provides before every call besides plain inputs: what an output holds, its
   own input ("inout", "before": "random") or zeros ("before": "zero"), and inputs that the kernel
   reads as a variable of its module ("symbol"). */
#include "template/load.h"

#include <string.h>

bool template_prepares_calls(const struct template *template) {
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].before != BEFORE_ANYTHING)
            return true;
    return false;
}

bool template_has_symbols(const struct template *template) {
    for (int t = 0; t < template->tensor_count; t++)
        if (template_is_symbol(template, t))
            return true;
    return false;
}

bool template_is_symbol(const struct template *template, int tensor) {
    return template_symbol(template, &template->launches, tensor) != NULL ||
           template_symbol(template, &template->reference, tensor) != NULL ||
           template_symbol(template, &template->plain, tensor) != NULL;
}

const char *template_symbol(const struct template *template, const struct launch_list *list,
                            int tensor) {
    const char *symbol = list == &template->launches ? template->tensors[tensor].kernel_symbol
                                                     : template->tensors[tensor].symbol;
    return *symbol != '\0' && list->count > 0 && !is_launch_argument(list, tensor) ? symbol : NULL;
}

const char *template_array_name(const struct template *template, int tensor,
                                char name[ARRAY_NAME_SIZE]) {
    int output = 0;
    if (!template->tensors[tensor].of_output)
        return template->tensors[tensor].name;
    while (template->tensors[output].before != tensor)
        output++;
    snprintf(name, ARRAY_NAME_SIZE, "%s_before", template->tensors[output].name);
    return name;
}

int check_array_names(const struct template *template, const struct json *value,
                      struct error *error) {
    char name[ARRAY_NAME_SIZE];
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].of_output &&
            find_tensor(template, template_array_name(template, t, name)) >= 0)
            return json_error(value, error,
                              "gets under the name \"%s\" what an output holds before a call: "
                              "rename the tensor %s",
                              name, name);
    return 0;
}

/* Counts the outputs that are prepared, or the inputs that are variables. */
static int check_count(const struct template *template, const struct json *value, bool variables,
                       struct error *error) {
    int count = 0;
    for (int t = 0; t < template->tensor_count; t++)
        count += variables ? template->tensors[t].symbol[0] != '\0' ||
                                 template->tensors[t].kernel_symbol[0] != '\0'
                           : template->tensors[t].before != BEFORE_ANYTHING;
    if (count <= PREPARED_MAX)
        return 0;
    return json_error(value, error, "more than %d %s", PREPARED_MAX,
                      variables ? "inputs that are variables"
                                : "outputs that hold something before a call");
}

/* Adds the input that holds what an output holds before every call. */
static int add_contents(struct template *template, const struct json *value, struct tensor *output,
                        struct error *error) {
    if (template->tensor_count == TENSORS_MAX)
        return json_error(value, error,
                          "more than %d tensors: one that is read and written counts twice",
                          TENSORS_MAX);
    output->before = template->tensor_count;
    struct tensor *contents = &template->tensors[template->tensor_count++];
    *contents = *output;
    snprintf(contents->name, NAME_SIZE, "%.*s before a call", NAME_SIZE - 15, output->name);
    contents->role = ROLE_INPUT;
    contents->of_output = true;
    contents->before = BEFORE_ANYTHING;
    contents->coarse = false;
    contents->tolerance = (struct tolerance){.matched = 1, .magnitude = -1};
    output->fill = (struct declared_fill){.fill = FILL_NORMAL, .numbers = {1}};
    return 0;
}

static int load_symbol(const struct template *template, const struct json *value,
                       const struct tensor *tensor, char symbol[NAME_SIZE], struct error *error) {
    const char *name;
    if (json_string(value, &name, error) < 0)
        return -1;
    if (!load_is_identifier(name) || strlen(name) >= NAME_SIZE)
        return json_error(value, error,
                          "must be the name of a __constant__ or __device__ variable that is in no "
                          "namespace");
    if (tensor->role != ROLE_INPUT)
        return json_error(value, error, "only an input can be a variable of the kernel's module");
    if (tensor->strided)
        return json_error(value, error, "%s has strides: a variable is packed", tensor->name);
    snprintf(symbol, NAME_SIZE, "%s", name);
    return check_count(template, value, true, error);
}

static int load_contents(struct template *template, const struct json *value, struct tensor *tensor,
                         struct error *error) {
    struct json role, before;
    const char *word;
    if (json_require(value, "role", &role, error) < 0 || json_string(&role, &word, error) < 0)
        return -1;
    const bool inout = strcmp(word, "inout") == 0;
    if (!json_find(value, "before", &before))
        return inout ? add_contents(template, value, tensor, error) : 0;
    if (json_string(&before, &word, error) < 0)
        return -1;
    if (tensor->role == ROLE_WORKSPACE)
        return json_error(&before, error,
                          "no caller fills a workspace: \"clear\": true zeroes it, as part of the "
                          "timed call");
    if (inout || tensor->role != ROLE_OUTPUT)
        return json_error(&before, error, "only an output has it: %s holds its input before a call",
                          tensor->name);
    if (strcmp(word, "random") == 0)
        return add_contents(template, value, tensor, error);
    if (strcmp(word, "zero") != 0)
        return json_error(&before, error, "must be \"zero\" or \"random\"");
    tensor->before = BEFORE_ZEROS;
    return check_count(template, &before, false, error);
}

static int load_one(struct template *template, const struct json *value, struct error *error) {
    struct json fill, symbol;
    struct tensor *tensor = &template->tensors[find_tensor(template, json_key(value))];
    if (json_find(value, "symbol", &symbol) &&
        load_symbol(template, &symbol, tensor, tensor->symbol, error) < 0)
        return -1;
    strcpy(tensor->kernel_symbol, tensor->symbol);
    if (load_contents(template, value, tensor, error) < 0)
        return -1;
    /* The fill of what is read and written is that of its contents by now. */
    return tensor->role == ROLE_OUTPUT && tensor->fill.fill != FILL_NORMAL &&
                   json_find(value, "fill", &fill)
               ? json_error(&fill, error,
                            "an output that holds nothing before a call is not filled: its role "
                            "must be \"inout\", or its \"before\" \"random\"")
               : 0;
}

/* Reads an entry of a solution's "symbols": its kernel takes this input as a variable. */
static int load_kernel_symbol(struct template *template, const struct json *value,
                              struct error *error) {
    int tensor = find_tensor(template, json_key(value));
    if (tensor < 0)
        return json_error(value, error, "there is no tensor \"%s\"", json_key(value));
    template->tensors[tensor].solution_symbol = true;
    return load_symbol(template, value, &template->tensors[tensor],
                       template->tensors[tensor].kernel_symbol, error);
}

const struct section symbol_sections[] = {
    {"symbols", load_kernel_symbol, .object = true},
    {0},
};

const struct section before_sections[] = {
    {"tensors", load_one, .object = true},
    {0},
};

int load_before_argument(const struct template *template, const struct json *value, bool of_kernel,
                         struct argument *argument, struct error *error) {
    const char *name;
    if (json_string(value, &name, error) < 0)
        return -1;
    int output = find_tensor(template, name);
    if (output < 0 || template->tensors[output].before <= 0)
        return json_error(value, error,
                          "there is no tensor \"%s\" that is read and written: its \"role\" must "
                          "be \"inout\", or its \"before\" \"random\"",
                          name);
    if (of_kernel)
        return json_error(value, error,
                          "the kernel finds it in %s itself: pass \"%s\"; only the reference and "
                          "the plain kernel take it apart from their output",
                          name, name);
    argument->tensor = template->tensors[output].before;
    argument->size = 8;
    return 0;
}
