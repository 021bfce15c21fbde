#include "base/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_unix_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void clock_wait(double seconds) {
    if (seconds > 0)
        nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
                                     .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))},
                  NULL);
}

const char *clock_print_duration(double seconds, char text[DURATION_SIZE]) {
    int64_t whole = (int64_t)fmin(1e12, fmax(0, seconds));
    snprintf(text, DURATION_SIZE, "%" PRId64 ":%02d:%02d", whole / 3600, (int)(whole / 60 % 60),
             (int)(whole % 60));
    return text;
}
