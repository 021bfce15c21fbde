/*
 * compile_cuda: CUDA C to PTX in a test, with the NVRTC of $CUDA_HOME (else /usr/local/cuda),
 * opened at run time. A test whose host has none is skipped: compile_cuda returns NULL with `log`
 * empty.
 *
 *     char log[4096];
 *     char *ptx = compile_cuda(source, "sm_89", log, sizeof log);
 *     free(ptx);
 *
 * The source's file is called kernel.cu, and lines are kept (-lineinfo).
 */
#ifndef EVOTILE_TESTS_DEVICE_PTX_COMPILE_CUDA_H
#define EVOTILE_TESTS_DEVICE_PTX_COMPILE_CUDA_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static inline void *compile_cuda_library(void) {
    const char *home = getenv("CUDA_HOME");
    const char *const folders[] = {home ? home : "/usr/local/cuda", "/usr/local/cuda"};
    char path[1024];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/lib64/libnvrtc.so", folders[i]);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    return dlopen("libnvrtc.so", RTLD_NOW | RTLD_LOCAL);
}

/* The PTX, to be freed; NULL with what the compiler said in `log`. ptxas's report is in `log` as
 * well. */
static inline char *compile_cuda(const char *source, const char *architecture, char *log,
                                 size_t log_bytes) {
    void *program = NULL;
    char *ptx = NULL, arch[32], include[1024];
    size_t size = 0;
    const char *home = getenv("CUDA_HOME");
    void *library = compile_cuda_library();
    log[0] = '\0';
    if (!library)
        return NULL;
    int (*create)(void **, const char *, const char *, int, const char *const *,
                  const char *const *) =
        (int (*)(void **, const char *, const char *, int, const char *const *,
                 const char *const *))dlsym(library, "nvrtcCreateProgram");
    int (*compile)(void *, int, const char *const *) =
        (int (*)(void *, int, const char *const *))dlsym(library, "nvrtcCompileProgram");
    int (*get_size)(void *, size_t *) =
        (int (*)(void *, size_t *))dlsym(library, "nvrtcGetPTXSize");
    int (*get)(void *, char *) = (int (*)(void *, char *))dlsym(library, "nvrtcGetPTX");
    int (*log_size)(void *, size_t *) =
        (int (*)(void *, size_t *))dlsym(library, "nvrtcGetProgramLogSize");
    int (*get_log)(void *, char *) = (int (*)(void *, char *))dlsym(library, "nvrtcGetProgramLog");
    int (*destroy)(void **) = (int (*)(void **))dlsym(library, "nvrtcDestroyProgram");
    snprintf(arch, sizeof arch, "-arch=%s", architecture);
    snprintf(include, sizeof include, "-I%s/include", home ? home : "/usr/local/cuda");
    const char *const options[] = {arch, "-lineinfo", "-std=c++17", include, "--ptxas-options=-v"};
    if (create(&program, source, "kernel.cu", 0, NULL, NULL))
        return NULL;
    int failed = compile(program, 5, options);
    if (!log_size(program, &size) && size <= log_bytes)
        get_log(program, log);
    if (!failed && !get_size(program, &size)) {
        ptx = malloc(size);
        get(program, ptx);
    }
    destroy(&program);
    return ptx;
}

#endif
