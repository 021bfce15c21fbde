/*
 * honest_on_gpu: long/honest.h on the first GPU.
 */
#ifndef EVOTILE_TESTS_GPU_HONEST_ON_GPU_H
#define EVOTILE_TESTS_GPU_HONEST_ON_GPU_H

#include "long/honest.h"

#include "device/cuda.h"

/* In a process of its own: CUDA does not survive a fork. */
static inline bool has_gpu(void) {
    struct error error = {0};
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(cuda_device_count(&error) > 0 ? 0 : 1);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static inline int run_honest_test(const char *name,
                                  CMUnitTestFunction honest_genomes_are_accepted) {
    if (!has_gpu()) {
        printf("skipped: no GPU\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(honest_genomes_are_accepted)};
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

#endif
