/*
 * baseline: what a user would run instead of a kernel, timed by a program of its own on the same
 * device, in the way a candidate is timed: warm graphs of several calls that take input sets in
 * rotation, and cold single calls behind a flushed L2. The program (templates/README.md, "A
 * baseline") stays alive and answers one question after another, so that a duel takes turns with
 * it. It may know the function by several implementations, each with a name.
 *
 *     struct baseline *it = baseline_open(&command, &device->info, &error);
 *     for (int i = 0; i < baseline_count(it); i++)
 *         if (baseline_capture(it, i, shape, &how, unable, &error) == 0 &&
 *             baseline_warm(it, 5000, 50, samples_us, &error) == 0 &&
 *             baseline_cold(it, 20, samples_us, &error) == 0) ...
 *     baseline_close(it);
 *
 * It judges nothing: that the program computes the right thing is its author's to know. Functions
 * return 0, or -1 with the error when the program died, took too long, or said what is no answer:
 * there is no going on then but baseline_close. SIGPIPE must be ignored. Samples are microseconds a
 * call.
 */
#ifndef EVOTILE_TRIAL_BASELINE_H
#define EVOTILE_TRIAL_BASELINE_H

#include "device/device.h"
#include "template/template.h"

enum { IMPLEMENTATIONS_MAX = 16 };

struct baseline;

/* Starts the program and asks it to begin on the device. One that answers for a device of another
   name is an error: a ratio over two devices says nothing. The command outlives the baseline. */
struct baseline *baseline_open(const struct baseline_command *command,
                               const struct device_info *device, struct error *error);
/* Lets it end by itself for a second. NULL is fine. */
void baseline_close(struct baseline *baseline);

/* As the program says, with its version; and its implementations. */
const char *baseline_name(const struct baseline *baseline);
int baseline_count(const struct baseline *baseline);
const char *baseline_implementation(const struct baseline *baseline, int index);
/* The implementation of that name, or -1 with the names that there are. */
int baseline_find(const struct baseline *baseline, const char *name, struct error *error);

struct baseline_capture {
    int launches; /* calls in the warm graph */
    int sets;     /* of inputs */
};

/* Has one implementation captured for one case, in place of what was captured before. 1, with the
   program's words in `unable`, where that implementation does not do that case. `shape` is an
   object with every dimension of the case (template_shape_json), and stays the caller's. */
int baseline_capture(struct baseline *baseline, int implementation, const cJSON *shape,
                     const struct baseline_capture *how, char unable[REASON_SIZE],
                     struct error *error);

/* Both time what is captured. */
int baseline_warm(struct baseline *baseline, double warmup_us, int samples, double *samples_us,
                  struct error *error);
int baseline_cold(struct baseline *baseline, int samples, double *samples_us, struct error *error);

/* The implementation that is fastest in a case, by medians of a few warm samples; -1 where none
   does it. What is captured afterwards is any of them. */
int baseline_fastest(struct baseline *baseline, const cJSON *shape,
                     const struct baseline_capture *how, struct error *error);

#endif
