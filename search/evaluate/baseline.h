/*
 * baseline: what a user would run instead of the kernel (PyTorch, for example), timed by an
 * external program on the same device and in the same way as a candidate: warm graphs of several
 * calls that rotate through input sets, and cold single calls after an L2 flush. The program
 * (docs/templates.md, "A baseline") keeps running and answers one request after another, so that
 * a duel can alternate with it. It may offer several named implementations of the function.
 *
 *     struct baseline *it = baseline_open(&command, &device->info, &error);
 *     for (int i = 0; i < baseline_count(it); i++)
 *         if (baseline_capture(it, i, shape, &how, unable, &error) == 0 &&
 *             baseline_warm(it, 5000, 50, samples_us, &error) == 0)
 *             baseline_cold(it, 20, samples_us, &error);
 *     baseline_close(it);
 *
 * It does not verify results: that the program computes the right thing is its author's
 * responsibility, for which templates/lib/torch_baseline.py has `check`. Functions return 0, or -1
 * with the error when the program died, timed out or sent an invalid answer; after -1 only
 * baseline_close may be called. SIGPIPE must be ignored. Samples are microseconds per call.
 */
#ifndef EVOTILE_EVALUATE_BASELINE_H
#define EVOTILE_EVALUATE_BASELINE_H

#include "device/device.h"
#include "template/template.h"

enum { IMPLEMENTATIONS_MAX = 16 };

struct baseline;

/* Starts the program and opens the device in it. It is an error if the program reports a device
   of another name: a ratio over two devices means nothing. The command must outlive the
   baseline. */
struct baseline *baseline_open(const struct baseline_command *command,
                               const struct device_info *device, struct error *error);
/* Gives the program one second to exit, then kills it. NULL is allowed. */
void baseline_close(struct baseline *baseline);

/* The baseline's name and version, and its implementations, as the program reports them. */
const char *baseline_name(const struct baseline *baseline);
int baseline_count(const struct baseline *baseline);
const char *baseline_implementation(const struct baseline *baseline, int index);
/* Returns the index of the implementation of that name, or -1 with the available names in
   `error`. */
int baseline_find(const struct baseline *baseline, const char *name, struct error *error);

struct baseline_capture {
    int launches;        /* calls in the warm graph */
    int sets;            /* of inputs, taken in rotation */
    const cJSON *inputs; /* of each set, as setup_inputs.h gives them; NULL: the program draws its
                            own */
};

/* Captures one implementation for one case, replacing the previous capture. Returns 1, with the
   program's text in `unable`, if the implementation does not support the case. `shape` is an
   object with every dimension of the case (template_shape_json); the caller keeps it. */
int baseline_capture(struct baseline *baseline, int implementation, const cJSON *shape,
                     const struct baseline_capture *how, char unable[REASON_SIZE],
                     struct error *error);

/* The same for timing, where a graph of `how->launches` calls would take seconds: of long calls
   (timing_budget.h) only one of each input set. Also gets what a call took, in a first sample; the
   graph's calls are `*launches`. */
int baseline_capture_timed(struct baseline *baseline, int implementation, const cJSON *shape,
                           const struct baseline_capture *how, int *launches, double *call_us,
                           char unable[REASON_SIZE], struct error *error);

/* Both time the captured implementation. Without a warm-up one replay comes before the samples. */
int baseline_warm(struct baseline *baseline, double warmup_us, int samples, double *samples_us,
                  struct error *error);
int baseline_cold(struct baseline *baseline, int samples, double *samples_us, struct error *error);

/* Returns the fastest implementation of a case, by the medians of a few warm samples, of slow ones
   of three, and that median; -1 if none supports it. Afterwards any of them may be captured. */
int baseline_fastest(struct baseline *baseline, const cJSON *shape,
                     const struct baseline_capture *how, double *call_us, struct error *error);

#endif
