#include "pool/job_list.h"
#include "base/memory.h"

#include <unistd.h>

void job_list_add(struct job_list *job_list, struct job *job) {
    job->next = NULL;
    *(job_list->first == NULL ? &job_list->first : &job_list->last->next) = job;
    job_list->last = job;
}

void job_list_add_first(struct job_list *job_list, struct job *job) {
    if (job_list->first == NULL)
        job_list->last = job;
    job->next = job_list->first;
    job_list->first = job;
}

struct job *job_list_pop(struct job_list *job_list) {
    struct job *job = job_list->first;
    if (job == NULL)
        return NULL;
    job_list->first = job->next;
    job->next = NULL;
    return job;
}

void job_list_release(struct job_list *job_list) {
    struct job *job;
    while ((job = job_list_pop(job_list)) != NULL)
        job_free(job);
}

struct job *job_new(const struct trial_request *request) {
    struct job *job = xcalloc(1, sizeof *job);
    job->request = *request;
    job->images = -1;
    return job;
}

void job_free(struct job *job) {
    trial_request_release(&job->request);
    trial_result_release(&job->result);
    if (job->images >= 0)
        close(job->images);
    free(job);
}

void job_update_champions(struct job *job, const struct trial_champion *champion) {
    for (; job != NULL; job = job->next)
        if (job->request.goal == champion->goal &&
            !(job->request.champion_us > 0 && job->request.champion_us <= champion->score_us))
            trial_request_set_champion(&job->request, champion);
}
