/*
 * export_code: compiles what `evotile export` writes: the kernel of a genome, and the programs that
 * the exported check runs beside it.
 *
 *     if (export_compile_genome(nvrtc, template, genome, case_index, &image, &error) < 0 ||
 *         export_compile_launches(nvrtc, template, &template->setup, &setup, &error) < 0)
 *         ...;
 *     nvrtc_image_release(&image);
 */
#ifndef EVOTILE_CLI_EXPORT_CODE_H
#define EVOTILE_CLI_EXPORT_CODE_H

#include "device/nvrtc.h"
#include "template/template.h"

/* The kernel with a genome, for the specialised dimensions of a case. */
int export_compile_genome(struct nvrtc *nvrtc, const struct template *template,
                          const struct genome *genome, int case_index, struct device_image *image,
                          struct error *error);
/* The template's reference or setup, for the names in machine code of kernels that are C++
   templates, which no option changes. `image` stays empty where there are none. */
int export_compile_launches(struct nvrtc *nvrtc, const struct template *template,
                            const struct launch_list *launches, struct device_image *image,
                            struct error *error);

#endif
