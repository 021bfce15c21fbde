/*
 * The race checker reports no error in the templates, for random genomes: GENOMES of each template
 * and variant (default 1; the requirement is 500 in all: GENOMES=72 TEST_SECONDS=36000 tests/run
 * emulated/clean). A quarter of the sets; genomes_test.c takes another.
 */
#include "emulated/genomes.h"

enum { GENOMES_DEFAULT = 1 };

static void no_findings(void **state) {
    try_random_genomes(*state, true, GENOMES_DEFAULT);
}

int main(void) {
    struct CMUnitTest tests[GENOME_SETS];
    int count = 0;
    for (int i = 0; i < GENOME_SETS; i++)
        if (takes_set(i, 1))
            tests[count++] = (struct CMUnitTest){.name = genome_sets[i].name,
                                                 .test_func = no_findings,
                                                 .initial_state = (void *)&genome_sets[i]};
    return _cmocka_run_group_tests("clean", tests, (size_t)count, NULL, NULL);
}
