#include "session/predict_start.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/resource_limits.h"
#include "device/device_db.h"
#include "session/traces.h"

#include <stdlib.h>
#include <string.h>

enum { PREDICT_STREAM = 0x70726564 }; /* a stream of random numbers that nothing else uses */

/* Draws distinct genomes; returns how many. Gives up after PATIENCE attempts per draw. */
static int draw_genomes(const struct config *config, int goal, const struct space *space, int draws,
                        struct trace_request *requests) {
    enum { PATIENCE = 20 };
    struct random random;
    int count = 0;
    random_seed(&random, config->seed, PREDICT_STREAM + (uint64_t)goal);
    for (int i = 0; i < PATIENCE * draws && count < draws; i++) {
        struct genome *genome = &requests[count].genome;
        bool drawn_count = space_sample(space, &random, genome);
        for (int j = 0; j < count && drawn_count; j++)
            drawn_count = !genome_equal(genome, &requests[j].genome);
        requests[count].goal = goal;
        count += drawn_count;
    }
    return count;
}

int predict_start(const struct config *config, int goal, const struct template *template,
                  const struct device_info *device, int draws, struct source *source,
                  struct error *error) {
    struct device_info info;
    snprintf(source->name, sizeof source->name, "predictions of the emulated device");
    struct trace_request *requests = xcalloc((size_t)draws, sizeof *requests);
    struct traces *traces = NULL;
    int drawn_count = draw_genomes(config, goal, template->space, draws, requests);
    if (device_db_find_like(device, &info, error) < 0)
        error_prefix(error, "--predict");
    else
        traces = traces_collect(config, &info, requests, drawn_count,
                                resource_limits_read("").cores, error);
    for (int i = 0; i < drawn_count && traces != NULL; i++) {
        const struct trace *survey = traces_at(traces, i);
        if (survey != NULL)
            source_add_genome(source, template->space, &requests[i].genome,
                              trace_predicted_us(survey, &info));
    }
    bool succeeded = traces != NULL;
    traces_free(traces);
    free(requests);
    if (!succeeded)
        return -1;
    source_seal(source);
    if (source->row_count > 0)
        log_info("%d genomes traced, the fastest is predicted to take %.2f us", drawn_count,
                 source->rows[0].us);
    return 0;
}
