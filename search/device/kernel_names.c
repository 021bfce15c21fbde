#include "device/kernel_names.h"

#include "base/memory.h"

#include <ctype.h>
#include <string.h>

bool kernel_is_expression(const char *kernel) {
    while (isalnum((unsigned char)*kernel) || *kernel == '_')
        kernel++;
    return *kernel != '\0';
}

char *kernel_function(const char *kernel) {
    const char *start = kernel;
    size_t length = strcspn(kernel, "<( ");
    for (const char *at = kernel; at < kernel + length; at++)
        start = *at == ':' ? at + 1 : start;
    return xstrndup(start, (size_t)(kernel + length - start));
}

/* Every line ends in a zero in the copy, and an empty line follows the last. */
char *kernel_names_copy(const char *kernels) {
    if (kernels == NULL)
        return NULL;
    size_t length = strlen(kernels);
    char *names = xcalloc(1, length + 2);
    for (size_t i = 0; i < length; i++)
        names[i] = kernels[i] == '\n' ? '\0' : kernels[i];
    return names;
}

const char *kernel_names_find(const char *names, const char *kernel) {
    for (const char *expression = names; expression != NULL && *expression != '\0';) {
        const char *name = expression + strlen(expression) + 1;
        if (strcmp(expression, kernel) == 0)
            return name;
        expression = name + strlen(name) + 1;
    }
    return kernel;
}
