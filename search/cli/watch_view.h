/* watch_view: lays out a run's statistics on a text_plot of any size; for `watch`.
 *
 *     struct text_plot plot = {.rows = 24, .columns = 80};
 *     text_plot_init(&plot);
 *     watch_view_draw(stats, false, &plot);
 *     text_plot_write(&plot, stdout);
 *     text_plot_release(&plot);
 */
#ifndef EVOTILE_CLI_WATCH_VIEW_H
#define EVOTILE_CLI_WATCH_VIEW_H

#include "cli/run_stats.h"
#include "render/text_plot.h"

/* `by_trials`: the curve's x axis is the trial number; else the time since the run was created. */
void watch_view_draw(const struct run_stats *stats, bool by_trials, struct text_plot *plot);

/* The same as a line of text, for a log: "searching; 0:12:30; 4351 trials, 12.9/s; best 7.094 us".
 */
void watch_view_print_line(const struct run_stats *stats, char *text, size_t size);

#endif
