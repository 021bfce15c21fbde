#include "serve/tasks.h"

#include "base/memory.h"

#include <ctype.h>
#include <sodium.h>
#include <string.h>

enum { BUCKETS = 4096 };

const struct task_limits task_limits_default = {.waiting_of_client = 256,
                                                .waiting = 2048,
                                                .kept = 4096,
                                                .fetched = 1024,
                                                .bytes_of_client = 64u << 20,
                                                .bytes = 256u << 20};

struct entry {
    struct task task;
    struct owner *owner;
    size_t bytes;
    struct list *list; /* NULL: it runs */
    struct entry *before, *after;
    struct entry *bucket_next;
};

struct list {
    struct entry *first, *last;
    int count;
};

/* A client, while it has tasks. */
struct owner {
    char name[CLIENT_NAME_SIZE];
    struct list waiting, kept;
    int open, entries;
    size_t bytes;
    struct owner *next;
    bool has_turn;
    struct owner *turn_before, *turn_after;
};

struct tasks {
    struct task_limits limits;
    struct entry *buckets[BUCKETS];
    struct owner *owners;
    struct owner *turn_first, *turn_last; /* the clients with waiting tasks, the next one first */
    struct list fetched;
    int64_t last_id;
    int counts[TASK_STATE_COUNT];
    size_t bytes;
    void (*done)(void *context, const struct task *task);
    void *done_context;
};

/* ---- lists ---- */

static void list_add(struct list *list, struct entry *entry, bool first) {
    entry->list = list;
    entry->before = first ? NULL : list->last;
    entry->after = first ? list->first : NULL;
    *(entry->before != NULL ? &entry->before->after : &list->first) = entry;
    *(entry->after != NULL ? &entry->after->before : &list->last) = entry;
    list->count++;
}

static void list_remove(struct entry *entry) {
    struct list *list = entry->list;
    if (list == NULL)
        return;
    *(entry->before != NULL ? &entry->before->after : &list->first) = entry->after;
    *(entry->after != NULL ? &entry->after->before : &list->last) = entry->before;
    list->count--;
    entry->list = NULL;
}

static void turn_add(struct tasks *tasks, struct owner *owner, bool first) {
    owner->has_turn = true;
    owner->turn_before = first ? NULL : tasks->turn_last;
    owner->turn_after = first ? tasks->turn_first : NULL;
    *(owner->turn_before != NULL ? &owner->turn_before->turn_after : &tasks->turn_first) = owner;
    *(owner->turn_after != NULL ? &owner->turn_after->turn_before : &tasks->turn_last) = owner;
}

static void turn_remove(struct tasks *tasks, struct owner *owner) {
    if (!owner->has_turn)
        return;
    *(owner->turn_before != NULL ? &owner->turn_before->turn_after : &tasks->turn_first) =
        owner->turn_after;
    *(owner->turn_after != NULL ? &owner->turn_after->turn_before : &tasks->turn_last) =
        owner->turn_before;
    owner->has_turn = false;
}

/* ---- clients ---- */

static struct owner *find_owner(const struct tasks *tasks, const char *client) {
    struct owner *owner = tasks->owners;
    while (owner != NULL && strcmp(owner->name, client) != 0)
        owner = owner->next;
    return owner;
}

static struct owner *require_owner(struct tasks *tasks, const char *client) {
    struct owner *owner = find_owner(tasks, client);
    if (owner != NULL)
        return owner;
    if (strlen(client) >= CLIENT_NAME_SIZE)
        BUG("a client's name has %zu bytes", strlen(client));
    owner = xcalloc(1, sizeof *owner);
    strcpy(owner->name, client);
    owner->next = tasks->owners;
    tasks->owners = owner;
    return owner;
}

static void remove_owner(struct tasks *tasks, struct owner *owner) {
    struct owner **at = &tasks->owners;
    while (*at != owner)
        at = &(*at)->next;
    *at = owner->next;
    turn_remove(tasks, owner);
    free(owner);
}

