/*
 * compile: the first half of a trial. A genome becomes source and machine code for each variant of
 * its goal's cases, through a cache addressed by everything that went in; so do our own programs
 * that it is judged with, whoever compiles them with compiler_nvrtc.
 *
 *     struct compiler *compiler = compiler_new(config, device_info, &cache, &error);
 *     enum verdict verdict = compiler_build(compiler, &request, images, &result, &error);
 *     compiler_free(compiler);
 *
 * It never touches a device: it runs in worker processes of its own.
 */
#ifndef EVOTILE_TRIAL_COMPILE_H
#define EVOTILE_TRIAL_COMPILE_H

#include "config/config.h"
#include "device/nvrtc.h"
#include "trial/trial.h"

struct compiler;

/* `config` and the cache's context outlive the compiler; no cache: NULL. */
struct compiler *compiler_new(const struct config *config, const struct device_info *device,
                              const struct image_cache *cache, struct error *error);
void compiler_free(struct compiler *compiler);

/* The goal's template, for those who need its geometry too. Loaded on first use; NULL with `error`.
 */
const struct template *compiler_template(struct compiler *compiler, int goal, struct error *error);
struct nvrtc *compiler_nvrtc(struct compiler *compiler);

/* One image a case that is the first of its variant (template_variant), at the case's index; the
   others stay empty. Returns 0 with images to release, 1 when the candidate failed (the result says
   why), -1 with `error`. Fills the result's key and, from the compiler's report, spills. Where the
   request names a source file for a variant, that one is compiled in place of the template's text.
 */
int compiler_build(struct compiler *compiler, const struct trial_request *request,
                   struct device_image images[CASES_MAX], struct trial_result *result,
                   struct error *error);
/* The same past the cache, whose entries are replaced: for a kernel that is not what its entry
   says. */
int compiler_build_anew(struct compiler *compiler, const struct trial_request *request,
                        struct device_image images[CASES_MAX], struct trial_result *result,
                        struct error *error);

#endif
