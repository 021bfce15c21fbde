/*
 * nvrtc: compiles CUDA C++ in process with NVRTC.
 *
 * NVRTC is opened at run time (from $CUDA_HOME/lib64, the toolkit of the build, or the loader's
 * path), so the binary starts on a machine without it. One compilation gives both cubin and PTX.
 * NVRTC holds a process-wide lock: parallel compilation needs several processes. A source may
 * include the toolkit's headers, which are searched last.
 *
 * With a cache, a kernel that was compiled before, by any process, is read from a file.
 *
 *     struct nvrtc *nvrtc = nvrtc_open(&error);
 *     nvrtc_use_cache(nvrtc, &cache);
 *     if (nvrtc_compile(nvrtc, "kernel.cu", source, options, count, &image, reason, &error) == 0)
 *         nvrtc_image_release(&image);
 *     nvrtc_close(nvrtc);
 */
#ifndef EVOTILE_DEVICE_NVRTC_H
#define EVOTILE_DEVICE_NVRTC_H

#include "base/error.h"
#include "base/hash.h"
#include "base/resource_budget.h"
#include "device/device.h"

struct nvrtc;

/* A store of compiled kernels, addressed by the hash of all their inputs; either function may be
   NULL. `get` returns whether it has the image, and fills one that nvrtc_image_release frees. */
struct image_cache {
    bool (*get)(void *context, struct hash hash, struct device_image *image);
    void (*put)(void *context, struct hash hash, const struct device_image *image);
    void *context;
};

struct nvrtc *nvrtc_open(struct error *error);
void nvrtc_close(struct nvrtc *nvrtc);
/* Sets the cache; NULL: none, the default. The struct is copied; its context must outlive the
   nvrtc. */
void nvrtc_use_cache(struct nvrtc *nvrtc, const struct image_cache *cache);
/* Limits each compilation from now on (base/resource_budget.h): a source that needs more does not
   compile, if the compiler survives it. The default is no limit. */
void nvrtc_set_budget(struct nvrtc *nvrtc, const struct resource_budget *budget);
const struct image_cache *nvrtc_cache(const struct nvrtc *nvrtc);

/* The folders of the toolkit's headers, at most `limit` of them; returns their number. */
int nvrtc_header_folders(const struct nvrtc *nvrtc, const char **folders, int limit);

/* "13.0" */
const char *nvrtc_version(const struct nvrtc *nvrtc);
/* Returns whether this NVRTC can compile for sm_XX. */
bool nvrtc_supports(const struct nvrtc *nvrtc, int compute_capability);

/* A source, what it is called in messages, and all that its machine code depends on. */
struct nvrtc_program {
    const char *name, *source;
    const char *const *options;
    int option_count;
    const char *const *kernels; /* C++ name expressions, as `copy<float, 4>`, in which macros of the
                                   source stand for their values; each is compiled, and the image's
                                   `kernels` has its name. One line each */
    int kernel_count;
    char **log; /* not NULL: gets the compiler's whole log if the source does not compile, or NULL
                   without one; the caller frees it */
};

/* Compiles a program; `afresh`: without reading the cache, whose entry is replaced, for an entry
   that proved wrong. An option sm_XX gives cubin and PTX; compute_XX gives the same PTX and an
   empty cubin in two thirds of the time. On success the image owns its buffers (release it). If the
   source does not compile, has no kernel of a name expression, or gives more than 32 MB of machine
   code or PTX, returns 1 and writes the first error of the compiler's log, one line, to `reason` of
   REASON_SIZE bytes. Returns -1 with `error` if NVRTC itself failed. */
int nvrtc_compile_program(struct nvrtc *nvrtc, const struct nvrtc_program *program, bool afresh,
                          struct device_image *image, char *reason, struct error *error);
/* The same for a program whose kernels are extern "C". */
int nvrtc_compile(struct nvrtc *nvrtc, const char *name, const char *source,
                  const char *const *options, int option_count, struct device_image *image,
                  char *reason, struct error *error);
void nvrtc_image_release(struct device_image *image);

#endif
