/* The status publisher: writes status.json about once a second (status_file.h). For that it polls
   the GPUs; the same readings decide whether a device is paused (throttle.h). */
#include "base/clock.h"
#include "base/log.h"
#include "cmd/bulletin.h"
#include "cmd/pause.h"
#include "cmd/session.h"
#include "trial/watch.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Listing the GPU's processes is the slowest NVML call, so it is made only every OTHERS_EVERY-th
   time if the result is only displayed. */
enum { RATE_SECONDS = 60, FAILURES_TOLD = 10, OTHERS_EVERY = 10 };

static const double interval_s = 1;

/* One of the run's devices. Each device is paused on its own. */
struct gauge {
    struct watch *watch; /* NULL: the device has no sensors, or NVML is not available */
    struct pause pause;
    bool paused;
    int others; /* other processes on the GPU when last listed; -1: unknown */
};

struct publisher {
    int gauge_count;
    struct gauge gauges[DEVICES_MAX];
    bool paused;  /* all devices are paused */
    int failures; /* consecutive failures to write the status file */
    enum phase phase;
    double published; /* clock_seconds */
    int looks;        /* how often the GPUs were polled */
    /* A ring buffer of the last minute, for the rate of trials. */
    int samples;
    struct {
        double when;
        int64_t told;
    } sample[RATE_SECONDS];
};

static struct publisher *publisher_of(struct session *session) {
    if (session->publisher != NULL)
        return session->publisher;
    struct publisher *publisher = calloc(1, sizeof *publisher);
    if (publisher == NULL)
        BUG("out of memory");
    const struct pause pause = {.nice = session->config->nice,
                                .max_temperature_c = session->config->max_temperature_c};
    publisher->gauge_count = session->pool != NULL ? pool_device_count(session->pool) : 0;
    bool blind = false;
    for (int d = 0; d < publisher->gauge_count; d++) {
        const struct device_info *device = pool_device_at(session->pool, d);
        publisher->gauges[d] =
            (struct gauge){.watch = watch_new(device, getpid()), .pause = pause, .others = -1};
        blind = blind || (publisher->gauges[d].watch == NULL && !device->predicts);
    }
    bool wants_pauses = pause.nice || pause.max_temperature_c > 0;
    if (wants_pauses && session->pool != NULL && publisher->gauge_count == 0)
        log_warn("the GPUs of workers on a queue are not monitored, so --nice and "
                 "--max-temperature have no effect with --queue");
    if (blind && wants_pauses)
        log_warn("NVML cannot read the GPU's state, so --nice and --max-temperature have no "
                 "effect: in a container, allow the driver capability \"utility\"");
    return session->publisher = publisher;
}

void session_unpublish(struct session *session) {
    if (session->publisher == NULL)
        return;
    for (int d = 0; d < session->publisher->gauge_count; d++)
        watch_free(session->publisher->gauges[d].watch);
    free(session->publisher);
    session->publisher = NULL;
}

/* ---- the status ---- */

static double rate(struct publisher *publisher, int64_t told) {
    double now = clock_seconds();
    int at = publisher->samples++ % RATE_SECONDS;
    int oldest = publisher->samples > RATE_SECONDS ? publisher->samples % RATE_SECONDS : 0;
    publisher->sample[at].when = now;
    publisher->sample[at].told = told;
    double span_s = now - publisher->sample[oldest].when;
    return span_s > 0 ? (double)(told - publisher->sample[oldest].told) / span_s : 0;
}

/* The goal with the most patience left decides when the run ends. */
static int64_t patience_left(const struct session *session) {
    int64_t most = 0;
    for (int g = 0; g < session->goal_count; g++) {
        int64_t left =
            session->config->patience - (session->gains[g].told - session->gains[g].told_at);
        most = left > most ? left : most;
    }
    return most;
}

