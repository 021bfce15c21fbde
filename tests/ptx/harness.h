/*
 * harness: a module, memory and launches for tests of the PTX interpreter.
 *
 *     struct harness harness;
 *     harness_open(&harness, ptx_text);
 *     uint64_t out = ptx_memory_allocate(harness.memory, "out", bytes);
 *     harness_argument(&harness, &out, sizeof out);
 *     harness_run(&harness, "kernel", blocks, threads);
 *     harness_close(&harness);
 *
 * harness_open_cuda compiles CUDA C first; it skips the test if the host has no NVRTC.
 */
#ifndef EVOTILE_TESTS_DEVICE_PTX_HARNESS_H
#define EVOTILE_TESTS_DEVICE_PTX_HARNESS_H

/* required before cmocka.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/compile_cuda.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

struct harness {
    struct ptx_memory *memory;
    struct ptx_module *module;
    struct ptx_launch launch;
    struct ptx_counts counts;
    struct ptx_fault fault;
    unsigned char arguments[512];
};

static inline void harness_open(struct harness *harness, const char *ptx) {
    struct error error = {0};
    *harness = (struct harness){.memory = ptx_memory_new()};
    harness->module = ptx_module_new(ptx, harness->memory, &error);
    if (!harness->module)
        fail_msg("%s", error.text);
    harness->launch.step_limit = 20000000;
}

static inline void harness_open_cuda(struct harness *harness, const char *source,
                                     const char *architecture) {
    char log[8192];
    char *ptx = compile_cuda(source, architecture, log, sizeof log);
    if (!ptx && !log[0])
        skip();
    if (!ptx)
        fail_msg("%s", log);
    harness_open(harness, ptx);
    free(ptx);
}

static inline void harness_close(struct harness *harness) {
    ptx_module_free(harness->module);
    ptx_memory_free(harness->memory);
}

/* Allocates and initialises a buffer; its host pointer in `*host` (may be NULL). */
static inline uint64_t harness_buffer(struct harness *harness, const char *name, size_t bytes,
                                      void *host) {
    uint64_t address = ptx_memory_allocate(harness->memory, name, bytes);
    assert_true(address != 0);
    if (host)
        *(void **)host = ptx_memory_host_bytes(harness->memory, address, bytes);
    return address;
}

/* Appends an argument, aligned to its size. */
static inline void harness_argument(struct harness *harness, const void *value, size_t bytes) {
    size_t at = (harness->launch.argument_bytes + bytes - 1) / bytes * bytes;
    memcpy(harness->arguments + at, value, bytes);
    harness->launch.argument_bytes = at + bytes;
}

/* Returns 0, or -1 with harness->fault. */
static inline int harness_try(struct harness *harness, const char *kernel, unsigned blocks,
                              unsigned threads) {
    harness->launch.kernel = ptx_module_kernel(harness->module, kernel);
    assert_non_null(harness->launch.kernel);
    harness->launch.arguments = harness->arguments;
    harness->launch.grid[0] = blocks;
    harness->launch.grid[1] = harness->launch.grid[2] = 1;
    harness->launch.block[0] = threads;
    harness->launch.block[1] = harness->launch.block[2] = 1;
    return ptx_launch(&harness->launch, &harness->counts, &harness->fault);
}

static inline void harness_run(struct harness *harness, const char *kernel, unsigned blocks,
                               unsigned threads) {
    if (harness_try(harness, kernel, blocks, threads) < 0)
        fail_msg("%s", harness->fault.text);
}

/* A small generator of its own, so that tests do not depend on the code under test. */
static inline uint64_t harness_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
