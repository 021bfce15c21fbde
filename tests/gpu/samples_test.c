/* Common kinds of kernels (tests/ptx/samples) on a GPU: the results that the emulated
   device is tested for are right there, too. */
#include "ptx/samples/samples.h"

static struct samples bench;

static int open_gpu(void **state) {
    (void)state;
    samples_open(&bench, "cuda:0");
    return 0;
}

static int close_gpu(void **state) {
    (void)state;
    samples_close(&bench);
    return 0;
}

static void is_right(void **state) {
    const struct sample *sample = *state;
    sample->check(&bench);
}

int main(void) {
    struct CMUnitTest tests[SAMPLE_COUNT];
    for (int i = 0; i < SAMPLE_COUNT; i++)
        tests[i] = (struct CMUnitTest){
            .name = samples[i].name, .test_func = is_right, .initial_state = (void *)&samples[i]};
    return _cmocka_run_group_tests("samples", tests, SAMPLE_COUNT, open_gpu, close_gpu);
}
