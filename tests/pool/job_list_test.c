#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "pool/image_file.h"
#include "pool/job_list.h"

static struct job *numbered_job(int64_t number) {
    const struct trial_request request = {.number = number, .sources = {strdup("kernel.cu")}};
    return job_new(&request);
}

static void jobs_leave_in_the_order_they_came(void **state) {
    (void)state;
    struct job_list list = {0};
    assert_null(job_list_pop(&list));
    for (int round = 0; round < 3; round++) { /* a list that was emptied can be filled again */
        for (int i = 0; i < 4; i++)
            job_list_add(&list, numbered_job(i));
        for (int i = 0; i < 4; i++) {
            struct job *job = job_list_pop(&list);
            assert_int_equal(job->request.number, i);
            job_free(job);
        }
        assert_null(job_list_pop(&list));
    }
}

static void popped_job_moves_to_another_list(void **state) {
    (void)state;
    struct job_list waiting = {0}, finished = {0};
    for (int i = 0; i < 3; i++)
        job_list_add(&waiting, numbered_job(i));
    job_list_add(&finished, job_list_pop(&waiting));
    job_list_add(&waiting, numbered_job(3));
    assert_int_equal(finished.first->request.number, 0);
    assert_null(finished.first->next);
    for (int i = 1; i < 4; i++) {
        struct job *job = job_list_pop(&waiting);
        assert_int_equal(job->request.number, i);
        job_free(job);
    }
    job_list_release(&finished);
    assert_null(job_list_pop(&finished));
}

static void first_job_overtakes_the_others(void **state) {
    (void)state;
    struct job_list list = {0};
    job_list_add_first(&list, numbered_job(1)); /* to an empty list */
    job_list_add(&list, numbered_job(2));
    job_list_add_first(&list, numbered_job(0));
    job_list_add(&list, numbered_job(3));
    for (int i = 0; i < 4; i++) {
        struct job *job = job_list_pop(&list);
        assert_int_equal(job->request.number, i);
        job_free(job);
    }
    assert_null(job_list_pop(&list));
}

static void released_jobs_close_their_files(void **state) {
    (void)state;
    struct job_list list = {0};
    struct job *job = numbered_job(0);
    assert_int_equal(job->images, -1);
    assert_false(job->is_compiled);
    int file = job->images = image_file_new();
    job_list_add(&list, job);
    job_list_add(&list, numbered_job(1));
    job_list_release(&list);
    assert_int_equal(fcntl(file, F_GETFD), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_leave_in_the_order_they_came),
        cmocka_unit_test(popped_job_moves_to_another_list),
        cmocka_unit_test(first_job_overtakes_the_others),
        cmocka_unit_test(released_jobs_close_their_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
