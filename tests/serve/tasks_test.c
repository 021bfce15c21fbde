/* Clients take turns, stay within their limits and see their own tasks only; nothing is answered
   twice or to another client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/tasks.h"

#include <stdlib.h>
#include <string.h>

static const struct task_limits limits = {.waiting_of_client = 3,
                                          .waiting = 5,
                                          .kept = 4,
                                          .fetched = 2,
                                          .bytes_of_client = 100,
                                          .bytes = 150};

static struct tasks *make(void) {
    return tasks_new(&limits);
}

static cJSON *named(const char *id) {
    cJSON *request = cJSON_CreateObject();
    cJSON_AddStringToObject(request, "id", id);
    return request;
}

static int64_t add(struct tasks *tasks, const char *client) {
    struct error error = {0};
    return tasks_add(tasks, client, cJSON_CreateObject(), 1, &error);
}

static void assert_takes(struct tasks *tasks, int64_t id) {
    const struct task *task = tasks_take(tasks);
    assert_non_null(task);
    assert_int_equal(task->id, id);
    assert_int_equal(task->state, TASK_RUNNING);
}

static void test_turns(void **state) {
    struct tasks *tasks = make();
    int64_t a1 = add(tasks, "a");
    int64_t a2 = add(tasks, "a");
    int64_t a3 = add(tasks, "a");
    int64_t b1 = add(tasks, "b");
    int64_t c1 = add(tasks, "c");
    (void)state;
    assert_takes(tasks, a1);
    assert_takes(tasks, b1);
    assert_takes(tasks, c1);
    assert_takes(tasks, a2);
    assert_takes(tasks, a3);
    assert_null(tasks_take(tasks));
    tasks_free(tasks);
}

/* A task that is put back is the next one again, before the client's later ones and the others. */
static void test_put_back(void **state) {
    struct tasks *tasks = make();
    int64_t a1 = add(tasks, "a");
    int64_t a2 = add(tasks, "a");
    int64_t b1 = add(tasks, "b");
    (void)state;
    assert_takes(tasks, a1);
    tasks_put_back(tasks, a1);
    assert_int_equal(tasks_count(tasks, TASK_WAITING), 3);
    assert_takes(tasks, a1);
    assert_takes(tasks, b1);
    assert_takes(tasks, a2);
    assert_true(tasks_cancel(tasks, "a", a2));
    tasks_put_back(tasks, a2);
    assert_null(tasks_take(tasks));
    assert_int_equal(tasks_count_open(tasks, "a"), 1);
    tasks_free(tasks);
}

static void test_limits(void **state) {
    struct tasks *tasks = make();
    struct error error = {0};
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(add(tasks, "a") > 0);
    assert_false(tasks_has_room(tasks, "a", 1));
    assert_int_equal(tasks_add(tasks, "a", cJSON_CreateObject(), 1, &error), -1);
    assert_int_equal(error.kind, ERROR_REFUSED);
    assert_non_null(strstr(error.text, "3 of your tasks are not done"));
    assert_true(add(tasks, "b") > 0);
    assert_true(add(tasks, "b") > 0);
    assert_int_equal(tasks_add(tasks, "b", cJSON_CreateObject(), 1, &error), -1);
    assert_int_equal(error.kind, ERROR_FAILED);
    assert_non_null(strstr(error.text, "the server is full"));
    /* What is done makes room. */
    const struct task *task = tasks_take(tasks);
    tasks_finish(tasks, task->id, cJSON_CreateObject());
    assert_true(tasks_has_room(tasks, "a", 1));
    tasks_free(tasks);
}

static void test_bytes(void **state) {
    struct tasks *tasks = make();
    struct error error = {0};
    (void)state;
    int64_t id = tasks_add(tasks, "a", cJSON_CreateObject(), 100, &error);
    assert_true(id > 0);
    assert_int_equal(tasks_add(tasks, "a", cJSON_CreateObject(), 1, &error), -1);
    assert_int_equal(error.kind, ERROR_REFUSED);
    assert_int_equal(tasks_add(tasks, "b", cJSON_CreateObject(), 51, &error), -1);
    assert_int_equal(error.kind, ERROR_FAILED);
    assert_true(tasks_add(tasks, "b", cJSON_CreateObject(), 50, &error) > 0);
    assert_true(tasks_cancel(tasks, "a", id));
    assert_true(tasks_has_room(tasks, "a", 100));
    tasks_free(tasks);
}

static void test_cancel(void **state) {
    struct tasks *tasks = make();
    int64_t waits = add(tasks, "a");
    int64_t runs = add(tasks, "a");
    (void)state;
    assert_false(tasks_cancel(tasks, "b", waits));
    assert_takes(tasks, waits);
    assert_takes(tasks, runs);
    tasks_put_back(tasks, waits);
    assert_true(tasks_cancel(tasks, "a", waits));
    assert_null(tasks_find(tasks, "a", waits));
    assert_null(tasks_take(tasks));
    assert_false(tasks_is_cancelled(tasks, runs));
    assert_true(tasks_cancel(tasks, "a", runs));
    assert_true(tasks_is_cancelled(tasks, runs));
    assert_null(tasks_find(tasks, "a", runs));
    assert_int_equal(tasks_count_open(tasks, "a"), 1); /* the judge still has it */
    tasks_finish(tasks, runs, cJSON_CreateObject());
    assert_int_equal(tasks_count_clients(tasks), 0);
    assert_int_equal(tasks_count(tasks, TASK_CANCELLED), 0);
    tasks_free(tasks);
}

struct seen {
    int count;
    int64_t last;
    struct tasks *tasks;
    bool forgets;
};

