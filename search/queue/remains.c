#include "queue/remains.h"

#include "queue/server.h"

#include <string.h>

/* Where a run has data, in the order of removal: the files last, since they identify the run. */
enum place { PLACE_TRIALS, PLACE_RESULTS, PLACE_RUNS, PLACE_FILES, PLACES };

static const struct {
    const char *stream;
    const char *subject; /* the part before the id */
    const char *below;   /* the part after it */
} places[PLACES] = {
    [PLACE_TRIALS] = {QUEUE_TRIALS, "evotile.trial.", ""},
    [PLACE_RESULTS] = {QUEUE_RESULTS, "evotile.result.", ""},
    [PLACE_RUNS] = {"KV_" QUEUE_RUNS, "$KV." QUEUE_RUNS ".", ""},
    [PLACE_FILES] = {"KV_" QUEUE_FILES, "$KV." QUEUE_FILES ".", ".>"},
};

static const char *subject_of(enum place place, const char *id, char subject[QUEUE_SUBJECT_SIZE]) {
    snprintf(subject, QUEUE_SUBJECT_SIZE, "%s%s%s", places[place].subject, id, places[place].below);
    return subject;
}

static void clear(struct link *link, const char *id, enum place first, enum place end) {
    for (enum place place = first; place < end; place++) {
        char subject[QUEUE_SUBJECT_SIZE];
        jsOptions options;
        jsOptions_Init(&options);
        options.Stream.Purge.Subject = subject_of(place, id, subject);
        js_PurgeStream(link->js, places[place].stream, &options, NULL);
    }
}

void remains_clear_queues(struct link *link, const char *id) {
    for (enum place place = PLACE_TRIALS; place <= PLACE_RESULTS; place++)
        js_DeleteConsumer(link->js, places[place].stream, id, NULL, NULL);
    clear(link, id, PLACE_TRIALS, PLACE_RUNS);
}

void remains_clear(struct link *link, const char *id) {
    remains_clear_queues(link, id);
    clear(link, id, PLACE_RUNS, PLACES);
}

/* ---- abandoned runs ---- */

/* The time of the run's last message there. */
static natsStatus last_ns(struct link *link, enum place place, const char *id, int64_t *when_ns) {
    char subject[QUEUE_SUBJECT_SIZE];
    natsMsg *message = NULL;
    natsStatus status = js_GetLastMsg(&message, link->js, places[place].stream,
                                      subject_of(place, id, subject), NULL, NULL);
    *when_ns = status == NATS_OK ? natsMsg_GetTime(message) : 0;
    natsMsg_Destroy(message);
    return status;
}

bool remains_gone(struct link *link, const char *id) {
    int64_t when_ns;
    return last_ns(link, PLACE_FILES, id, &when_ns) == NATS_NOT_FOUND;
}

/* When the description was last updated, or else when the files were stored; 0: unknown. */
static int64_t last_sign_ns(struct link *link, const char *id) {
    int64_t when_ns;
    if (last_ns(link, PLACE_RUNS, id, &when_ns) == NATS_NOT_FOUND)
        last_ns(link, PLACE_FILES, id, &when_ns);
    return when_ns;
}

static int by_subject(const void *a, const void *b) {
    return strcmp(((const jsStreamStateSubject *)a)->Subject,
                  ((const jsStreamStateSubject *)b)->Subject);
}

/* The id of the run that a file's subject belongs to; empty: not one of ours. */
static void read_id(const char *subject, char id[QUEUE_ID_SIZE]) {
    const char *at = subject + strlen(places[PLACE_FILES].subject);
    size_t length = strcspn(at, ".");
    snprintf(id, QUEUE_ID_SIZE, "%.*s", length == QUEUE_ID_SIZE - 1 ? (int)length : 0, at);
}

int remains_clear_dead(struct link *link, const char *id, double silent_s) {
    char subject[QUEUE_SUBJECT_SIZE];
    char at[QUEUE_ID_SIZE] = "", last[QUEUE_ID_SIZE] = "";
    int count = 0;
    int64_t now_ns = last_sign_ns(link, id);
    jsStreamInfo *info = NULL;
    jsOptions options;
    jsOptions_Init(&options);
    snprintf(subject, sizeof subject, "%s>", places[PLACE_FILES].subject);
    options.Stream.Info.SubjectsFilter = subject;
    if (now_ns == 0 ||
        js_GetStreamInfo(&info, link->js, places[PLACE_FILES].stream, &options, NULL) != NATS_OK)
        return 0;
    jsStreamStateSubjects *subjects = info->State.Subjects;
    if (subjects != NULL)
        qsort(subjects->List, (size_t)subjects->Count, sizeof *subjects->List, by_subject);
    for (int s = 0; subjects != NULL && s < subjects->Count; s++) {
        read_id(subjects->List[s].Subject, at);
        if (strcmp(at, last) == 0) /* another file of the same run */
            continue;
        strcpy(last, at);
        int64_t sign_ns = *at != '\0' && strcmp(at, id) != 0 ? last_sign_ns(link, at) : 0;
        if (sign_ns > 0 && (double)(now_ns - sign_ns) > 1e9 * silent_s) {
            remains_clear(link, at);
            count++;
        }
    }
    jsStreamInfo_Destroy(info);
    return count;
}
