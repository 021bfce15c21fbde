/*
 * log: messages on stderr while evotile works. Results go to stdout instead.
 *
 *     log_warn("results/ is on NFS: the run writes more slowly there; use a local folder");
 *     struct progress progress;
 *     progress_init(&progress, 60);
 *     while (running)
 *         progress_show(&progress, "%d trials, %.1f trials/s", trials, rate);
 *     progress_end(&progress);
 *
 * On a terminal the progress line is rewritten in place and cut to the terminal's width; elsewhere
 * it is printed as a separate line, at most once an interval. A message clears the progress line,
 * which the next progress_show restores.
 */
#ifndef EVOTILE_BASE_LOG_H
#define EVOTILE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Print one line, "evotile: ..." or "evotile: warning: ..."; a warning names its remedy. */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes `count` bytes as they are; `starts_line`: they do not continue a line. */
void log_text(const char *text, size_t count, bool starts_line);

struct progress {
    bool terminal;     /* stderr is a terminal */
    double interval_s; /* minimum time between two lines */
    double shown_s;    /* time of the last line on the monotonic clock; 0: never */
};

/* `interval_s` applies to logs; a terminal is rewritten at most ten times a second. */
void progress_init(struct progress *progress, double interval_s);

/* Returns whether progress_show would print now; for lines that are expensive to format. */
bool progress_due(const struct progress *progress);

/* Prints the line if it is due. */
void progress_show(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Clears the progress line of a terminal; does nothing in a log. */
void progress_end(struct progress *progress);

#endif
