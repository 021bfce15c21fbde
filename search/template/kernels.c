/* The kernels that launches name: plain names, and C++ name expressions, which are compiled with
   the source. */
#include "template/load.h"

#include "device/kernel_names.h"

#include <ctype.h>
#include <string.h>

/* Letters that an expression may have besides those of names. The compiler gets it as one line of a
   file, so that nothing may start another line, a comment or a literal. */
static const char expression_letters[] = ":<>, ()+-*%&|!=~^?.";

/* A < may also compare, so that only round brackets are counted. */
static bool has_paired_brackets(const char *text) {
    int depth = 0;
    for (; *text != '\0' && depth >= 0; text++)
        depth += (*text == '(') - (*text == ')');
    return depth == 0;
}

int load_kernel_name(const struct json *launch, char kernel[KERNEL_NAME_SIZE],
                     struct error *error) {
    struct json value;
    if (json_copy_text(launch, "kernel", kernel, KERNEL_NAME_SIZE, error) < 0)
        return -1;
    json_find(launch, "kernel", &value);
    for (const char *at = kernel; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && *at != '_' && strchr(expression_letters, *at) == NULL)
            return json_error(&value, error,
                              "'%.*s' is part of no kernel's name: write the name of a kernel that "
                              "is extern \"C\", or a C++ name expression such as copy<float, TILE>",
                              *at == '\n' || *at == '\t' ? 2 : 1,
                              *at == '\n'   ? "\\n"
                              : *at == '\t' ? "\\t"
                                            : at);
    if (!kernel_is_expression(kernel)) {
        if (*kernel == '\0' || isdigit((unsigned char)*kernel))
            return json_error(&value, error, "\"%s\" is no name of a kernel", kernel);
        return strlen(kernel) < NAME_SIZE
                   ? 0
                   : json_error(&value, error, "a kernel's name has at most %d letters",
                                NAME_SIZE - 1);
    }
    if ((!isalpha((unsigned char)*kernel) && *kernel != '_' && *kernel != ':') ||
        !has_paired_brackets(kernel))
        return json_error(&value, error,
                          "is no C++ name expression: write one such as copy<float, TILE>, "
                          "space::copy<4> or ::copy");
    return 0;
}

static void add_kernel(struct kernel_list *list, const char *kernel) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->items[i], kernel) == 0)
            return;
    if (kernel_is_expression(kernel))
        list->items[list->count++] = kernel;
}

void launch_list_kernels(const struct launch_list *launches, struct kernel_list *list) {
    *list = (struct kernel_list){0};
    for (int i = 0; i < launches->count; i++)
        add_kernel(list, launches->launches[i].kernel);
}

/* What is the same in all calls of a variant's code: all but run-time dimensions, ROUND, derived
   quantities that read them, and strides, which a caller of an exported kernel may give. */
static struct slots find_constants(const struct template *template) {
    const struct space *space = template->space;
    struct slots constants, changing = {0};
    memset(&constants, 0xff, sizeof constants);
    for (int d = 0; d < template->dimension_count; d++)
        slots_put(&changing, space->dimensions[d], !template->dimensions[d].specialised);
    if (template->round_slot > 0)
        slots_add(&changing, template->round_slot);
    for (int t = 0; t < template->tensor_count; t++)
        for (int i = 0; template->tensors[t].strided && i < template->tensors[t].rank - 1; i++)
            slots_add(&changing, template->tensors[t].strides[i]);
    for (int i = 0; i < space->derived_count; i++)
        if (slots_meet(expression_reads(space->derived[i].expression), &changing))
            slots_add(&changing, space->derived[i].slot);
    for (int word = 0; word < SLOTS_MAX / 64; word++)
        constants.words[word] &= ~changing.words[word];
    return constants;
}

int template_kernels(const struct template *template, const struct genome *genome, int variant,
                     struct kernel_list *list, struct error *error) {
    const struct slots constants = find_constants(template);
    int64_t values[SLOTS_MAX];
    *list = (struct kernel_list){0};
    if (space_values(template->space, genome, variant, values, error) < 0)
        return error_prefix(error, "%s", template->document.file);
    for (int i = 0; i < template->launches.count; i++) {
        const struct launch *launch = &template->launches.launches[i];
        int64_t holds = 1;
        if (launch->when == NULL || !expression_decide(launch->when, &constants, values, &holds) ||
            holds != 0)
            add_kernel(list, launch->kernel);
    }
    return 0;
}