static void fill(const struct session *session, struct bulletin *bulletin) {
    const struct config *config = session->config;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    bulletin->pid = getpid();
    bulletin->updated = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    bulletin->asked = session->asked;
    bulletin->told = session->told;
    bulletin->seconds = session_elapsed(session);
    bulletin->budget_trials = config->trials;
    bulletin->budget_seconds = config->seconds;
    bulletin->patience = config->patience;
    bulletin->patience_left = config->patience > 0 ? patience_left(session) : 0;
    bulletin->target_us = config->target_us;
    bulletin->target_ratio = config->target_ratio;
    bulletin->nice = config->nice;
    bulletin->max_temperature_c = config->max_temperature_c;
    if (session->pool == NULL)
        return;
    const struct device_info *device = pool_device(session->pool);
    snprintf(bulletin->device, sizeof bulletin->device, "%s", device->name);
    bulletin->predicts = device->predicts;
    bulletin->restarts = pool_restarts(session->pool);
    bulletin->worker_count = pool_look(session->pool, bulletin->workers, BULLETIN_WORKERS_MAX);
}

static void put_up(struct session *session, const struct bulletin *bulletin) {
    struct error error = {0};
    struct publisher *publisher = session->publisher;
    if (bulletin_write(bulletin, session->run_dir, &error) == 0)
        publisher->failures = 0;
    /* Only a warning: if the disk is full, the next store operation ends the run with an error. */
    else if (++publisher->failures == FAILURES_TOLD)
        log_warn("`evotile watch` cannot be updated: %s", error.text);
}

/* ---- pausing ---- */

/* Polls a device, and pauses or continues its worker. The status shows the GPU of the first device,
   and the number of other processes on all. */
static void look_at(struct session *session, int device, bool others_too,
                    struct bulletin *bulletin) {
    struct gauge *gauge = &session->publisher->gauges[device];
    struct nvml_state state = bulletin_empty().gpu;
    if (watch_look(gauge->watch, &state) && (gauge->pause.nice || others_too))
        gauge->others = watch_others(gauge->watch);
    if (device == 0)
        bulletin->gpu = state;
    if (gauge->others >= 0)
        bulletin->others = gauge->others + (bulletin->others > 0 ? bulletin->others : 0);
    bool paused = pause_decide(&gauge->pause, gauge->others, state.temperature_c);
    if (paused != gauge->paused) {
        const char *spec =
            session->publisher->gauge_count > 1 ? pool_device_at(session->pool, device)->spec : "";
        log_info("%s%s%s%s", spec, *spec != '\0' ? ": " : "", paused ? "paused: " : "continuing",
                 paused ? gauge->pause.reason : "");
    }
    gauge->paused = paused;
    pool_pause(session->pool, device, paused);
}

static void look_at_all(struct session *session, struct bulletin *bulletin) {
    struct publisher *publisher = session->publisher;
    bool others_too = publisher->looks++ % OTHERS_EVERY == 0;
    publisher->paused = publisher->gauge_count > 0;
    for (int d = 0; d < publisher->gauge_count; d++) {
        look_at(session, d, others_too, bulletin);
        publisher->paused = publisher->paused && publisher->gauges[d].paused;
    }
}

bool session_is_paused(const struct session *session) {
    return session->publisher != NULL && session->publisher->paused;
}

const char *session_pause_reason(const struct session *session) {
    return session_is_paused(session) ? session->publisher->gauges[0].pause.reason : "";
}

/* ---- publishing ---- */

void session_publish(struct session *session) {
    struct publisher *publisher = publisher_of(session);
    if (clock_seconds() - publisher->published < interval_s)
        return;
    publisher->published = clock_seconds();
    struct bulletin bulletin = bulletin_empty();
    look_at_all(session, &bulletin);
    fill(session, &bulletin);
    bulletin.trials_per_s = rate(publisher, session_trials(session));
    bulletin.phase = publisher->paused ? PHASE_PAUSED : publisher->phase;
    snprintf(bulletin.reason, sizeof bulletin.reason, "%s", session_pause_reason(session));
    put_up(session, &bulletin);
}

void session_announce(struct session *session, enum phase phase, const char *reason) {
    struct publisher *publisher = publisher_of(session);
    struct bulletin bulletin = bulletin_empty();
    publisher->phase = phase;
    fill(session, &bulletin);
    bulletin.phase = phase;
    snprintf(bulletin.reason, sizeof bulletin.reason, "%s", reason);
    if (phase_is_over(phase)) {
        double spent_s = clock_seconds() - session->begun;
        bulletin.worker_count = 0;
        bulletin.trials_per_s =
            spent_s > 0 ? (double)(session_trials(session) - session->trials_before) / spent_s : 0;
    } else {
        bulletin.trials_per_s = rate(publisher, session_trials(session));
    }
    put_up(session, &bulletin);
}
