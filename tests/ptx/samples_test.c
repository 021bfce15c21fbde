/* Kernels of common kinds on the emulated device, instrumented: results are correct and the race
   checker reports no error. Two architectures take turns; with EVOTILE_LONG=1 each kernel runs on
   both. */
#include "ptx/samples/samples.h"

#include "device/emulated.h"

static const char *const devices[] = {"emulated:sm_80", "emulated:sm_90"};

static void sample_matches(void **state) {
    const struct sample *sample = *state;
    for (int d = 0; d < 2; d++) {
        struct samples bench;
        if (getenv("EVOTILE_LONG") == NULL && (sample - samples) % 2 != d)
            continue;
        samples_open(&bench, devices[d]);
        struct ptx_racecheck *racecheck = emulated_attach_racecheck(bench.device, NULL);
        sample->check(&bench);
        for (int i = 0; i < ptx_racecheck_finding_count(racecheck); i++) {
            const struct ptx_finding *finding = ptx_racecheck_finding(racecheck, i);
            if (!ptx_finding_is_cost(finding->kind))
                fail_msg("%s: %s", ptx_finding_name(finding->kind), finding->text);
        }
        samples_close(&bench);
    }
}

int main(void) {
    struct CMUnitTest tests[SAMPLE_COUNT];
    setenv("EVOTILE_DEVICES", "configs/devices", 0);
    for (int i = 0; i < SAMPLE_COUNT; i++)
        tests[i] = (struct CMUnitTest){.name = samples[i].name,
                                       .test_func = sample_matches,
                                       .initial_state = (void *)&samples[i]};
    return _cmocka_run_group_tests("samples", tests, SAMPLE_COUNT, NULL, NULL);
}