/* ---- entries ---- */

static struct entry *find_entry(const struct tasks *tasks, int64_t id) {
    struct entry *entry = tasks->buckets[(uint64_t)id % BUCKETS];
    while (entry != NULL && entry->task.id != id)
        entry = entry->bucket_next;
    return entry;
}

static struct entry *find_own(const struct tasks *tasks, const char *client, int64_t id) {
    struct entry *entry = find_entry(tasks, id);
    return entry != NULL && entry->task.state != TASK_CANCELLED &&
                   strcmp(entry->task.client, client) == 0
               ? entry
               : NULL;
}

static struct entry *require_running(const struct tasks *tasks, int64_t id) {
    struct entry *entry = find_entry(tasks, id);
    if (entry == NULL || (entry->task.state != TASK_RUNNING && entry->task.state != TASK_CANCELLED))
        BUG("task %lld does not run", (long long)id);
    return entry;
}

static void set_state(struct tasks *tasks, struct entry *entry, enum task_state state) {
    tasks->counts[entry->task.state]--;
    tasks->counts[state]++;
    entry->task.state = state;
}

/* What is done, or is dropped before, no longer counts against the limits. */
static void close_entry(struct tasks *tasks, struct entry *entry) {
    entry->owner->open--;
    entry->owner->bytes -= entry->bytes;
    tasks->bytes -= entry->bytes;
}

static void remove_entry(struct tasks *tasks, struct entry *entry) {
    struct entry **at = &tasks->buckets[(uint64_t)entry->task.id % BUCKETS];
    struct owner *owner = entry->owner;
    while (*at != entry)
        at = &(*at)->bucket_next;
    *at = entry->bucket_next;
    if (entry->task.state != TASK_DONE)
        close_entry(tasks, entry);
    tasks->counts[entry->task.state]--;
    list_remove(entry);
    if (owner->waiting.count == 0)
        turn_remove(tasks, owner);
    if (--owner->entries == 0)
        remove_owner(tasks, owner);
    cJSON_Delete(entry->task.request);
    cJSON_Delete(entry->task.answer);
    free(entry);
}

static void cancel_entry(struct tasks *tasks, struct entry *entry) {
    if (entry->task.state == TASK_RUNNING)
        set_state(tasks, entry, TASK_CANCELLED); /* the judge still has it */
    else if (entry->task.state != TASK_CANCELLED)
        remove_entry(tasks, entry);
}

/* ---- all tasks ---- */

struct tasks *tasks_new(const struct task_limits *limits) {
    struct tasks *tasks = xcalloc(1, sizeof *tasks);
    if (sodium_init() < 0)
        BUG("libsodium does not start");
    tasks->limits = *limits;
    return tasks;
}

void tasks_free(struct tasks *tasks) {
    if (tasks == NULL)
        return;
    for (int b = 0; b < BUCKETS; b++)
        while (tasks->buckets[b] != NULL)
            remove_entry(tasks, tasks->buckets[b]);
    free(tasks);
}

static int check_room(const struct tasks *tasks, const char *client, size_t bytes,
                      struct error *error) {
    const struct task_limits *limits = &tasks->limits;
    const struct owner *owner = find_owner(tasks, client);
    int open =
        tasks->counts[TASK_WAITING] + tasks->counts[TASK_RUNNING] + tasks->counts[TASK_CANCELLED];
    if (owner != NULL && owner->open >= limits->waiting_of_client)
        return error_refuse(error,
                            "%d of your tasks are not done, which is the limit of a client: fetch "
                            "or cancel some, then send it again",
                            owner->open);
    if ((owner != NULL ? owner->bytes : 0) + bytes > limits->bytes_of_client)
        return error_refuse(error,
                            "your tasks that are not done would have more than %zu MB, which is "
                            "the limit of a client: fetch or cancel some, then send it again",
                            limits->bytes_of_client >> 20);
    if (open >= limits->waiting || tasks->bytes + bytes > limits->bytes)
        return error_set(error,
                         "the server is full, with %d tasks that are not done: send it "
                         "again later",
                         open);
    return 0;
}

