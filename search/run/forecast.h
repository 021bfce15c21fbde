/* forecast: what a search will take: how many trials a second, and after how many its best is
 * likely within 3 % of what it will find in the end.
 *
 *     struct forecast forecast;
 *     int status =
 *         forecast_from_runs(&forecast, "results", run_dir, "my_kernel", "NVIDIA L4", &error);
 *     if (status == 0)
 *         printf("%d runs: %.1f trials/s\n", forecast.runs, forecast.trials_per_s);
 */
#ifndef EVOTILE_RUN_FORECAST_H
#define EVOTILE_RUN_FORECAST_H

#include "store/store.h"

struct forecast {
    int runs;               /* earlier ones of the template on the device; 0: the rest is 0, too */
    double trials_per_s;    /* their median */
    double near_best_after; /* trials of a goal, until within 3 % of its best; the median of their
                              goals, 0 if none has a champion */
};

/* Reads the runs in a folder, but for `run_dir`; those that cannot be read are left out. Returns 0,
   or -1 if the folder cannot be listed. */
int forecast_from_runs(struct forecast *forecast, const char *folder, const char *run_dir,
                       const char *template_name, const char *device_name, struct error *error);

/* Prints what a search of so many goals takes: "12.4 trials/s, about 400 trials in 0:00:32". A
   budget of 0: none. */
enum { FORECAST_SIZE = 256 };
void forecast_print(const struct forecast *forecast, int64_t budget_trials, double budget_s,
                    int goal_count, char text[FORECAST_SIZE]);

/* The trial of the run after which the best of a goal is likely within 3 % of what the search will
   find, by its champions so far: four times the trials that the last gain of 3 % took, at least 100
   of each goal. Of 60 searches of 10 recorded spaces, 800 trials each, it holds for 57
   (docs/measurements/strategies.md). */
int64_t forecast_near_best(const struct store_champion *champions, int count, int goal,
                           int goal_count);

#endif
