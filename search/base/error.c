#include "base/error.h"

#include <string.h>

/* A text may quote a stranger's file: a terminal must not obey it. 0xc2 is the first byte of U+0080
   to U+00BF in UTF-8, half of which are control characters. */
static void replace_controls(char *text) {
    for (unsigned char *at = (unsigned char *)text; *at != '\0'; at++)
        if ((*at < 0x20 && *at != '\n' && *at != '\t') || *at == 0x7f)
            *at = '?';
        else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
            at[0] = at[1] = '?';
}

static int set(struct error *error, enum error_kind kind, const char *format, va_list arguments) {
    error->kind = kind;
    vsnprintf(error->text, sizeof error->text, format, arguments);
    replace_controls(error->text);
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