bool tasks_has_room(const struct tasks *tasks, const char *client, size_t bytes) {
    struct error error;
    return check_room(tasks, client, bytes, &error) == 0;
}

int64_t tasks_add(struct tasks *tasks, const char *client, cJSON *request, size_t bytes,
                  struct error *error) {
    if (check_room(tasks, client, bytes, error) < 0) {
        cJSON_Delete(request);
        return -1;
    }
    struct entry *entry = xcalloc(1, sizeof *entry);
    unsigned char secret[(TASK_SECRET_SIZE - 1) / 2];
    struct owner *owner = require_owner(tasks, client);
    randombytes_buf(secret, sizeof secret);
    sodium_bin2hex(entry->task.secret, sizeof entry->task.secret, secret, sizeof secret);
    entry->task.id = ++tasks->last_id;
    entry->task.request = request;
    strcpy(entry->task.client, client);
    entry->bytes = bytes;
    entry->owner = owner;
    entry->bucket_next = tasks->buckets[(uint64_t)entry->task.id % BUCKETS];
    tasks->buckets[(uint64_t)entry->task.id % BUCKETS] = entry;
    tasks->counts[TASK_WAITING]++;
    tasks->bytes += bytes;
    owner->bytes += bytes;
    owner->open++;
    owner->entries++;
    list_add(&owner->waiting, entry, false);
    if (!owner->has_turn)
        turn_add(tasks, owner, false);
    return entry->task.id;
}

/* ---- the judge's side ---- */

const struct task *tasks_take(struct tasks *tasks) {
    struct owner *owner = tasks->turn_first;
    if (owner == NULL)
        return NULL;
    struct entry *entry = owner->waiting.first;
    list_remove(entry);
    turn_remove(tasks, owner);
    if (owner->waiting.count > 0)
        turn_add(tasks, owner, false);
    set_state(tasks, entry, TASK_RUNNING);
    return &entry->task;
}

void tasks_put_back(struct tasks *tasks, int64_t id) {
    struct entry *entry = require_running(tasks, id);
    struct owner *owner = entry->owner;
    if (entry->task.state == TASK_CANCELLED) {
        remove_entry(tasks, entry);
        return;
    }
    set_state(tasks, entry, TASK_WAITING);
    list_add(&owner->waiting, entry, true);
    turn_remove(tasks, owner);
    turn_add(tasks, owner, true);
}

/* Of the client that keeps most, so that one client cannot push out another's answers. */
static void drop_kept_answer(struct tasks *tasks) {
    struct owner *most = NULL;
    int kept = 0;
    for (struct owner *owner = tasks->owners; owner != NULL; owner = owner->next) {
        kept += owner->kept.count;
        if (most == NULL || owner->kept.count > most->kept.count)
            most = owner;
    }
    if (kept > tasks->limits.kept)
        remove_entry(tasks, most->kept.first);
}

void tasks_finish(struct tasks *tasks, int64_t id, cJSON *answer) {
    struct entry *entry = require_running(tasks, id);
    if (entry->task.state == TASK_CANCELLED) {
        cJSON_Delete(answer);
        remove_entry(tasks, entry);
        return;
    }
    set_state(tasks, entry, TASK_DONE);
    close_entry(tasks, entry);
    entry->task.answer = answer;
    list_add(&entry->owner->kept, entry, false);
    if (tasks->done != NULL)
        tasks->done(tasks->done_context, &entry->task); /* the task may be gone after this */
    drop_kept_answer(tasks);
}

bool tasks_is_cancelled(const struct tasks *tasks, int64_t id) {
    const struct entry *entry = find_entry(tasks, id);
    return entry == NULL || entry->task.state == TASK_CANCELLED;
}

