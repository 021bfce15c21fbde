/*
 * evaluation_judge: the judge that evaluates solutions, as `evotile serve` uses it.
 *
 *     const struct evaluation_judge_settings settings = {.config_path = "configs/demo.json"};
 *     struct judge *judge = evaluation_judge_new(&settings, &error);
 *     judge_free(judge);
 */
#ifndef EVOTILE_SERVE_EVALUATION_JUDGE_H
#define EVOTILE_SERVE_EVALUATION_JUDGE_H

#include "serve/judge.h"

struct evaluation_judge_settings {
    const char *config_path;
    const char *templates; /* a folder that is searched for templates first; NULL: none */
    const char *device;    /* auto, cuda:N or emulated:sm_XX; NULL: the config's */
    const char *folder;    /* where evaluations are stored; NULL: the user's cache */
    int compile_workers;   /* -1: the cores, less one for each device */
};

struct judge *evaluation_judge_new(const struct evaluation_judge_settings *settings,
                                   struct error *error);

#endif
