#include "cmd/foresee.h"

#include "base/log.h"
#include "base/random.h"
#include "base/share.h"
#include "cmd/surveys.h"
#include "device/published.h"

#include <string.h>

enum { STREAM = 0x70726564 }; /* a stream of random numbers that nothing else uses */

/* Draws distinct genomes; returns how many. Gives up after PATIENCE attempts per draw. */
static int draw(const struct config *config, int goal, const struct space *space, int draws,
                struct survey_order *orders) {
    enum { PATIENCE = 20 };
    struct random random;
    int count = 0;
    random_seed(&random, config->seed, STREAM + (uint64_t)goal);
    for (int i = 0; i < PATIENCE * draws && count < draws; i++) {
        struct genome *genome = &orders[count].genome;
        bool drawn = space_sample(space, &random, genome);
        for (int j = 0; j < count && drawn; j++)
            drawn = !genome_equal(genome, &orders[j].genome);
        orders[count].goal = goal;
        count += drawn;
    }
    return count;
}

int foresee(const struct config *config, int goal, const struct template *template,
            const struct device_info *device, int draws, struct predicted **predicted,
            struct error *error) {
    struct device_info info;
    struct survey_order *orders = calloc((size_t)draws, sizeof *orders);
    struct predicted *all = calloc((size_t)draws, sizeof *all);
    struct surveys *surveys = NULL;
    int count = 0;
    if (orders == NULL || all == NULL)
        BUG("out of memory");
    int drawn = draw(config, goal, template->space, draws, orders);
    if (published_like(device, &info, error) < 0)
        error_prefix(error, "--predict");
    else
        surveys = surveys_take(config, &info, orders, drawn, share_read("").cores, error);
    for (int i = 0; i < drawn && surveys != NULL; i++) {
        const struct survey *survey = surveys_of(surveys, i);
        if (survey != NULL)
            all[count++] = (struct predicted){orders[i].genome, survey_us(survey, &info)};
    }
    bool looked = surveys != NULL;
    surveys_free(surveys);
    free(orders);
    if (!looked) {
        free(all);
        return -1;
    }
    predicted_sort(all, count);
    if (count > 0)
        log_info("%d genomes traced, the fastest is predicted to take %.2f us", drawn, all[0].us);
    *predicted = all;
    return count;
}

/* ---- as text ---- */

char *foresee_print(const struct predicted *predicted, int count, const struct space *space) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        BUG("out of memory");
    for (int i = 0; i < count; i++) {
        char genome[GENOME_TEXT_SIZE];
        genome_print(&predicted[i].genome, space, genome);
        fprintf(out, "%.17g %s\n", predicted[i].us, genome);
    }
    fclose(out);
    return text;
}

int foresee_parse(const char *text, const struct space *space, struct predicted **predicted,
                  struct error *error) {
    int room = 0, count = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        room++;
    struct predicted *all = calloc((size_t)room + 1, sizeof *all);
    if (all == NULL)
        BUG("out of memory");
    for (; count < room; count++) {
        char line[GENOME_TEXT_SIZE], *end;
        size_t length = strcspn(text, "\n");
        int written = snprintf(line, sizeof line, "%.*s", (int)length, text);
        all[count].us = strtod(line, &end);
        if (written >= (int)sizeof line || !(all[count].us > 0) || *end != ' ' ||
            genome_parse(&all[count].genome, space, end + 1, error) < 0) {
            free(all);
            return error_set(error, "the stored predictions are damaged: %.60s", line);
        }
        text += length + 1;
    }
    *predicted = all;
    return count;
}
