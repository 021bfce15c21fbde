/*
 * freeze: writes a champion as a folder that needs no evotile, and reads its manifest back.
 *
 * The folder holds the instantiated source (kernel.cu, kernel_2.cu ...), its machine code as it was
 * timed (kernel.cubin; as C in kernel_cubin.c), a C launcher of that machine code (NAME.h, NAME.c),
 * check.c with its cases.h and the CPU reference, a Makefile that wants nothing but nvcc,
 * manifest.json, and template/, a copy of the template that `replay` judges the kernel by. The
 * source is there to be read, to be judged again, and to be compiled for other GPUs: nvcc makes
 * other machine code of it than NVRTC does, once measured 9 % slower.
 *
 * A *unit* is one compilation: a genome for one variant (template_variant). A joint champion has a
 * unit a variant; with `objective: per_case` each case brings its own genome, and the launcher
 * chooses: the unit that was tuned for the very shape, else, of the units with the same specialised
 * dimensions that admit the shape, the one tuned for the case nearest in operations.
 *
 *     struct freeze_request request = {.template = template, .setting = &setting, .name = NULL,
 *                                      .case_count = n, .units = units, .cases = cases};
 *     request.unit_count = freeze_divide(template, genomes, units, cases);
 *     ... compile each unit (template_source, template_options); give each its cubin and key,
 *     ... and each case its outcome
 *     if (freeze_write(&request, "kernels/rows_l4", &error) < 0) ...
 *
 *     struct manifest manifest;
 *     if (manifest_read(&manifest, "kernels/rows_l4", &error) < 0) ...
 *     manifest_release(&manifest);
 *
 * It compiles nothing and touches no device. What it prints of a template are the template's own
 * expressions, with genes, specialised dimensions and device attributes put in as constants.
 */
#ifndef EVOTILE_FREEZE_FREEZE_H
#define EVOTILE_FREEZE_FREEZE_H

#include "outcome/key.h"
#include "outcome/outcome.h"
#include "template/template.h"

/* ---- writing ---- */

struct frozen_unit {
    const struct genome *genome;
    int case_index;    /* the first case that it serves */
    const void *cubin; /* as NVRTC gave it; the caller's */
    size_t cubin_bytes;
    const struct key *key; /* of the trial that measured this genome, every part set */
    struct resources resources;
};

struct frozen_case {
    int unit;
    const struct case_outcome *outcome; /* its verified, timed outcome */
    double ratio_to_default;            /* p50 of the default genome / p50; 0: not known */
    double ratio_to_baseline;           /* p50 of the baseline / p50; 0: not known */
};

struct freeze_request {
    const struct template *template;
    const struct template_setting *setting; /* that the template was loaded for */
    const char *name; /* a C identifier: the functions' prefix. NULL: from the folder's name */
    int unit_count;
    const struct frozen_unit *units;
    const struct frozen_case *cases; /* one for each of the template's cases, in their order */
    bool predicted;                  /* the latencies are predictions */
    double score_us;                 /* as in struct outcome; 0: none over all cases */
    const char *baseline;            /* its name; NULL: none */
    const char *replay;              /* the command that judges the folder again */
    bool force;                      /* replace an older export of that name */
};

/* Divides cases into units. `genomes` has a genome for each of the template's cases (the same
   pointer, or equal genomes, where they share one). Fills `units` (genome and case_index; room for
   as many as cases) and the unit of each of `cases`; returns the number of units. */
int freeze_divide(const struct template *template, const struct genome *const *genomes,
                  struct frozen_unit *units, struct frozen_case *cases);

/* Writes the folder: first whole beside `folder`, then renamed into place. Without `force` nothing
   that exists is replaced; with it, only an earlier export is (a folder with a manifest.json). On
   failure what was there stays as it was, and nothing is left behind. */
int freeze_write(const struct freeze_request *request, const char *folder, struct error *error);

/* ---- reading ---- */

enum { MANIFEST_FORMAT = 1 };

/* Strings belong to the document. */
struct manifest_unit {
    const char *source, *cubin; /* file names */
    const char *genome;         /* canonical text: genome_parse */
    struct key key;
};

struct manifest_case {
    struct json shape; /* an object of dimensions: template_read_shape */
    int unit;
    double p10_us, p50_us, p90_us;
    double ratio_to_default, ratio_to_baseline; /* 0: not known */
};

struct manifest {
    struct json_document document;
    const char *name, *template_name;
    struct hash template_hash;
    char template_folder[PATH_SIZE]; /* the copy inside the export, for template_load */
    const char *device, *baseline;   /* the device's name; NULL: no baseline */
    int smem_limit;
    bool predicted;
    double score_us;
    int unit_count, case_count;
    struct manifest_unit units[CASES_MAX];
    struct manifest_case cases[CASES_MAX];
};

/* Reads FOLDER/manifest.json. Every error is one line with file, line and path. The manifest must
   be released only after success. It does not compare the listed files' hashes: manifest_verify. */
int manifest_read(struct manifest *manifest, const char *folder, struct error *error);
void manifest_release(struct manifest *manifest);

/* Whether every listed file still has its recorded hash: 0, or the number of those that differ or
   are missing, the first of which is named in `first` (of PATH_SIZE bytes). */
int manifest_verify(const struct manifest *manifest, const char *folder, char *first);

#endif
