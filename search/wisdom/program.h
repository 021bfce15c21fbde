/*
 * program: the launcher of a kernel as data: what a wisdom file has in place of the C that `export`
 * writes (wisdom/evotile_wisdom.h has the format). A code is such a program with its machine code.
 *
 *     struct strbuf code = {0};
 *     struct program_source source = {.template = template, .genome = &genome, .case_index = 0};
 *     if (program_write(&source, &code, &error) < 0)
 *         ...;
 *     strbuf_release(&code);                                          // also after a failure
 *
 * Expressions are the template's own, with genes, specialised dimensions and device attributes as
 * numbers (export/constants.h). A derived quantity is computed once, before the first that reads
 * it.
 */
#ifndef EVOTILE_WISDOM_PROGRAM_H
#define EVOTILE_WISDOM_PROGRAM_H

#include "base/strbuf.h"
#include "template/template.h"

struct program_source {
    const struct template *template;
    const struct genome *genome;
    int case_index;      /* whose specialised dimensions are compiled in */
    const char *kernels; /* as in struct device_image; NULL: all are extern "C" */
    const void *cubin;
    size_t cubin_bytes;
};

/* Appends the code of a variant. */
int program_write(const struct program_source *source, struct strbuf *code, struct error *error);
/* Appends the code of a template: its names, the defaults of dimensions and their ranges. */
int program_write_template(const struct template *template, struct strbuf *code,
                           struct error *error);

#endif
