#include "base/log.h"

#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Return to the first column and clear the line; harmless if there is no progress line. */
static const char clear_line[] = "\r\x1b[K";

static void write_bytes(const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(STDERR_FILENO, bytes, count);
        if (written <= 0)
            return; /* stderr is closed: the message is lost */
        bytes += written;
        count -= (size_t)written;
    }
}

/* One write() a line, so that the lines of several processes do not mix. */
static void write_line(const char *before, const char *label, const char *format, va_list arguments,
                       const char *after, int columns) {
    char text[4096];
    vsnprintf(text, sizeof text, format, arguments);
    text_escape(text, sizeof text, true);
    char line[sizeof text + 64];
    int length = snprintf(line, sizeof line, "%s%s%.*s%s", before, label, columns, text, after);
    write_bytes(line, (size_t)length);
}

void log_text(const char *text, size_t count, bool starts_line) {
    if (starts_line && isatty(STDERR_FILENO))
        write_bytes(clear_line, sizeof clear_line - 1);
    write_bytes(text, count);
}

void log_info(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(isatty(STDERR_FILENO) ? clear_line : "", "evotile: ", format, arguments, "\n", 4095);
    va_end(arguments);
}

void log_warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(isatty(STDERR_FILENO) ? clear_line : "", "evotile: warning: ", format, arguments,
               "\n", 4095);
    va_end(arguments);
}

static double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void progress_init(struct progress *progress, double interval_s) {
    *progress = (struct progress){.terminal = isatty(STDERR_FILENO), .interval_s = interval_s};
    if (progress->terminal)
        progress->interval_s = 0.1;
}

bool progress_due(const struct progress *progress) {
    return progress->shown_s == 0 || now_s() - progress->shown_s >= progress->interval_s;
}

void progress_show(struct progress *progress, const char *format, ...) {
    if (!progress_due(progress))
        return;
    progress->shown_s = now_s();
    struct winsize size = {0};
    int columns = 4095;
    if (progress->terminal)
        /* The last column stays free: a terminal that wraps there could not be cleared completely.
         */
        columns =
            ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
    va_list arguments;
    va_start(arguments, format);
    if (progress->terminal)
        write_line(clear_line, "", format, arguments, "", columns);
    else
        write_line("", "evotile: ", format, arguments, "\n", columns);
    va_end(arguments);
}

void progress_end(struct progress *progress) {
    if (progress->terminal && progress->shown_s > 0)
        if (write(STDERR_FILENO, clear_line, sizeof clear_line - 1) < 0)
            return;
}
