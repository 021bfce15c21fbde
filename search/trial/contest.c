/* The duel as a gate of a trial. The opponent is loaded beside the candidate on the same device,
   and both run on inputs of the same seeds; or it is a baseline in a process of its own. */
#include "trial/journey.h"

#include "base/clock.h"
#include "trial/baseline.h"
#include "trial/duel.h"

#include <math.h>
#include <string.h>

/* The other side of the duel: a genome with an evaluation of its own, or a baseline. */
struct rival {
    struct trial_request request; /* borrows pointers from the candidate's request */
    struct trial_result result;
    struct journey journey;
    struct baseline *baseline;      /* NULL: the opponent is a genome */
    int implementations[CASES_MAX]; /* of the baseline, by case */
    struct error *failure;          /* set if the baseline failed within a round */
    bool failed;
};

static int open_guest(struct bench *bench, const struct trial_rival *rival, struct error *error) {
    struct guest *guest = &bench->guest;
    if (guest->bench != NULL && strcmp(guest->path, rival->config) == 0)
        return 0;
    bench_close_guest(bench);
    char *text = path_read_file(rival->config, 64 << 20, NULL, error);
    if (text == NULL)
        return -1;
    guest->config = config_from_text(rival->config, text, rival->template_folder, error);
    free(text);
    if (guest->config != NULL)
        guest->compiler = compiler_new(guest->config, &bench->device->info,
                                       nvrtc_cache(compiler_nvrtc(bench->compiler)), error);
    if (guest->compiler != NULL)
        guest->bench = bench_new(guest->config, bench->device, guest->compiler, error);
    if (guest->bench == NULL) {
        bench_close_guest(bench);
        return -1;
    }
    guest->path = strdup(rival->config);
    return 0;
}

void bench_close_guest(struct bench *bench) {
    struct guest *guest = &bench->guest;
    bench_free(guest->bench);
    compiler_free(guest->compiler);
    config_free(guest->config);
    free(guest->path);
    *guest = (struct guest){0};
}

/* An opponent that fails is an error, not a verdict on the candidate. */
static int refuse(const struct rival *rival, struct error *error) {
    const struct outcome *outcome = &rival->result.outcome;
    return error_input(error, "a duel needs an opponent that works, but it fails: %s: %.300s",
                       verdict_name(outcome->verdict), outcome->reason);
}

static int same_cases(const struct journey *a, const struct journey *b, struct error *error) {
    char left[CASE_NAME_SIZE];
    char right[CASE_NAME_SIZE];
    bool same = a->template->case_count == b->template->case_count;
    for (int c = 0; same && c < a->template->case_count; c++) {
        template_print_shape(a->template, &a->template->cases[c], left);
        template_print_shape(b->template, &b->template->cases[c], right);
        same = strcmp(left, right) == 0;
    }
    return same ? 0 : error_input(error, "the two sides of the duel have different cases");
}

void bench_close_visitor(struct bench *bench) {
    baseline_close(bench->visitor.baseline);
    baseline_command_release(&bench->visitor.command);
    bench->visitor.baseline = NULL;
}

static bool same_command(const struct baseline_command *a, const struct baseline_command *b) {
    bool same = a->count == b->count && a->limit_s == b->limit_s;
    for (int i = 0; same && i < a->count; i++)
        same = strcmp(a->words[i], b->words[i]) == 0;
    return same;
}

/* Starting a framework takes seconds: a worker does it once for all its duels. */
static struct baseline *open_visitor(struct bench *bench, const struct baseline_command *command,
                                     struct error *error) {
    struct visitor *visitor = &bench->visitor;
    if (visitor->baseline != NULL && same_command(&visitor->command, command))
        return visitor->baseline;
    bench_close_visitor(bench);
    baseline_command_copy(&visitor->command, command);
    visitor->baseline = baseline_open(&visitor->command, &bench->device->info, error);
    return visitor->baseline;
}

void bench_forget_champion(struct bench *bench) {
    for (int c = 0; c < CASES_MAX; c++)
        nvrtc_image_release(&bench->champion.images[c]);
    bench->champion.known = false;
}

