#include "analysis/ancestry.h"
#include "base/memory.h"

static void add_member(struct ancestry *ancestry, const struct trial_row *row) {
    if (row == NULL || ancestry_has(ancestry, row->number))
        return;
    if (ancestry->count < ANCESTORS_MAX)
        ancestry->members[ancestry->count++] = row;
    else
        ancestry->more = true;
}

struct ancestry *ancestry_new(const struct run_data *run, const struct trial_row *row) {
    struct ancestry *ancestry = xcalloc(1, sizeof *ancestry);
    add_member(ancestry, row);
    /* Breadth first, one generation at a time. */
    for (int i = 0, last = 1; i < ancestry->count; i++) {
        if (i == last) {
            ancestry->generations++;
            last = ancestry->count;
        }
        add_member(ancestry, run_data_find_trial(run, ancestry->members[i]->parent_a));
        add_member(ancestry, run_data_find_trial(run, ancestry->members[i]->parent_b));
    }
    /* A parent is observed before its child is asked for, so the line ends; that of a damaged run
       may not, which the limit handles. */
    for (; row != NULL && ancestry->line_count < ANCESTORS_MAX;
         row = run_data_find_trial(run, row->parent_a))
        ancestry->line[ancestry->line_count++] = row;
    return ancestry;
}

void ancestry_free(struct ancestry *ancestry) {
    free(ancestry);
}

bool ancestry_has(const struct ancestry *ancestry, int64_t number) {
    for (int i = 0; i < ancestry->count; i++)
        if (ancestry->members[i]->number == number)
            return true;
    return false;
}
