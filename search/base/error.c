#include "base/error.h"

#include <string.h>

static int set(struct error *error, enum error_kind kind, const char *format, va_list arguments) {
    error->kind = kind;
    vsnprintf(error->text, sizeof error->text, format, arguments);
    return -1;
}

int error_set(struct error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    set(error, ERROR_FAILED, format, arguments);
    va_end(arguments);
    return -1;
}

int error_input(struct error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    set(error, ERROR_INPUT, format, arguments);
    va_end(arguments);
    return -1;
}

int error_refuse(struct error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    set(error, ERROR_REFUSED, format, arguments);
    va_end(arguments);
    return -1;
}

int error_prefix(struct error *error, const char *format, ...) {
    char prefix[512];
    char text[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(prefix, sizeof prefix, format, arguments);
    va_end(arguments);
    memcpy(text, error->text, sizeof text);
    snprintf(error->text, sizeof error->text, "%s: %.1000s", prefix, text);
    return -1;
}

_Noreturn void bug_at(const char *file, int line, const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "evotile: BUG at %s:%d: ", file, line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}