/* Compiles the opponent, or reuses the cached images: most duels have the same opponent as the
   previous one. Only the images are cached: any candidate since could have overwritten GPU
   memory, so that an opponent is loaded for each duel. */
static int compile(struct bench *bench, bool by_request, struct rival *rival, struct error *error) {
    const struct trial_request *request = &rival->request;
    struct champion *champion = &bench->champion;
    bool own = !by_request;
    for (int c = 0; c < CASES_MAX; c++)
        own = own && request->sources[c] == NULL;
    if (own && champion->known && champion->goal == request->goal &&
        genome_equal(&champion->genome, &request->genome))
        return 0;
    bench_forget_champion(bench);
    int status = compiler_build(bench->compiler, request, champion->images, &rival->result, error);
    champion->known = own && status == 0;
    champion->goal = request->goal;
    champion->genome = request->genome;
    return status;
}

static int build(struct journey *journey, struct rival *rival, struct error *error) {
    const struct trial_rival *from = &journey->request->rival;
    struct bench *bench = journey->bench;
    if (from->config != NULL) {
        if (open_guest(bench, from, error) < 0)
            return -1;
        bench = bench->guest.bench;
    }
    rival->request = (struct trial_request){.number = from->trial,
                                            .goal = from->goal,
                                            .genome = from->genome,
                                            .full = true,
                                            .seed = journey->request->seed};
    memcpy(rival->request.sources, from->sources, sizeof from->sources);
    rival->journey =
        (struct journey){.bench = bench,
                         .request = &rival->request,
                         .template = compiler_template(bench->compiler, from->goal, error),
                         .result = &rival->result,
                         .error = error,
                         .deadline_s = journey->deadline_s};
    if (rival->journey.template == NULL || same_cases(&rival->journey, journey, error) < 0)
        return -1;
    outcome_set_cases(&rival->result.outcome, rival->journey.template->case_count);
    int status = compile(bench, journey->request->duel_blocks > 0, rival, error);
    if (status == 0)
        status = journey_load(&rival->journey, bench->champion.images);
    /* A search's champion was verified in its own trial; the opponent of a requested duel was
       not. */
    if (status == 0 && journey->request->duel_blocks > 0)
        status = journey_verify(&rival->journey);
    return status == 1 ? refuse(rival, error) : status;
}

/* ---- one case of a round ---- */

static struct baseline_capture capture_of(const struct journey *journey, int launches) {
    return (struct baseline_capture){.launches = launches,
                                     .sets = journey->bench->config->timing.input_sets};
}

static enum verdict sample_baseline(void *context, int count, double *samples_us, char *reason) {
    struct rival *rival = context;
    rival->failed = baseline_warm(rival->baseline, 0, count, samples_us, rival->failure) < 0;
    snprintf(reason, REASON_SIZE, "the baseline failed");
    return rival->failed ? VERDICT_CRASHED : VERDICT_OK;
}

static int enter_baseline(struct rival *rival, const struct journey *journey, int c, int launches,
                          struct duel_corner *corner, struct error *error) {
    const struct baseline_capture how = capture_of(journey, launches);
    char unable[REASON_SIZE];
    cJSON *shape = template_shape_json(journey->template, &journey->template->cases[c]);
    int status =
        baseline_capture(rival->baseline, rival->implementations[c], shape, &how, unable, error);
    cJSON_Delete(shape);
    rival->failure = error;
    *corner = (struct duel_corner){.sample = sample_baseline, .context = rival};
    return status == 1
               ? error_set(error, "%s does not support this case: %.300s",
                           baseline_implementation(rival->baseline, rival->implementations[c]),
                           unable)
               : status;
}

/* The captured calls of both sides in one case. The order of capture alternates between rounds. */
struct match {
    struct duel_corner corners[DUEL_SIDES];
    struct measurement *measurements[DUEL_SIDES]; /* NULL: a baseline */
};

