/* A run description and a heartbeat for tests. */
#ifndef EVOTILE_TESTS_QUEUE_NOTICES_H
#define EVOTILE_TESTS_QUEUE_NOTICES_H

#include "remote/messages.h"

#include <string.h>

static inline struct platform example_platform(void) {
    struct platform platform = {.nvrtc = "12.6", .method = "a method"};
    struct error error = {0};
    if (device_describe("emulated:sm_89", &platform.device, &error) < 0)
        BUG("%s", error.text);
    return platform;
}

/* `files` is an array of two that the caller owns. */
static inline struct run_description example_description(struct run_file *files) {
    struct run_description description = {
        .id = "0123456789abcdef", .name = "night", .ack_wait_s = 30, .has_platform = true};
    description.platform = example_platform();
    memset(files, 0, 2 * sizeof *files);
    strcpy(files[0].path, "config.json");
    strcpy(files[1].path, "template/a/template.json");
    for (int f = 0; f < 2; f++) {
        files[f].bytes = 100 + f;
        files[f].hash = hash_bytes(files[f].path, strlen(files[f].path));
    }
    description.files = files;
    description.file_count = 2;
    static struct trial_champion champions[2];
    description.champions = champions;
    description.champion_count = 2;
    for (int c = 0; c < 2; c++)
        champions[c] = (struct trial_champion){
            .goal = 5 * c, .trial = 70 + c, .genome = {{3, 1, 4}}, .score_us = 2.5 + c};
    return description;
}

static inline struct heartbeat example_heartbeat(void) {
    return (struct heartbeat){.worker = "fedcba9876543210",
                              .host = "node7",
                              .platform = example_platform(),
                              .devices = 8,
                              .capacity = 144,
                              .in_flight = 12};
}

#endif
