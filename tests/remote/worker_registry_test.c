#include "remote/worker_registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"

enum { IDS = 12, STEPS = 5000 };

/* A worker with this id, `age_s` after its last heartbeat. False: there are too many. */
static bool add_worker(struct worker_registry *registry, int id, double age_s, bool rejected) {
    char text[QUEUE_ID_SIZE];
    snprintf(text, sizeof text, "%016x", (unsigned)id);
    struct remote_worker *worker = worker_registry_find(registry, text);
    if (worker == NULL)
        return false;
    *worker = (struct remote_worker){.last_seen = clock_seconds() - age_s, .rejected = rejected};
    snprintf(worker->heartbeat.worker, QUEUE_ID_SIZE, "%s", text);
    snprintf(worker->heartbeat.host, sizeof worker->heartbeat.host, "node%d", id);
    worker->heartbeat.devices = 1 + id % 3;
    worker->heartbeat.capacity = 10 + id;
    worker->heartbeat.in_flight = id % 2;
    return true;
}

static struct remote_worker *find_worker(struct worker_registry *registry, int id) {
    char text[QUEUE_ID_SIZE];
    snprintf(text, sizeof text, "%016x", (unsigned)id);
    return worker_registry_find(registry, text);
}

/* Any sequence of heartbeats, departures and silences leaves the workers that a plain list of them
   leaves. */
static void registry_holds_who_sends_heartbeats(void **state) {
    (void)state;
    struct worker_registry registry = {0};
    struct random random;
    struct {
        bool present, rejected, silent;
    } model[IDS] = {0};
    setenv("EVOTILE_INTERVALS", "heartbeat_timeout=1000", 1);
    random_seed(&random, 1, 1);
    for (int step = 0; step < STEPS; step++) {
        int id = (int)random_below(&random, IDS), vanished = 0;
        switch (random_below(&random, 4)) {
        case 0:
        case 1:
            model[id].present = true;
            model[id].rejected = random_below(&random, 3) == 0;
            model[id].silent = random_below(&random, 4) == 0;
            add_worker(&registry, id, model[id].silent ? 1001 : 0, model[id].rejected);
            break;
        case 2:
            if (model[id].present)
                worker_registry_remove(&registry, find_worker(&registry, id));
            model[id].present = false;
            break;
        default:
            for (int i = 0; i < IDS; i++) {
                vanished += model[i].present && model[i].silent && !model[i].rejected;
                model[i].present = model[i].present && !model[i].silent;
            }
            assert_int_equal(worker_registry_expire(&registry), vanished);
        }
        int count = 0, capacity = 0, devices = 0;
        for (int i = 0; i < IDS; i++) {
            bool accepted = model[i].present && !model[i].rejected;
            count += model[i].present;
            capacity += accepted ? 10 + i : 0;
            devices += accepted ? 1 + i % 3 : 0;
        }
        assert_int_equal(registry.count, count);
        assert_int_equal(worker_registry_capacity(&registry), capacity);
        assert_int_equal(worker_registry_list(&registry, NULL, 0), devices);
    }
    worker_registry_release(&registry);
    assert_int_equal(registry.count, 0);
}

/* A worker has one entry for each device; as many are busy as it has trials. */
static void devices_are_listed_up_to_the_limit(void **state) {
    (void)state;
    enum { LIMIT = 4 };
    struct worker_registry registry = {0};
    struct pool_worker workers[LIMIT + 1] = {[LIMIT] = {.trial = 77}};
    add_worker(&registry, 5, 3, false); /* three devices, one trial */
    add_worker(&registry, 2, 0, true);
    add_worker(&registry, 8, 0, false);
    assert_int_equal(worker_registry_list(&registry, workers, LIMIT), 6);
    assert_int_equal(workers[LIMIT].trial, 77);
    for (int w = 0; w < LIMIT; w++) {
        assert_string_equal(workers[w].role, "device");
        assert_string_equal(workers[w].host, w < 3 ? "node5" : "node8");
        assert_int_equal(workers[w].state, w == 0 ? POOL_BUSY : POOL_IDLE);
        assert_int_equal(workers[w].trial, -1);
    }
    assert_true(workers[0].since_s >= 3 && workers[3].since_s < 3);
    worker_registry_release(&registry);
}

/* Heartbeats of invented workers cannot fill the memory; those that are known stay known. */
static void number_of_workers_is_limited(void **state) {
    (void)state;
    struct worker_registry registry = {0};
    int count = 0;
    while (count < 100000 && add_worker(&registry, count, 0, true))
        count++;
    assert_int_equal(count, registry.count);
    assert_in_range(count, 1000, 99999);
    assert_true(add_worker(&registry, 0, 0, true));
    assert_int_equal(registry.count, count);
    worker_registry_remove(&registry, find_worker(&registry, 0));
    assert_true(add_worker(&registry, 200000, 0, true));
    assert_int_equal(registry.count, count);
    worker_registry_release(&registry);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registry_holds_who_sends_heartbeats),
        cmocka_unit_test(devices_are_listed_up_to_the_limit),
        cmocka_unit_test(number_of_workers_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
