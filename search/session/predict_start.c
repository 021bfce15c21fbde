#include "session/predict_start.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/resource_limits.h"
#include "device/device_db.h"
#include "session/traces.h"

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
                  const struct device_info *device, int draws, struct predicted **predicted,
                  struct error *error) {
    struct device_info info;
    struct trace_request *requests = xcalloc((size_t)draws, sizeof *requests);
    struct predicted *all = xcalloc((size_t)draws, sizeof *all);
    struct traces *traces = NULL;
    int count = 0;
    int drawn_count = draw_genomes(config, goal, template->space, draws, requests);
    if (device_db_find_like(device, &info, error) < 0)
        error_prefix(error, "--predict");
    else
        traces = traces_collect(config, &info, requests, drawn_count,
                                resource_limits_read("").cores, error);
    for (int i = 0; i < drawn_count && traces != NULL; i++) {
        const struct trace *survey = traces_at(traces, i);
        if (survey != NULL)
            all[count++] =
                (struct predicted){requests[i].genome, trace_predicted_us(survey, &info)};
    }
    bool succeeded = traces != NULL;
    traces_free(traces);
    free(requests);
    if (!succeeded) {
        free(all);
        return -1;
    }
    predicted_sort(all, count);
    if (count > 0)
        log_info("%d genomes traced, the fastest is predicted to take %.2f us", drawn_count,
                 all[0].us);
    *predicted = all;
    return count;
}

/* ---- as text ---- */

char *predict_start_print(const struct predicted *predicted, int count, const struct space *space) {
    char *text = NULL;
    size_t size;
    FILE *out = xopen_memstream(&text, &size);
    for (int i = 0; i < count; i++) {
        char genome[GENOME_TEXT_SIZE];
        genome_print(&predicted[i].genome, space, genome);
        fprintf(out, "%.17g %s\n", predicted[i].us, genome);
    }
    fclose(out);
    return text;
}

int predict_start_parse(const char *text, const struct space *space, struct predicted **predicted,
                        struct error *error) {
    int room = 0, count = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        room++;
    struct predicted *all = xcalloc((size_t)room + 1, sizeof *all);
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
