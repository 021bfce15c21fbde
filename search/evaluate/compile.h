/*
 * compile: the first half of a trial: turns a genome into source and machine code for each variant
 * of its goal's cases, through a cache keyed by all compilation inputs. compiler_nvrtc gives access
 * to the same cache for evotile's own kernels.
 *
 *     struct compiler *compiler = compiler_new(&settings, &device_info, &cache, &error);
 *     int status = compiler_build(compiler, &request, images, &result, &error);
 *     compiler_free(compiler);
 *
 * It never uses a device: it runs in compile worker processes.
 */
#ifndef EVOTILE_EVALUATE_COMPILE_H
#define EVOTILE_EVALUATE_COMPILE_H

#include "device/nvrtc.h"
#include "evaluate/settings.h"
#include "evaluate/trial.h"

struct compiler;

/* `settings` and the cache's context must outlive the compiler. `cache` may be NULL. */
struct compiler *compiler_new(const struct evaluation_settings *settings,
                              const struct device_info *device, const struct image_cache *cache,
                              struct error *error);
void compiler_free(struct compiler *compiler);

/* The goal's template, loaded on first use; NULL with `error`. */
const struct template *compiler_template(struct compiler *compiler, int goal, struct error *error);
struct nvrtc *compiler_nvrtc(struct compiler *compiler);

/* Compiles and loads kernels that are not a candidate's: what `launches` name, or, if these are
   NULL, kernels that are extern "C". Returns 1, with NVRTC's message in `reason`, if the source
   does not compile. */
int load_kernels(struct device *device, struct nvrtc *nvrtc, const char *name, const char *source,
                 const struct launch_list *launches, struct device_module **module,
                 char reason[REASON_SIZE], struct error *error);

/* Compiles one image per variant (template_variant), at the index of the variant's first case;
   the other entries stay empty. Returns 0 with images to release, 1 when the candidate failed
   (the result says why), -1 with `error`. Sets the result's key and, from the compiler's report,
   its spills. If the request names a source file for a variant, that file is compiled in place
   of the template's source. */
int compiler_build(struct compiler *compiler, const struct trial_request *request,
                   struct device_image images[CASES_MAX], struct trial_result *result,
                   struct error *error);
/* For images that another process built from the same request: checks the genome and sets the key
   and the spills, as compiler_build does, and compiles nothing. Releases the images unless it
   returns 0. */
int compiler_adopt(struct compiler *compiler, const struct trial_request *request,
                   struct device_image images[CASES_MAX], struct trial_result *result,
                   struct error *error);
/* compiler_build without reading the cache; replaces the cache entries. For a kernel that does not
   match its entry. */
int compiler_rebuild(struct compiler *compiler, const struct trial_request *request,
                     struct device_image images[CASES_MAX], struct trial_result *result,
                     struct error *error);

#endif