static int enter(struct match *match, int side, const struct journey *sides[DUEL_SIDES], int c,
                 int launches, enum verdict *verdict, char *reason, struct error *error) {
    const struct journey *journey = sides[side];
    struct device_module *module = journey->modules[template_variant(journey->template, c)];
    struct verify_case one = journey_case(journey, journey->template, c, module);
    struct measure_settings settings = journey_settings(sides[DUEL_CHALLENGER], c);
    settings.launches = launches;
    settings.beside = match->measurements[1 - side]; /* NULL for the side captured first */
    if (measurement_new(&one, &settings, &match->measurements[side], verdict, reason, error) < 0)
        return -1;
    if (*verdict == VERDICT_OK)
        match->corners[side] =
            (struct duel_corner){.device = journey->bench->device,
                                 .graph = measurement_graph(match->measurements[side])};
    return 0;
}

static int fight_case(struct duel *duel, struct rival *rival, const struct journey *challenger,
                      int c, int round, enum verdict *verdict, char *reason, struct error *error) {
    const struct journey *sides[DUEL_SIDES] = {&rival->journey, challenger};
    const struct timing *timing = &challenger->bench->config->timing;
    int launches =
        duel_launches(challenger->result->outcome.cases[c].warm.p50_us, timing->input_sets);
    struct match match = {0};
    int status = 0;
    *verdict = VERDICT_OK;
    for (int i = 0; i < DUEL_SIDES && status == 0 && *verdict == VERDICT_OK; i++) {
        int side = (i + round) % DUEL_SIDES;
        status = side == DUEL_CHAMPION && rival->baseline != NULL
                     ? enter_baseline(rival, challenger, c, launches, &match.corners[side], error)
                     : enter(&match, side, sides, c, launches, verdict, reason, error);
    }
    if (status == 0 && *verdict == VERDICT_OK)
        *verdict = duel_round(duel, c, match.corners, launches, reason);
    for (int side = 0; side < DUEL_SIDES; side++)
        measurement_free(match.measurements[side]);
    return rival->failed ? -1 : status;
}

/* ---- the whole duel ---- */

/* The search accepts the candidate with the best score as champion. The winner keeps its own
   timing, so that scores stay on one scale, unless that timing alone would not make it champion.
   A candidate that did not win gets a score behind the champion's, if only by one bit. */
double journey_score(const struct journey *journey, double timed_us) {
    const struct duel_outcome *duel = &journey->result->outcome.duel;
    double champion_us = journey->request->champion_us;
    double fought_us = champion_us * duel->ratio;
    if (duel->result == DUEL_NONE || journey->request->duel_blocks > 0)
        return timed_us;
    if (duel->result == DUEL_WON)
        return timed_us < champion_us ? timed_us : fought_us;
    return fmax(fought_us, nextafter(champion_us, INFINITY));
}

static void tell(struct journey *journey, const struct duel *duel, double start) {
    struct outcome *outcome = &journey->result->outcome;
    const struct duel_outcome *it = &outcome->duel;
    char slowest[CASE_NAME_SIZE + 64] = "";
    char name[CASE_NAME_SIZE];
    double worst;
    int c = duel_worst_case(duel, &worst);
    if (journey->template->case_count > 1) {
        template_print_shape(journey->template, &journey->template->cases[c], name);
        snprintf(slowest, sizeof slowest, "; %.4f at %s", worst, name);
    }
    trial_gate(journey->result, "duel", true, clock_seconds() - start,
               "%s: %.4f of the other's time (%.4f to %.4f), %d blocks, %.1f ms of GPU time%.60s",
               duel_result_name(it->result), it->ratio, it->low, it->high, it->blocks,
               duel_gpu_us(duel) / 1000, slowest);
    outcome->score_us = journey_score(journey, outcome->score_us);
}

