/* Honest genomes are accepted on a GPU: 100,000 verifications of at least 2,000 distinct genomes
   with EVOTILE_LONG, else a sample (long/honest.h). Each of JOBS processes compiles a genome, then
   checks its inputs: the GPU works for one while the others compile. */
#include "long/honest.h"

#include "device/cuda.h"

static void honest_genomes_are_accepted(void **state) {
    (void)state;
    bool full = getenv("EVOTILE_LONG") != NULL;
    struct honest honest = {.device = "cuda:0",
                            .genomes = full ? 2400 : 48,
                            .verifications = full ? 100800 : 2016,
                            .longest = 400};
    honest_run(&honest);
}

/* In a process of its own: CUDA does not survive a fork. */
static bool has_gpu(void) {
    struct error error = {0};
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(cuda_device_count(&error) > 0 ? 0 : 1);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

int main(void) {
    if (!has_gpu()) {
        printf("skipped: no GPU\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(honest_genomes_are_accepted)};
    return cmocka_run_group_tests_name("honest on a GPU", tests, NULL, NULL);
}