static void see(void *context, const struct task *task) {
    struct seen *seen = context;
    assert_int_equal(task->state, TASK_DONE);
    assert_non_null(task->answer);
    seen->count++;
    seen->last = task->id;
    if (seen->forgets)
        tasks_forget(seen->tasks, task->client, task->id);
}

static void test_done(void **state) {
    struct tasks *tasks = make();
    struct seen seen = {.tasks = tasks};
    (void)state;
    tasks_on_done(tasks, see, &seen);
    int64_t first = add(tasks, "a");
    int64_t second = add(tasks, "a");
    tasks_take(tasks);
    tasks_take(tasks);
    tasks_finish(tasks, second, cJSON_CreateObject());
    assert_int_equal(seen.last, second);
    seen.forgets = true;
    tasks_finish(tasks, first, cJSON_CreateObject());
    assert_int_equal(seen.count, 2);
    assert_null(tasks_find(tasks, "a", first));
    assert_non_null(tasks_find(tasks, "a", second));
    assert_null(tasks_find(tasks, "b", second));
    tasks_free(tasks);
}

static int64_t finish_one(struct tasks *tasks, const char *client) {
    int64_t id = add(tasks, client);
    tasks_take(tasks);
    tasks_finish(tasks, id, cJSON_CreateObject());
    return id;
}

/* The client that keeps most answers loses its oldest, and another one nothing. */
static void test_kept(void **state) {
    struct tasks *tasks = make();
    (void)state;
    int64_t other = finish_one(tasks, "b");
    int64_t first = finish_one(tasks, "a");
    int64_t second = finish_one(tasks, "a");
    finish_one(tasks, "a");
    assert_non_null(tasks_find(tasks, "a", first));
    finish_one(tasks, "a");
    assert_null(tasks_find(tasks, "a", first));
    assert_non_null(tasks_find(tasks, "a", second));
    assert_non_null(tasks_find(tasks, "b", other));
    assert_int_equal(tasks_count(tasks, TASK_DONE), 4);
    tasks_free(tasks);
}

/* Fetched answers stay for another question, and make room for new ones. */
static void test_fetched(void **state) {
    struct tasks *tasks = make();
    int64_t ids[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        ids[i] = finish_one(tasks, "a");
        tasks_mark_fetched(tasks, "a", ids[i]);
        tasks_mark_fetched(tasks, "a", ids[i]);
    }
    assert_null(tasks_find(tasks, "a", ids[0]));
    assert_non_null(tasks_find(tasks, "a", ids[1]));
    assert_non_null(tasks_find(tasks, "a", ids[2]));
    tasks_forget(tasks, "b", ids[2]);
    assert_non_null(tasks_find(tasks, "a", ids[2]));
    tasks_forget(tasks, "a", ids[2]);
    assert_null(tasks_find(tasks, "a", ids[2]));
    tasks_free(tasks);
}

static void test_client_gone(void **state) {
    struct tasks *tasks = make();
    (void)state;
    int64_t kept = finish_one(tasks, "a");
    int64_t runs = add(tasks, "a");
    tasks_take(tasks);
    add(tasks, "a");
    int64_t other = add(tasks, "b");
    tasks_drop_client(tasks, "a");
    assert_null(tasks_find(tasks, "a", kept));
    assert_true(tasks_is_cancelled(tasks, runs));
    assert_takes(tasks, other);
    assert_null(tasks_take(tasks));
    tasks_finish(tasks, runs, NULL);
    assert_int_equal(tasks_count_clients(tasks), 1);
    tasks_free(tasks);
}

static void test_names(void **state) {
    struct tasks *tasks = make();
    struct error error = {0};
    cJSON *x = cJSON_CreateString("x");
    cJSON *y = cJSON_CreateString("y");
    (void)state;
    int64_t id = tasks_add(tasks, "a", named("x"), 1, &error);
    assert_int_equal(tasks_find_named(tasks, "a", x)->id, id);
    assert_null(tasks_find_named(tasks, "a", y));
    assert_null(tasks_find_named(tasks, "b", x));
    tasks_take(tasks);
    tasks_finish(tasks, id, cJSON_CreateObject());
    assert_null(tasks_find_named(tasks, "a", x)); /* a name may be used again after the answer */
    cJSON_Delete(x);
    cJSON_Delete(y);
    tasks_free(tasks);
}

static void test_keys(void **state) {
    struct tasks *tasks = make();
    char key[TASK_KEY_SIZE];
    char other[TASK_KEY_SIZE];
    (void)state;
    int64_t id = add(tasks, "a");
    task_print_key(tasks_find(tasks, "a", id), key);
    assert_int_equal(strlen(key), strlen("1-") + 32);
    assert_int_equal(tasks_find_key(tasks, "a", key)->id, id);
    assert_null(tasks_find_key(tasks, "b", key));
    for (size_t at = 0; key[at] != '\0'; at++) {
        strcpy(other, key);
        other[at] = other[at] == '3' ? '4' : '3';
        assert_null(tasks_find_key(tasks, "a", other));
        strcpy(other, key);
        other[at] = '\0';
        assert_null(tasks_find_key(tasks, "a", other));
    }
    assert_null(tasks_find_key(tasks, "a", "99999999999999999999999999-1"));
    task_print_key(tasks_find(tasks, "a", add(tasks, "a")), other);
    assert_string_not_equal(key + 2, other + 2);
    tasks_free(tasks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),       cmocka_unit_test(test_put_back),
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_cancel),      cmocka_unit_test(test_done),
        cmocka_unit_test(test_kept),        cmocka_unit_test(test_fetched),
        cmocka_unit_test(test_names),       cmocka_unit_test(test_keys),
        cmocka_unit_test(test_client_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