/* Records the opponent and the figures of each case of a requested duel. */
static void note_bouts(struct journey *journey, const struct rival *rival,
                       const struct duel *duel) {
    struct trial_result *result = journey->result;
    result->bout_count = journey->template->case_count;
    if (rival->baseline != NULL)
        snprintf(result->baseline, sizeof result->baseline, "%s", baseline_name(rival->baseline));
    for (int c = 0; c < result->bout_count; c++) {
        result->bouts[c] = duel_bout(duel, c);
        if (rival->baseline != NULL)
            snprintf(result->bouts[c].against, sizeof result->bouts[c].against, "%s",
                     baseline_implementation(rival->baseline, rival->implementations[c]));
    }
}

static int fight(struct journey *journey, struct rival *rival, double start) {
    const struct timing *timing = &journey->bench->config->timing;
    const struct device_info *info = &journey->bench->device->info;
    const struct duel_settings settings = {
        .blocks =
            journey->request->duel_blocks > 0 ? journey->request->duel_blocks : timing->duel_blocks,
        .margin = fmax(timing->duel_margin, info->duel_margin),
        .tolerance = timing->case_tolerance,
        .seed = journey->request->seed,
        .watch = journey->bench->watch,
    };
    struct duel *duel = duel_new(&settings, journey->template->case_count);
    int status = 0;
    bool decided = false;
    for (int round = 0; status == 0 && !decided; round++) {
        for (int c = 0; c < journey->template->case_count && status == 0; c++) {
            char reason[REASON_SIZE];
            enum verdict verdict;
            status = fight_case(duel, rival, journey, c, round, &verdict, reason, journey->error);
            if (status == 0 && verdict != VERDICT_OK)
                status =
                    journey_fail(journey, "duel", journey->template, c, start, verdict, reason);
        }
        if (status == 0)
            decided = duel_decide(duel, &journey->result->outcome.duel);
    }
    if (status == 0)
        tell(journey, duel, start);
    if (status == 0 && journey->request->duel_blocks > 0)
        note_bouts(journey, rival, duel);
    duel_free(duel);
    return status;
}

/* Starts the baseline's process and selects an implementation for each case: the named one, or
   the fastest. */
static int call_baseline(struct journey *journey, struct rival *rival, struct error *error) {
    const struct trial_rival *from = &journey->request->rival;
    const struct template *template = journey->template;
    rival->baseline = open_visitor(journey->bench, &from->baseline, error);
    if (rival->baseline == NULL)
        return -1;
    for (int c = 0; c < template->case_count; c++) {
        const struct baseline_capture how =
            capture_of(journey, journey->bench->config->timing.launches);
        cJSON *shape = template_shape_json(template, &template->cases[c]);
        int found = from->implementation != NULL
                        ? baseline_find(rival->baseline, from->implementation, error)
                        : baseline_fastest(rival->baseline, shape, &how, error);
        cJSON_Delete(shape);
        if (found < 0)
            return -1;
        rival->implementations[c] = found;
    }
    return 0;
}

int journey_duel(struct journey *journey) {
    const struct trial_request *request = journey->request;
    const struct outcome *outcome = &journey->result->outcome;
    double start = clock_seconds();
    /* Two timings of one kernel differ by a percent or more if its buffers have other addresses:
       a candidate within that tolerance may be the faster one. */
    double near_us = request->champion_us * (1 + journey->bench->config->timing.case_tolerance);
    bool challenges = !outcome->predicted && !outcome->raced && outcome->score_us < near_us;
    if (!request->rival.present || (request->duel_blocks == 0 && !challenges))
        return 0;
    struct rival *rival = calloc(1, sizeof *rival);
    if (rival == NULL)
        BUG("out of memory");
    int status = request->rival.baseline.count > 0 ? call_baseline(journey, rival, journey->error)
                                                   : build(journey, rival, journey->error);
    if (status == 0)
        status = fight(journey, rival, start);
    journey->result->rival = request->rival.trial;
    if (rival->result.has_key && request->duel_blocks > 0)
        key_copy(&journey->result->rival_key, &rival->result.key);
    enum verdict verdict = outcome->verdict;
    if (verdict != VERDICT_CRASHED && verdict != VERDICT_TIMEOUT)
        journey_unload(&rival->journey);
    trial_result_release(&rival->result);
    free(rival);
    return status;
}
