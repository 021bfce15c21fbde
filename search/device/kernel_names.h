/*
 * kernel_names: what a launch calls a kernel, and what the machine code calls it. They are the same
 * for a kernel that is extern "C"; one that a C++ name expression denotes, as `copy<float, 4>`, has
 * a mangled name, which NVRTC gives for each expression (device/nvrtc.h).
 *
 *     char *names = kernel_names_copy("copy<float, 4>\n_Z4copyIfLi4EEvPT_\n");
 *     const char *entry = kernel_names_find(names, "copy<float, 4>");
 *     free(names);
 */
#ifndef EVOTILE_DEVICE_KERNEL_NAMES_H
#define EVOTILE_DEVICE_KERNEL_NAMES_H

#include <stdbool.h>

/* Whether a launch's kernel is an expression, not the name of a kernel that is extern "C". */
bool kernel_is_expression(const char *kernel);

/* The function that an expression names, without its namespaces and template arguments: `copy` of
   `space::copy<float, 4>`. The caller frees it. */
char *kernel_function(const char *kernel);

/* Copies an image's `kernels` for kernel_names_find. NULL for NULL. The caller frees it. */
char *kernel_names_copy(const char *kernels);

/* The machine code's name of a kernel that a launch names: the mangled one of an expression among
   `names`, which may be NULL, else `kernel` itself. It lives as long as both. */
const char *kernel_names_find(const char *names, const char *kernel);

#endif
