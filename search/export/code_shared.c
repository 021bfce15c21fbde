/* What the functions of a file share: how it launches kernels, and its integer functions. */
#include "base/memory.h"
#include "export/code.h"

#include <string.h>

static bool copies_variables(const struct template *template, const struct launch_list *launches) {
    for (int t = 0; t < template->tensor_count; t++)
        if (template_symbol(template, launches, t) != NULL)
            return true;
    return false;
}

static int add_launching(const struct export *export, bool maps, bool variables, cJSON *values,
                         struct error *error) {
    struct strbuf text = {0};
    char architecture[NAME_SIZE];
    if (export_architecture(export, architecture, error) < 0)
        return -1;
    cJSON *own = embedded_values(export);
    cJSON_AddStringToObject(own, "architecture", architecture);
    cJSON_AddBoolToObject(own, "maps", maps);
    cJSON_AddBoolToObject(own, "variables", variables);
    embedded_fill(EMBEDDED_LAUNCH, own, &text);
    embedded_add_text(values, "launching", &text);
    return 0;
}

int code_add_launching(const struct export *export, const struct launch_list *launches, bool maps,
                       cJSON *values, struct error *error) {
    return add_launching(export, maps, copies_variables(export->template, launches), values, error);
}

int code_add_kernel_launching(const struct export *export, cJSON *values, struct error *error) {
    bool maps = false, variables = false;
    for (int s = 0; s < export->solution_count; s++) {
        const struct template *template = export->solutions[s];
        maps = maps || template->map_count > 0;
        variables = variables || copies_variables(template, &template->launches);
    }
    cJSON_AddBoolToObject(values, "maps", maps);
    return add_launching(export, maps, variables, values, error);
}

void code_add_arithmetic(const char *code, cJSON *values) {
    static const char *const calls[] = {INT_FUNCTION_PREFIX "min(", INT_FUNCTION_PREFIX "max(",
                                        INT_FUNCTION_PREFIX "ceil_div(",
                                        INT_FUNCTION_PREFIX "log2("};
    size_t length = expression_print_functions(INT_FUNCTION_PREFIX, NULL, 0);
    bool called = false;
    struct strbuf text = {0};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        called = called || strstr(code, calls[i]) != NULL;
    if (called) {
        char *functions = xmalloc(length + 1);
        expression_print_functions(INT_FUNCTION_PREFIX, functions, length + 1);
        strbuf_print(&text, "%s\n", functions);
        free(functions);
    }
    embedded_add_text(values, "arithmetic", &text);
}
