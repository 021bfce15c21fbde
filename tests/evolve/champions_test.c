/* Which solutions of a run whose sources evolve were its champion. */
#include "evaluate/tiny.h"

#include "evolve/internal.h"

static struct tiny tiny;
static struct evolve evolve;

static void add_solution(const char *name) {
    strcpy(evolve.solutions[evolve.session.goal_count++].name, name);
}

static void decide(int goal, const char *decision) {
    static struct source_proposal proposals[4];
    static struct source_proposal *list[4];
    proposals[evolve.count].row.goal = goal;
    proposals[evolve.count].row.decision = decision;
    list[evolve.count] = &proposals[evolve.count];
    evolve.proposals = list;
    evolve.count++;
}

static void promoted_ones_and_the_best_start(void **state) {
    (void)state;
    struct error error = {0};
    char run_dir[PATH_SIZE];
    const char *const goals[] = {"slow", "quick", "kept", "first", "second", "open"};
    const struct store_description description = {NULL, 0, goals, 6};
    tiny_make(&tiny, TINY_CONFIG " }");
    assert_int_equal(path_join(run_dir, tiny.folder, "run", &error), 0);
    evolve.session.store = store_create(run_dir, &description, &error);
    if (evolve.session.store == NULL)
        fail_msg("%s", error.text);
    for (int i = 0; i < 6; i++)
        add_solution(goals[i]);
    for (int goal = 0; goal < 6; goal++) /* the starts are not tuned yet */
        assert_false(evolve_was_champion(&evolve, goal));
    if (store_begin(evolve.session.store, &error) < 0 ||
        store_meta_set(evolve.session.store, START_META, "quick", &error) < 0 ||
        store_commit(evolve.session.store, &error) < 0)
        fail_msg("%s", error.text);
    decide(2, "keep");
    decide(3, "promote");
    decide(4, "promote");
    decide(5, NULL);
    static const bool expected[] = {false, true, false, true, true, false};
    for (int goal = 0; goal < 6; goal++)
        if (evolve_was_champion(&evolve, goal) != expected[goal])
            fail_msg("%s", goals[goal]);
    store_close(evolve.session.store);
    tiny_remove(&tiny);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(promoted_ones_and_the_best_start)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
