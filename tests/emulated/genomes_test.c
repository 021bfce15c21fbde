/*
 * Random genomes give correct results on the emulated device at ragged shapes, with grouped heads,
 * strided rows and everything else in the probe cases: every genome that the constraints admit
 * works. GENOMES of each template and variant run a complete trial (default 1; GENOMES=100 make
 * check-genomes), limited to the sets that SETS names ("attention*"). many_*_test.c try more of
 * each template in a shorter way. A quarter of the sets; clean_test.c takes another.
 */
#include "emulated/genomes.h"

enum { GENOMES_DEFAULT = 1 };

static void results_are_correct(void **state) {
    try_random_genomes(*state, false, GENOMES_DEFAULT);
}

int main(void) {
    struct CMUnitTest tests[GENOME_SETS];
    if (getenv("SETS") != NULL)
        cmocka_set_test_filter(getenv("SETS"));
    int count = 0;
    for (int i = 0; i < GENOME_SETS; i++)
        if (takes_set(i, 0))
            tests[count++] = (struct CMUnitTest){.name = genome_sets[i].name,
                                                 .test_func = results_are_correct,
                                                 .initial_state = (void *)&genome_sets[i]};
    return _cmocka_run_group_tests("genomes", tests, (size_t)count, NULL, NULL);
}
