#include "run/default_trial.h"

#include <string.h>

struct first_ask {
    int goal;
    int64_t trial;
};

static int find_first_ask(void *context, const struct store_event *event, struct error *error) {
    struct first_ask *first = context;
    (void)error;
    if (event->told || event->trial.goal != first->goal)
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

/* True if the genome's text contains this "NAME=value" of `length` bytes. */
static bool has_gene(const char *genome, const char *gene, size_t length) {
    for (; genome != NULL; genome = strchr(genome, ',')) {
        genome += *genome == ',';
        if (strcspn(genome, ",") == length && memcmp(genome, gene, length) == 0)
            return true;
    }
    return false;
}

void default_trial_differences(const char *default_genome, const char *genome, char *text,
                               size_t size) {
    size_t used = 0;
    for (const char *gene = genome; *gene != '\0';) {
        size_t length = strcspn(gene, ",");
        if (!has_gene(default_genome, gene, length) && used + length + 2 < size)
            used += (size_t)sprintf(text + used, "%s%.*s", used > 0 ? "," : "", (int)length, gene);
        gene += length + (gene[length] == ',');
    }
    if (used == 0)
        snprintf(text, size, "(the default)");
}