/* ---- a client's side ---- */

const struct task *tasks_find(const struct tasks *tasks, const char *client, int64_t id) {
    const struct entry *entry = find_own(tasks, client, id);
    return entry != NULL ? &entry->task : NULL;
}

static const struct task *find_open(const struct tasks *tasks, const char *client,
                                    const cJSON *id) {
    if (tasks_count_open(tasks, client) == 0)
        return NULL;
    for (int b = 0; b < BUCKETS; b++)
        for (const struct entry *entry = tasks->buckets[b]; entry; entry = entry->bucket_next) {
            const cJSON *name = cJSON_GetObjectItemCaseSensitive(entry->task.request, "id");
            if (entry->task.state <= TASK_RUNNING && strcmp(entry->task.client, client) == 0 &&
                (id == NULL || (name != NULL && cJSON_Compare(name, id, true))))
                return &entry->task;
        }
    return NULL;
}

const struct task *tasks_find_named(const struct tasks *tasks, const char *client,
                                    const cJSON *id) {
    return find_open(tasks, client, id);
}

const struct task *tasks_find_open(const struct tasks *tasks, const char *client) {
    return find_open(tasks, client, NULL);
}

const char *task_print_key(const struct task *task, char key[TASK_KEY_SIZE]) {
    snprintf(key, TASK_KEY_SIZE, "%lld-%s", (long long)task->id, task->secret);
    return key;
}

const struct task *tasks_find_key(const struct tasks *tasks, const char *client, const char *key) {
    char *secret;
    if (!isdigit((unsigned char)*key))
        return NULL;
    int64_t id = strtoll(key, &secret, 10);
    const struct task *task = tasks_find(tasks, client, id);
    if (task == NULL || *secret != '-' || strlen(secret + 1) != TASK_SECRET_SIZE - 1 ||
        sodium_memcmp(secret + 1, task->secret, TASK_SECRET_SIZE - 1) != 0)
        return NULL;
    return task;
}

bool tasks_cancel(struct tasks *tasks, const char *client, int64_t id) {
    struct entry *entry = find_own(tasks, client, id);
    if (entry == NULL || entry->task.state == TASK_DONE)
        return false;
    cancel_entry(tasks, entry);
    return true;
}

void tasks_mark_fetched(struct tasks *tasks, const char *client, int64_t id) {
    struct entry *entry = find_own(tasks, client, id);
    if (entry == NULL || entry->list != &entry->owner->kept)
        return;
    list_remove(entry);
    list_add(&tasks->fetched, entry, false);
    if (tasks->fetched.count > tasks->limits.fetched)
        remove_entry(tasks, tasks->fetched.first);
}

void tasks_forget(struct tasks *tasks, const char *client, int64_t id) {
    struct entry *entry = find_own(tasks, client, id);
    if (entry != NULL && entry->task.state == TASK_DONE)
        remove_entry(tasks, entry);
}

void tasks_drop_client(struct tasks *tasks, const char *client) {
    for (int b = 0; b < BUCKETS; b++)
        for (struct entry *entry = tasks->buckets[b], *next; entry != NULL; entry = next) {
            next = entry->bucket_next;
            if (strcmp(entry->task.client, client) == 0)
                cancel_entry(tasks, entry);
        }
}

int tasks_count(const struct tasks *tasks, enum task_state state) {
    return tasks->counts[state];
}

int tasks_count_open(const struct tasks *tasks, const char *client) {
    const struct owner *owner = find_owner(tasks, client);
    return owner != NULL ? owner->open : 0;
}

int tasks_count_clients(const struct tasks *tasks) {
    int count = 0;
    for (const struct owner *owner = tasks->owners; owner != NULL; owner = owner->next)
        count++;
    return count;
}

void tasks_on_done(struct tasks *tasks, void (*done)(void *context, const struct task *task),
                   void *context) {
    tasks->done = done;
    tasks->done_context = context;
}
