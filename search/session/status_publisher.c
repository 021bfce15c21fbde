/* The status publisher: writes status.json about once a second (status_file.h). For that it polls
   the GPUs; the same readings decide whether a device is paused (throttle.h). */
#include "base/clock.h"
#include "base/intervals.h"
#include "base/log.h"
#include "base/memory.h"
#include "evaluate/clock_monitor.h"
#include "run/forecast.h"
#include "session/left_out.h"
#include "session/session.h"
#include "session/status_file.h"
#include "session/throttle.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Listing the GPU's processes is the slowest NVML call, so it is made only every PROCESSES_EVERY-th
   time if the result is only displayed. */
enum { RATE_WINDOW_S = 60, FAILURES_WARNED = 10, PROCESSES_EVERY = 10 };

/* The search says what it will take after so many trials and seconds. */
enum { FORECAST_TRIALS = 20, FORECAST_S = 20 };

/* One of the run's devices. Each device is paused on its own. */
struct device_monitor {
    struct clock_monitor
        *clock_monitor; /* NULL: the device has no sensors, or NVML is not available */
    struct throttle throttle;
    bool paused;
    int others; /* other processes on the GPU when last listed; -1: unknown */
};

struct status_publisher {
    int monitor_count;
    struct device_monitor monitors[DEVICES_MAX];
    bool paused; /* all devices are paused */
    bool forecast_logged;
    int failures; /* consecutive failures to write the status file */
    enum phase phase;
    double published; /* clock_seconds */
    int poll_count;   /* how often the GPUs were polled */
    /* A ring buffer of the last minute, for the rate of trials. */
    int sample_count;
    struct {
        double when;
        int64_t observed;
    } samples[RATE_WINDOW_S];
};

static struct status_publisher *find_publisher(struct session *session) {
    if (session->publisher != NULL)
        return session->publisher;
    struct status_publisher *publisher = xcalloc(1, sizeof *publisher);
    const struct throttle throttle = {.nice = session->config->nice,
                                      .max_temperature_c = session->config->max_temperature_c};
    publisher->monitor_count = session->pool != NULL ? pool_device_count(session->pool) : 0;
    bool no_nvml = false;
    for (int d = 0; d < publisher->monitor_count; d++) {
        const struct device_info *device = pool_device_at(session->pool, d);
        publisher->monitors[d] =
            (struct device_monitor){.clock_monitor = clock_monitor_new(device, getpid()),
                                    .throttle = throttle,
                                    .others = -1};
        no_nvml = no_nvml || (publisher->monitors[d].clock_monitor == NULL && !device->predicts);
    }
    bool wants_pauses = throttle.nice || throttle.max_temperature_c > 0;
    if (wants_pauses && session->pool != NULL && publisher->monitor_count == 0)
        log_warn("the GPUs of workers on a queue are not monitored, so --nice and "
                 "--max-temperature have no effect with --queue");
    if (no_nvml && wants_pauses)
        log_warn("NVML cannot read the GPU's state, so --nice and --max-temperature have no "
                 "effect: in a container, allow the driver capability \"utility\"");
    return session->publisher = publisher;
}

void session_free_publisher(struct session *session) {
    if (session->publisher == NULL)
        return;
    for (int d = 0; d < session->publisher->monitor_count; d++)
        clock_monitor_free(session->publisher->monitors[d].clock_monitor);
    free(session->publisher);
    session->publisher = NULL;
}

/* ---- the status ---- */

static double update_rate(struct status_publisher *publisher, int64_t observed) {
    double now = clock_seconds();
    int at = publisher->sample_count++ % RATE_WINDOW_S;
    int oldest =
        publisher->sample_count > RATE_WINDOW_S ? publisher->sample_count % RATE_WINDOW_S : 0;
    publisher->samples[at].when = now;
    publisher->samples[at].observed = observed;
    double span_s = now - publisher->samples[oldest].when;
    return span_s > 0 ? (double)(observed - publisher->samples[oldest].observed) / span_s : 0;
}

/* Trials per second of this session. */
static double session_rate(const struct session *session) {
    double spent_s = clock_seconds() - session->started_s;
    return spent_s > 0 ? (double)(session->observed - session->trials_before) / spent_s : 0;
}

/* The goal with the most patience left decides when the run ends. */
static int64_t patience_left(const struct session *session) {
    int64_t most = 0;
    for (int g = 0; g < session->goal_count; g++) {
        int64_t left = session->config->patience -
                       (session->gains[g].observed - session->gains[g].last_gain_at);
        most = session->left_out[g] == NULL && left > most ? left : most;
    }
    return most;
}

