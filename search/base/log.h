/*
 * log: what evotile says on stderr while it works. Results are not said here: they go to stdout.
 *
 *     log_warn("results/ is on NFS: the run writes more slowly there; use a local folder");
 *     struct progress progress;
 *     progress_init(&progress, 60);
 *     while (running)
 *         progress_show(&progress, "%d trials, %.1f trials/s", trials, rate);
 *     progress_end(&progress);
 *
 * On a terminal the progress line rewrites itself, cut to the terminal's width; elsewhere it is a
 * line of its own at most once an interval. A message clears the progress line, which comes back at
 * the next progress_show: neither needs to know of the other.
 */
#ifndef EVOTILE_BASE_LOG_H
#define EVOTILE_BASE_LOG_H

#include <stdbool.h>

/* One line, "evotile: ..." and "evotile: warning: ..."; a warning names its remedy. */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct progress {
    bool terminal;     /* stderr is one */
    double interval_s; /* the least time between two lines */
    double shown_s;    /* when the last was shown, on the monotonic clock; 0: never */
};

/* `interval_s` is for logs; a terminal is rewritten ten times a second at most. */
void progress_init(struct progress *progress, double interval_s);

/* Whether progress_show would show its line now: for lines that cost something to make. */
bool progress_due(const struct progress *progress);

/* Shows the line if it is due. */
void progress_show(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Clears the line of a terminal; in a log, nothing. */
void progress_end(struct progress *progress);

#endif
