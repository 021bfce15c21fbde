#include "remote/cleanup.h"

#include "remote/connection_internal.h"

#include <string.h>

/* Where a run has data, in the order of removal: the files last, since they identify the run. */
enum location { LOCATION_TRIALS, LOCATION_RESULTS, LOCATION_RUNS, LOCATION_FILES, LOCATION_COUNT };

static const struct {
    const char *stream;
    const char *subject; /* the part before the id */
    const char *suffix;  /* the part after it */
} locations[LOCATION_COUNT] = {
    [LOCATION_TRIALS] = {QUEUE_TRIALS, "evotile.trial.", ""},
    [LOCATION_RESULTS] = {QUEUE_RESULTS, "evotile.result.", ""},
    [LOCATION_RUNS] = {"KV_" QUEUE_RUNS, "$KV." QUEUE_RUNS ".", ""},
    [LOCATION_FILES] = {"KV_" QUEUE_FILES, "$KV." QUEUE_FILES ".", ".>"},
};

static const char *subject_of(enum location location, const char *id,
                              char subject[QUEUE_SUBJECT_SIZE]) {
    snprintf(subject, QUEUE_SUBJECT_SIZE, "%s%s%s", locations[location].subject, id,
             locations[location].suffix);
    return subject;
}

static void purge(struct connection *connection, const char *id, enum location first,
                  enum location end) {
    for (enum location location = first; location < end; location++) {
        char subject[QUEUE_SUBJECT_SIZE];
        jsOptions options;
        jsOptions_Init(&options);
        options.Stream.Purge.Subject = subject_of(location, id, subject);
        js_PurgeStream(connection->js, locations[location].stream, &options, NULL);
    }
}

void cleanup_queues(struct connection *connection, const char *id) {
    for (enum location location = LOCATION_TRIALS; location <= LOCATION_RESULTS; location++)
        js_DeleteConsumer(connection->js, locations[location].stream, id, NULL, NULL);
    purge(connection, id, LOCATION_TRIALS, LOCATION_RUNS);
}

void cleanup_run(struct connection *connection, const char *id) {
    cleanup_queues(connection, id);
    purge(connection, id, LOCATION_RUNS, LOCATION_COUNT);
}

/* ---- abandoned runs ---- */

/* The time of the run's last message there. */
static natsStatus last_message_ns(struct connection *connection, enum location location,
                                  const char *id, int64_t *when_ns) {
    char subject[QUEUE_SUBJECT_SIZE];
    natsMsg *message = NULL;
    natsStatus status = js_GetLastMsg(&message, connection->js, locations[location].stream,
                                      subject_of(location, id, subject), NULL, NULL);
    *when_ns = status == NATS_OK ? natsMsg_GetTime(message) : 0;
    natsMsg_Destroy(message);
    return status;
}

/* When the description was last updated, or else when the files were stored; 0: unknown. */
static int64_t last_activity_ns(struct connection *connection, const char *id) {
    int64_t when_ns;
    if (last_message_ns(connection, LOCATION_RUNS, id, &when_ns) == NATS_NOT_FOUND)
        last_message_ns(connection, LOCATION_FILES, id, &when_ns);
    return when_ns;
}

static int by_subject(const void *a, const void *b) {
    return strcmp(((const jsStreamStateSubject *)a)->Subject,
                  ((const jsStreamStateSubject *)b)->Subject);
}

/* The id of the run that a file's subject belongs to; empty: not one of ours. */
static void parse_run_id(const char *subject, char id[QUEUE_ID_SIZE]) {
    const char *at = subject + strlen(locations[LOCATION_FILES].subject);
    size_t length = strcspn(at, ".");
    snprintf(id, QUEUE_ID_SIZE, "%.*s", length == QUEUE_ID_SIZE - 1 ? (int)length : 0, at);
}

int cleanup_abandoned(struct connection *connection, const char *id, double silent_s) {
    char subject[QUEUE_SUBJECT_SIZE];
    char at[QUEUE_ID_SIZE] = "", last[QUEUE_ID_SIZE] = "";
    int count = 0;
    int64_t now_ns = last_activity_ns(connection, id);
    jsStreamInfo *info = NULL;
    jsOptions options;
    jsOptions_Init(&options);
    snprintf(subject, sizeof subject, "%s>", locations[LOCATION_FILES].subject);
    options.Stream.Info.SubjectsFilter = subject;
    if (now_ns == 0 || js_GetStreamInfo(&info, connection->js, locations[LOCATION_FILES].stream,
                                        &options, NULL) != NATS_OK)
        return 0;
    jsStreamStateSubjects *subjects = info->State.Subjects;
    if (subjects != NULL)
        qsort(subjects->List, (size_t)subjects->Count, sizeof *subjects->List, by_subject);
    for (int s = 0; subjects != NULL && s < subjects->Count; s++) {
        parse_run_id(subjects->List[s].Subject, at);
        if (strcmp(at, last) == 0) /* another file of the same run */
            continue;
        strcpy(last, at);
        int64_t activity_ns =
            *at != '\0' && strcmp(at, id) != 0 ? last_activity_ns(connection, at) : 0;
        if (activity_ns > 0 && (double)(now_ns - activity_ns) > 1e9 * silent_s) {
            cleanup_run(connection, at);
            count++;
        }
    }
    jsStreamInfo_Destroy(info);
    return count;
}
