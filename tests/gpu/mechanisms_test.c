/* Honest genomes of the templates of tests/templates are accepted on a GPU: 2,000 genomes with
   EVOTILE_LONG, else a sample (long/mechanisms.h). */
#include "long/mechanisms.h"

#include "device/cuda.h"

static void honest_genomes_are_accepted(void **state) {
    (void)state;
    bool full = getenv("EVOTILE_LONG") != NULL;
    struct honest honest = {.device = "cuda:0",
                            .templates = mechanisms,
                            .template_count = MECHANISMS,
                            .genomes = full ? 2000 : 2 * MECHANISMS,
                            .verifications = full ? 20000 : 20 * MECHANISMS};
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
    return cmocka_run_group_tests_name("mechanisms on a GPU", tests, NULL, NULL);
}
