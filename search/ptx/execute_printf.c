/* Device-side printf: vprintf with a format and an argument buffer (CUDA Programming Guide,
   "Formatted output"), one lane after the other, to the launch's `print` stream. */
#include "base/memory.h"
#include "ptx/execute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_MAX = 1024, STRING_MAX = 1024, LENGTH_MAX = 255 /* of a width or precision */ };

/* One lane's call. */
struct print {
    struct warp *warp;
    const struct instruction *instruction;
    int lane;
    uint32_t at; /* offset of the next argument in the buffer */
    uint64_t arguments;
    int count; /* number of arguments: the return value */
    int hint;
    bool failed;
};

static void read_bytes(struct print *print, uint64_t address, void *to, int bytes) {
    const uint8_t *from = print->failed
                              ? NULL
                              : translate_address(print->warp, print->instruction, SPACE_GENERIC,
                                                  print->lane, address, bytes, false, &print->hint);
    print->failed |= from == NULL;
    memset(to, 0, (size_t)bytes);
    if (from)
        memcpy(to, from, (size_t)bytes);
}

static void read_text(struct print *print, uint64_t address, char *text, int most) {
    int length = 0;
    do
        read_bytes(print, address + (uint64_t)length, &text[length], 1);
    while (text[length] != '\0' && ++length < most - 1);
    text[length] = '\0';
}

/* Reads the next argument, aligned to its size. */
static uint64_t read_argument(struct print *print, uint32_t bytes) {
    uint64_t value = 0;
    print->at = (print->at + bytes - 1) / bytes * bytes;
    read_bytes(print, print->arguments + print->at, &value, (int)bytes);
    print->at += bytes;
    print->count++;
    return value;
}

/* A width or precision: digits, or * for an argument. */
static int parse_length(struct print *print, const char **at) {
    int length = 0;
    if (**at == '*') {
        ++*at;
        length = (int)read_argument(print, 4);
    } else {
        for (; **at >= '0' && **at <= '9'; ++*at)
            length = length > LENGTH_MAX ? length : 10 * length + (**at - '0');
    }
    return length > LENGTH_MAX ? LENGTH_MAX : length < -LENGTH_MAX ? -LENGTH_MAX : length;
}

/* The part of a conversion between % and its letter. */
struct specifier {
    char flags[8];
    int width, precision;
    bool is_long;
};

static struct specifier parse_specifier(struct print *print, const char **at) {
    struct specifier specifier = {.precision = -1};
    size_t flags = strspn(*at, "-+ #0");
    snprintf(specifier.flags, sizeof specifier.flags, "%.*s", (int)flags, *at);
    *at += flags;
    specifier.width = parse_length(print, at);
    if (**at == '.') {
        ++*at;
        specifier.precision = parse_length(print, at);
    }
    size_t sizes = strspn(*at, "hlLjzt");
    specifier.is_long = strcspn(*at, "ljzt") < sizes;
    *at += sizes;
    return specifier;
}

/* Prints one argument with the host's printf; an unknown letter is printed verbatim. */
static void print_argument(struct print *print, FILE *out, const struct specifier *specifier,
                           char letter) {
    char format[40], text[STRING_MAX];
    const char *size = strchr("diouxX", letter) ? "ll" : "";
    snprintf(format, sizeof format, "%%%s*.*%s%c", specifier->flags, size, letter);
    if (letter == '%') {
        fputc('%', out);
    } else if (letter && strchr("di", letter)) {
        uint64_t bits = read_argument(print, specifier->is_long ? 8 : 4);
        long long value = specifier->is_long ? (long long)bits : (int32_t)bits;
        fprintf(out, format, specifier->width, specifier->precision, value);
    } else if (letter && strchr("ouxX", letter)) {
        uint64_t bits = read_argument(print, specifier->is_long ? 8 : 4);
        fprintf(out, format, specifier->width, specifier->precision, (unsigned long long)bits);
    } else if (letter == 'c') {
        fputc((int)(read_argument(print, 4) & 0xff), out);
    } else if (letter && strchr("eEfFgGaA", letter)) {
        uint64_t bits = read_argument(print, 8);
        double value;
        memcpy(&value, &bits, sizeof value);
        fprintf(out, format, specifier->width, specifier->precision, value);
    } else if (letter == 's') {
        read_text(print, read_argument(print, 8), text, sizeof text);
        fprintf(out, format, specifier->width, specifier->precision, text);
    } else if (letter == 'p') {
        fprintf(out, "0x%llx", (unsigned long long)read_argument(print, 8));
    } else {
        fprintf(out, "%%%c", letter ? letter : ' ');
    }
}

static void print_lane(struct print *print, FILE *out, uint64_t format_address) {
    char format[FORMAT_MAX];
    read_text(print, format_address, format, sizeof format);
    for (const char *at = format; *at && !print->failed;) {
        if (*at != '%') {
            fputc(*at++, out);
            continue;
        }
        at++;
        struct specifier specifier = parse_specifier(print, &at);
        print_argument(print, out, &specifier, *at);
        at += *at != '\0';
    }
}

EXECUTE(print) {
    const struct print_form *form = &instruction->as.print;
    const struct block *block = warp->block;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = xopen_memstream(&text, &bytes);
    bool failed = false;
    FOR_EACH_LANE(lane, mask) {
        uint8_t *local =
            block->local + (size_t)block->local_bytes * (size_t)(warp->index * LANES + (int)lane);
        struct print print = {
            .warp = warp, .instruction = instruction, .lane = (int)lane, .hint = -1};
        uint64_t format;
        if (form->in_frame)
            local += ((uint64_t *)operand_pointer(warp, warp->kernel->frame))[lane];
        memcpy(&format, local + form->format, sizeof format);
        memcpy(&print.arguments, local + form->arguments, sizeof print.arguments);
        print_lane(&print, out, format);
        failed |= print.failed;
        if (form->result != NO_PC)
            memcpy(local + form->result, &print.count, sizeof print.count);
        if (failed)
            break;
    }
    fclose(out);
    if (block->launch->print && !failed)
        fwrite(text, 1, bytes, block->launch->print);
    free(text);
    return failed ? ACTION_FAULT : ACTION_NEXT;
}
