/* kernels: all kernels of a module.
 *
 *     for (int i = 0; (kernel = kernel_at(harness.module, i)) != NULL; i++)
 */
#ifndef EVOTILE_TESTS_PTX_KERNELS_H
#define EVOTILE_TESTS_PTX_KERNELS_H

#include "ptx/program.h"

/* The index-th kernel of a module, or NULL past the last. */
static inline const struct ptx_kernel *kernel_at(const struct ptx_module *module, int index) {
    return index < module->kernel_count ? &module->kernels[index].info : NULL;
}

#endif
