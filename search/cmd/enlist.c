#include "cmd/enlist.h"

#include "base/clock.h"
#include "base/log.h"
#include "cmd/session.h"
#include "device/nvrtc.h"
#include "queue/bridge.h"
#include "queue/parcel.h"
#include "queue/runs.h"
#include "trial/crew.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How often a worker reads the run's description while it works for it. */
static const double look_every_s = 2;

/* The only state that a signal handler can reach. */
static volatile sig_atomic_t signals;

static void on_signal(int number) {
    (void)number;
    signals = signals + 1;
}

struct enlisted {
    const struct enlistment *how;
    struct link *link;
    struct runs *runs;
    double worked; /* clock_seconds */
};

static bool must_leave(const struct enlisted *it) {
    return signals > 0 || (it->how->idle_s > 0 && clock_seconds() - it->worked > it->how->idle_s);
}

static void nap(double seconds) {
    nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
                                 .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))},
              NULL);
}

/* ---- working for one run ---- */

static int open_crew(const struct enlisted *it, const char *folder, struct pool **crew,
                     struct error *error) {
    char program[PATH_SIZE];
    char config_path[PATH_SIZE];
    char template_folder[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return error_set(error, "cannot find our own program: %s", strerror(errno));
    program[length] = '\0';
    if (session_files(folder, config_path, template_folder, error) < 0)
        return -1;
    struct crew_settings settings = {.program = program,
                                     .config_path = config_path,
                                     .template_folder = template_folder,
                                     .devices = it->how->devices,
                                     .device_workers = (int)it->how->device_workers};
    if (session_compile_workers(config_path, template_folder, it->how->devices,
                                it->how->compile_workers, &settings.compile_workers, error) < 0)
        return -1;
    *crew = crew_new(&settings, error);
    return *crew != NULL ? 0 : -1;
}

static int find_place(const struct pool *crew, struct queue_place *place, struct error *error) {
    *place = (struct queue_place){.device = *pool_device(crew), .method = TRIAL_METHOD};
    struct nvrtc *nvrtc = nvrtc_open(error);
    if (nvrtc == NULL)
        return -1;
    snprintf(place->nvrtc, sizeof place->nvrtc, "%s", nvrtc_version(nvrtc));
    nvrtc_close(nvrtc);
    return 0;
}

/* Returns 1 if the coordinator has accepted a worker of our kind, so that we may take trials; 0 if
   it has not decided yet; -1 if it accepted another kind. */
static int is_ours(const struct description *description, const struct queue_place *place,
                   struct error *error) {
    char why[256];
    if (!description->placed)
        return 0;
    return queue_place_same(place, &description->place, why)
               ? 1
               : error_set(error, "here, the %s", why);
}

static int serve(struct enlisted *it, struct description *description, struct pool *crew,
                 struct error *error) {
    struct queue_place place;
    double looked = 0;
    if (find_place(crew, &place, error) < 0)
        return -1;
    struct bridge *bridge = bridge_new(it->link, description, crew, &place);
    int ours = 0;
    int status = 0;
    while (status == 0 && !must_leave(it)) {
        if (clock_seconds() - looked > (ours == 1 ? look_every_s : 0.2) && link_is_up(it->link)) {
            struct description now;
            int there = runs_read(it->runs, description->id, &now, error);
            looked = clock_seconds();
            if (there == 1) {
                ours = is_ours(&now, &place, error);
                for (int c = 0; c < now.champion_count; c++)
                    pool_crown(crew, &now.champions[c]);
                description_release(&now);
            }
            status = there < 0 || ours < 0 ? -1 : 0;
            if (there == 0 && link_is_up(it->link)) /* the run ended, or its coordinator is gone */
                break;
        }
        if (status == 0)
            status = bridge_round(bridge, ours == 1, error);
        if (bridge_idle_s(bridge) == 0)
            it->worked = clock_seconds();
    }
    bridge_free(bridge);
    return status;
}

/* Returns 0 when the run has no more work; 1 if its files cannot be fetched now: try again later;
   -1, with the reason in `error`, if this host cannot work for it. */
static int work_for(struct enlisted *it, struct description *description, struct error *error) {
    char folder[PATH_SIZE];
    struct pool *crew = NULL;
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/evotile.XXXXXX", temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL)
        return error_set(error, "cannot make %s: %s", folder, strerror(errno));
    int status = parcel_get(it->link, description, folder, error);
    if (status == 0)
        status = open_crew(it, folder, &crew, error);
    if (status == 0) {
        log_info("working for run %s, \"%s\", on %d x %s", description->id, description->name,
                 pool_device_count(crew), pool_device(crew)->name);
        it->worked = clock_seconds();
        status = serve(it, description, crew, error);
    }
    if (status == 0)
        log_info("run %s has no more work", description->id);
    pool_free(crew);
    path_remove_tree(folder, &(struct error){0});
    return status;
}

/* Reports a missing device at the start, not when the first run arrives. */
static int check_devices(const char *devices, struct error *error) {
    struct device_list list;
    struct device_info info;
    if (device_list_read(&list, devices, error) < 0)
        return -1;
    for (int d = 0; d < list.count; d++)
        if (device_describe(list.specs[d], &info, error) < 0)
            return -1;
    return 0;
}

int enlist(const struct enlistment *how, struct error *error) {
    struct sigaction action = {.sa_handler = on_signal};
    if (check_devices(how->devices, error) < 0)
        return -1;
    struct enlisted *it = calloc(1, sizeof *it);
    if (it == NULL)
        BUG("out of memory");
    it->how = how;
    it->worked = clock_seconds();
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    it->link = link_open(&how->link, error);
    int status = it->link != NULL ? 0 : -1;
    if (status == 0) {
        it->runs = runs_new(it->link);
        log_info("waiting for a run");
    }
    struct error warned = {0};
    while (status == 0 && !must_leave(it)) {
        struct description description;
        struct error why = {0};
        int found = link_is_up(it->link) ? runs_find(it->runs, &description, &why) : 0;
        if (found < 0 && strcmp(why.text, warned.text) != 0) { /* may be temporary: keep polling */
            log_warn("%s", why.text);
            warned = why;
        }
        int worked = found == 1 ? work_for(it, &description, &why) : 1;
        if (worked < 0)
            runs_refuse(it->runs, description.id, &why);
        if (found == 1)
            description_release(&description);
        if (worked == 1)
            nap(look_every_s / 4);
    }
    runs_free(it->runs);
    link_close(it->link);
    free(it);
    return status;
}
