/* clock: seconds for measuring durations and for deadlines. */
#ifndef EVOTILE_BASE_CLOCK_H
#define EVOTILE_BASE_CLOCK_H

/* Seconds since an arbitrary fixed moment (CLOCK_MONOTONIC); never decreases. */
double clock_seconds(void);

/* The time of day: seconds since 1970. */
double clock_unix_seconds(void);

/* Returns after so many seconds; at once if the number is not positive. */
void clock_wait(double seconds);

/* Prints a duration as "1:02:03", hours first; returns `text`. */
enum { DURATION_SIZE = 32 };
const char *clock_print_duration(double seconds, char text[DURATION_SIZE]);

#endif
