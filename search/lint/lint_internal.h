/*
 * lint_internal: the state of a lint and its checks, one file each. Private to lint/.
 *
 *     if (lint_check_references(lint, &agree, &error) < 0 ||
 *         lint_check_mutants(lint, 12, &error) < 0)
 *         return -1;
 *     lint_add(lint, "genes", "THREADS", LINT_FINE, "64 for 128 changes the launch");
 */
#ifndef EVOTILE_LINT_LINT_INTERNAL_H
#define EVOTILE_LINT_LINT_INTERNAL_H

#include "evaluate/evaluator.h"
#include "lint/lint.h"

struct lint {
    const struct config *config;
    int goal;
    struct device *device;
    struct evaluation_settings settings;
    struct compiler *compiler;
    struct evaluator *evaluator;
    const struct template *template;
    struct genome
        genome; /* that is judged: the default one or, if that is not valid, the nearest */
    struct lint_finding *findings;
    int count;
    struct lint_mutants mutants;
};

void lint_add(struct lint *lint, const char *check, const char *subject, enum lint_result result,
              const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Compiles a genome: 0 with images that lint_release_images frees; 1 with `reason`; -1. `lines`:
   its PTX names the lines of the template's own files. */
int lint_compile(struct lint *lint, const struct genome *genome, bool lines,
                 struct device_image images[CASES_MAX], char reason[REASON_SIZE],
                 struct error *error);
void lint_release_images(struct device_image images[CASES_MAX]);

/* `*agree`: whether the kernel can be judged. */
int lint_check_references(struct lint *lint, bool *agree, struct error *error);
int lint_check_tensors(struct lint *lint, struct error *error);
int lint_check_constraints(struct lint *lint, struct error *error);
int lint_check_values(struct lint *lint, struct error *error);
int lint_check_genes(struct lint *lint, struct error *error);
int lint_check_mutants(struct lint *lint, int mutants, struct error *error);

#endif
