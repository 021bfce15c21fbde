#include "base/text.h"

#include "base/error.h"
#include "base/memory.h"

#include <ctype.h>
#include <string.h>

enum { COLUMNS = 100 };

void text_add(struct text *text, const char *bytes, size_t count) {
    if (text->used + count + 1 > text->room) {
        text->room = 2 * (text->used + count + 1);
        text->bytes = xrealloc(text->bytes, text->room);
    }
    memcpy(text->bytes + text->used, bytes, count);
    text->used += count;
    text->bytes[text->used] = '\0';
}

void text_print(struct text *text, const char *format, ...) {
    va_list arguments;
    va_list again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *line = xmalloc((size_t)length + 1);
    vsnprintf(line, (size_t)length + 1, format, again);
    va_end(again);
    text_add(text, line, (size_t)length);
    free(line);
}

void text_release(struct text *text) {
    free(text->bytes);
    *text = (struct text){0};
}

void text_comment(struct text *text, const char *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && words[i] == '/' && words[i - 1] == '*')
            text_add(text, " ", 1);
        text_add(text, words + i, 1);
    }
}

/* Returns how many bytes of `words` go on a line of `room` bytes: up to the last break that fits,
   else up to the first break. */
static size_t line_length(const char *words, size_t room) {
    size_t best = 0;
    for (size_t i = 0; words[i] != '\0' && words[i] != '\n'; i++) {
        bool breaks = words[i] == ' ' || words[i] == ',';
        if (breaks && (i + 1 <= room || best == 0))
            best = i + 1;
        if (i >= room && best > 0)
            return best;
    }
    return strcspn(words, "\n");
}

void text_wrap(struct text *text, const char *margin, const char *words) {
    while (*words != '\0') {
        size_t length = line_length(words, COLUMNS - strlen(margin));
        size_t shown = length;
        while (shown > 0 && words[shown - 1] == ' ')
            shown--;
        text_add(text, margin, strlen(margin));
        text_comment(text, words, shown);
        text_add(text, "\n", 1);
        words += length;
        words += *words == '\n';
    }
}

void text_quote(struct text *text, const char *words) {
    text_add(text, "\"", 1);
    for (; *words != '\0'; words++) {
        if (iscntrl((unsigned char)*words))
            text_add(text, " ", 1);
        else
            text_print(text, "%s%c", *words == '"' || *words == '\\' ? "\\" : "", *words);
    }
    text_add(text, "\"", 1);
}

static bool in_word(char letter) {
    return isalnum((unsigned char)letter) || letter == '_';
}

bool text_mentions(const char *code, const char *identifier) {
    size_t length = strlen(identifier);
    for (const char *at = code; (at = strstr(at, identifier)) != NULL; at++)
        if ((at == code || !in_word(at[-1])) && !in_word(at[length]))
            return true;
    return false;
}