static void fill_status(const struct session *session, struct run_status *status) {
    const struct config *config = session->config;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    status->pid = getpid();
    status->updated = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    status->asked = session->asked;
    status->observed = session->observed;
    status->seconds = session_elapsed(session);
    status->budget_trials = config->trials;
    status->budget_seconds = config->seconds;
    status->patience = config->patience;
    status->patience_left = config->patience > 0 ? patience_left(session) : 0;
    status->target_us = config->target_us;
    status->target_ratio = config->target_ratio;
    status->nice = config->nice;
    status->max_temperature_c = config->max_temperature_c;
    if (session->pool == NULL)
        return;
    const struct device_info *device = pool_device(session->pool);
    snprintf(status->device, sizeof status->device, "%s", device->name);
    status->predicts = device->predicts;
    status->restarts = pool_restarts(session->pool);
    status->worker_count = pool_list_workers(session->pool, status->workers, STATUS_WORKERS_MAX);
}

/* Says once what the search will take, if that is long. */
static void log_forecast(struct session *session) {
    const struct config *config = session->config;
    struct forecast forecast = {.trials_per_s = session_rate(session)};
    char text[FORECAST_SIZE];
    if (session->publisher->forecast_logged ||
        session->observed - session->trials_before < FORECAST_TRIALS ||
        clock_seconds() - session->started_s < FORECAST_S)
        return;
    session->publisher->forecast_logged = true;
    forecast_print(&forecast, config->trials, config->seconds, session_searched_count(session),
                   text);
    log_info("the first trials: %s", text);
}

static void write_status(struct session *session, const struct run_status *status) {
    struct error error = {0};
    struct status_publisher *publisher = session->publisher;
    if (status_file_write(status, session->run_dir, &error) == 0)
        publisher->failures = 0;
    /* Only a warning: if the disk is full, the next store operation ends the run with an error. */
    else if (++publisher->failures == FAILURES_WARNED)
        log_warn("`evotile watch` cannot be updated: %s", error.text);
}

/* ---- pausing ---- */

/* Polls a device, and pauses or continues its worker. The status shows the GPU of the first device,
   and the number of other processes on all. */
static void poll_device(struct session *session, int device, bool list_processes,
                        struct run_status *status) {
    struct device_monitor *device_monitor = &session->publisher->monitors[device];
    struct nvml_state state = run_status_empty().gpu;
    if (clock_monitor_read_state(device_monitor->clock_monitor, &state) &&
        (device_monitor->throttle.nice || list_processes))
        device_monitor->others = clock_monitor_other_processes(device_monitor->clock_monitor);
    if (device == 0)
        status->gpu = state;
    if (device_monitor->others >= 0)
        status->others = device_monitor->others + (status->others > 0 ? status->others : 0);
    bool paused =
        throttle_decide(&device_monitor->throttle, device_monitor->others, state.temperature_c);
    if (paused != device_monitor->paused) {
        const char *spec = session->publisher->monitor_count > 1
                               ? pool_device_at(session->pool, device)->spec
                               : "";
        log_info("%s%s%s%s", spec, *spec != '\0' ? ": " : "", paused ? "paused: " : "continuing",
                 paused ? device_monitor->throttle.reason : "");
    }
    device_monitor->paused = paused;
    pool_pause(session->pool, device, paused);
}

static void poll_devices(struct session *session, struct run_status *status) {
    struct status_publisher *publisher = session->publisher;
    bool list_processes = publisher->poll_count++ % PROCESSES_EVERY == 0;
    publisher->paused = publisher->monitor_count > 0;
    for (int d = 0; d < publisher->monitor_count; d++) {
        poll_device(session, d, list_processes, status);
        publisher->paused = publisher->paused && publisher->monitors[d].paused;
    }
}

bool session_is_paused(const struct session *session) {
    return session->publisher != NULL && session->publisher->paused;
}

const char *session_pause_reason(const struct session *session) {
    return session_is_paused(session) ? session->publisher->monitors[0].throttle.reason : "";
}

/* ---- publishing ---- */

void session_publish_status(struct session *session) {
    struct status_publisher *publisher = find_publisher(session);
    if (clock_seconds() - publisher->published < interval_s(INTERVAL_STATUS))
        return;
    publisher->published = clock_seconds();
    struct run_status status = run_status_empty();
    poll_devices(session, &status);
    fill_status(session, &status);
    status.trials_per_s = update_rate(publisher, session->observed);
    status.phase = publisher->paused ? PHASE_PAUSED : publisher->phase;
    snprintf(status.reason, sizeof status.reason, "%s", session_pause_reason(session));
    write_status(session, &status);
    log_forecast(session);
}

void session_set_phase(struct session *session, enum phase phase, const char *reason) {
    struct status_publisher *publisher = find_publisher(session);
    struct run_status status = run_status_empty();
    publisher->phase = phase;
    fill_status(session, &status);
    status.phase = phase;
    snprintf(status.reason, sizeof status.reason, "%s", reason);
    if (phase_is_over(phase)) {
        status.worker_count = 0;
        status.trials_per_s = session_rate(session);
    } else {
        status.trials_per_s = update_rate(publisher, session->observed);
    }
    write_status(session, &status);
}
