/* clock: seconds for measuring durations and for deadlines. */
#ifndef EVOTILE_BASE_CLOCK_H
#define EVOTILE_BASE_CLOCK_H

/* Seconds since an arbitrary fixed moment (CLOCK_MONOTONIC); never decreases. */
double clock_seconds(void);

#endif
