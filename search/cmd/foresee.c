#include "cmd/foresee.h"

#include "base/log.h"
#include "base/random.h"
#include "cmd/surveys.h"
#include "device/published.h"

#include <string.h>
#include <unistd.h>

enum { STREAM = 0x70726564 }; /* of random numbers that nobody else takes */

/* What is published of the device says more than a driver does, and what was fitted to it is there;
   but a space depends on the device at hand. */
static int describe(const struct device_info *device, struct device_info *info,
                    struct error *error) {
    if (published_find(device->compute_capability, info, error) < 0)
        return error_prefix(error, "--predict");
    info->sm_count = device->sm_count;
    return 0;
}

struct foreseen {
    double latency_us;
    int order;
};

static int by_latency(const void *left, const void *right) {
    const struct foreseen *a = left, *b = right;
    if (a->latency_us != b->latency_us)
        return a->latency_us < b->latency_us ? -1 : 1;
    return a->order - b->order;
}

/* Draws that differ; returns how many. */
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
            const struct device_info *device, int draws, struct genome genomes[FORESEEN],
            struct error *error) {
    struct device_info info;
    struct survey_order *orders = calloc((size_t)draws, sizeof *orders);
    struct foreseen *foreseen = calloc((size_t)draws, sizeof *foreseen);
    struct surveys *surveys = NULL;
    int count = -1;
    if (orders == NULL || foreseen == NULL)
        BUG("out of memory");
    if (describe(device, &info, error) < 0)
        goto done;
    int drawn = draw(config, goal, template->space, draws, orders);
    surveys = surveys_take(config, &info, orders, drawn, (int)sysconf(_SC_NPROCESSORS_ONLN), error);
    if (surveys == NULL)
        goto done;
    count = 0;
    for (int i = 0; i < drawn; i++) {
        const struct survey *survey = surveys_of(surveys, i);
        if (survey != NULL)
            foreseen[count++] = (struct foreseen){survey_us(survey, &info), i};
    }
    qsort(foreseen, (size_t)count, sizeof *foreseen, by_latency);
    if (count > 0)
        log_info("of %d genomes looked at, the best are predicted to take %.2f us", drawn,
                 foreseen[0].latency_us);
    count = count < FORESEEN ? count : FORESEEN;
    for (int i = 0; i < count; i++)
        genomes[i] = orders[foreseen[i].order].genome;
done:
    surveys_free(surveys);
    free(foreseen);
    free(orders);
    return count;
}
