/*
 * nvrtc: CUDA C++ text to machine code, inside our own process.
 *
 * NVRTC is opened at run time (from $CUDA_HOME/lib64, the toolkit we were built with, or the
 * loader's path), so the binary starts on a machine that has none. One compilation gives both the
 * cubin and the PTX. NVRTC holds one lock a process: parallel compilation needs several processes.
 * A source may include the toolkit's headers, which are looked for last, where the toolkit is.
 *
 * It goes through a cache where it was given one: what was compiled once, by whomever, costs the
 * reading of a file.
 *
 *     struct nvrtc *nvrtc = nvrtc_open(&error);
 *     nvrtc_use_cache(nvrtc, &cache);
 *     if (nvrtc_compile(nvrtc, "kernel.cu", source, options, count, &image, &error) == 0) ...
 *     nvrtc_image_release(&image);
 *     nvrtc_close(nvrtc);
 */
#ifndef EVOTILE_DEVICE_NVRTC_H
#define EVOTILE_DEVICE_NVRTC_H

#include "base/error.h"
#include "base/hash.h"
#include "device/device.h"

struct nvrtc;

/* Where compiled kernels are kept, addressed by all that they are made from; any of the functions
   may be NULL. `get` fills an image that nvrtc_image_release frees, and says whether it had it. */
struct image_cache {
    bool (*get)(void *context, struct hash hash, struct device_image *image);
    void (*put)(void *context, struct hash hash, const struct device_image *image);
    void *context;
};

struct nvrtc *nvrtc_open(struct error *error);
void nvrtc_close(struct nvrtc *nvrtc);
/* From now on. NULL: none, as at first. It is copied; its context outlives the nvrtc. */
void nvrtc_use_cache(struct nvrtc *nvrtc, const struct image_cache *cache);
const struct image_cache *nvrtc_cache(const struct nvrtc *nvrtc);

/* "13.0" */
const char *nvrtc_version(const struct nvrtc *nvrtc);
/* Whether this NVRTC can compile for sm_XX. */
bool nvrtc_supports(const struct nvrtc *nvrtc, int compute_capability);

/* Compiles `source`. For sm_XX, cubin and PTX; for compute_XX the same PTX and an empty cubin, in
   two thirds of the time. On success the image owns its buffers (release it). When the source does
   not compile, returns 1 and puts the first error of the compiler's log, one line, into `reason` of
   REASON_SIZE bytes; -1 with `error` when NVRTC itself failed. */
int nvrtc_compile(struct nvrtc *nvrtc, const char *name, const char *source,
                  const char *const *options, int option_count, struct device_image *image,
                  char *reason, struct error *error);
/* The same past the cache, whose entry is replaced: for a kernel that is not what its entry says.
 */
int nvrtc_compile_anew(struct nvrtc *nvrtc, const char *name, const char *source,
                       const char *const *options, int option_count, struct device_image *image,
                       char *reason, struct error *error);
void nvrtc_image_release(struct device_image *image);

#endif
