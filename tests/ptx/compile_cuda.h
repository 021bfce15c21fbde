/*
 * compile_cuda: compiles CUDA C to PTX in a test, with the NVRTC that evotile finds
 * (device/nvrtc.h). If the host has none, compile_cuda returns NULL with an empty `log`, and the
 * test is skipped.
 *
 *     char log[4096];
 *     char *ptx = compile_cuda(source, "sm_89", log, sizeof log);
 *     free(ptx);
 *
 * The source's file is named kernel.cu and compiled with -lineinfo. It may include files of the
 * repository, relative to its root.
 */
#ifndef EVOTILE_TESTS_DEVICE_PTX_COMPILE_CUDA_H
#define EVOTILE_TESTS_DEVICE_PTX_COMPILE_CUDA_H

#include "device/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>

/* Returns the PTX, to be freed; NULL with the compiler's messages in `log`. `log` also contains
   ptxas's report. */
static inline char *compile_cuda(const char *source, const char *architecture, char *log,
                                 size_t log_bytes) {
    char arch[32], reason[REASON_SIZE] = "";
    struct error error = {0};
    struct device_image image;
    log[0] = '\0';
    struct nvrtc *nvrtc = nvrtc_open(&error);
    if (!nvrtc)
        return NULL;
    snprintf(arch, sizeof arch, "-arch=%s", architecture);
    const char *const options[] = {arch, "-lineinfo", "-std=c++17", "--ptxas-options=-v", "-I."};
    int status = nvrtc_compile(nvrtc, "kernel.cu", source, options, 5, &image, reason, &error);
    nvrtc_close(nvrtc);
    snprintf(log, log_bytes, "%s", status == 0 ? image.log : status > 0 ? reason : error.text);
    if (status != 0)
        return NULL;
    char *ptx = (char *)image.ptx;
    image.ptx = NULL;
    nvrtc_image_release(&image);
    return ptx;
}

#endif
