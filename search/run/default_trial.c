#include "run/default_trial.h"

#include "space/genome.h"

#include <string.h>

struct first_ask {
    int goal;
    int64_t trial;
};

static int find_first_ask(void *context, const struct store_event *event, struct error *error) {
    struct first_ask *first = context;
    (void)error;
    if (event->observed || event->trial.goal != first->goal)
        return 0;
    if (strcmp(event->trial.operator_name, "default") == 0)
        first->trial = event->trial.number;
    return 1;
}

int default_trial_read(struct store *store, int goal, struct store_trial **trial,
                       struct error *error) {
    struct first_ask first = {goal, STORE_NO_TRIAL};
    *trial = NULL;
    if (store_events(store, 0, find_first_ask, &first, error) < 0)
        return -1;
    if (first.trial == STORE_NO_TRIAL)
        return 0;
    *trial = store_trial_read(store, first.trial, error);
    return *trial != NULL ? 0 : -1;
}

void default_trial_differences(const char *default_genome, const char *genome, char *text,
                               size_t size) {
    size_t used = 0;
    struct gene_words gene;
    while (genome_read_gene(&genome, &gene) == 1) {
        struct gene_word value;
        if ((default_genome == NULL || !genome_find_value(default_genome, gene.name, &value) ||
             !gene_word_equal(value, gene.value)) &&
            used + (size_t)(gene.name.length + gene.value.length) + 3 < size)
            used +=
                (size_t)sprintf(text + used, "%s%.*s=%.*s", used > 0 ? "," : "", gene.name.length,
                                gene.name.text, gene.value.length, gene.value.text);
    }
    if (used == 0)
        snprintf(text, size, "(the default)");
}
