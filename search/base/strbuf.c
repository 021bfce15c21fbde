#include "base/strbuf.h"

#include "base/error.h"
#include "base/memory.h"

#include <ctype.h>
#include <string.h>

enum { COLUMNS = 100 };

void strbuf_add(struct strbuf *text, const char *bytes, size_t count) {
    if (text->used + count + 1 > text->capacity) {
        text->capacity = 2 * (text->used + count + 1);
        text->bytes = xrealloc(text->bytes, text->capacity);
    }
    memcpy(text->bytes + text->used, bytes, count);
    text->used += count;
    text->bytes[text->used] = '\0';
}

void strbuf_print(struct strbuf *text, const char *format, ...) {
    va_list arguments;
    va_list again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *line = xmalloc((size_t)length + 1);
    vsnprintf(line, (size_t)length + 1, format, again);
    va_end(again);
    strbuf_add(text, line, (size_t)length);
    free(line);
}

void text_append(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* U+2028 to U+202E and U+2066 to U+2069 end lines, or turn the direction in which all that follows
   is shown: a reader of a change sees another program than the compiler. All three bytes are there.
 */
static bool is_direction(const unsigned char *at) {
    return at[0] == 0xe2 && ((at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae) ||
                             (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9));
}

/* Appends the character at `at`; returns its bytes. */
static int add_escaped(struct strbuf *escaped, const unsigned char *at, bool lines) {
    const bool two_bytes = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;
    const bool stays = lines && (*at == '\n' || *at == '\t');
    if (is_direction(at)) {
        strbuf_print(escaped, "\\u20%02x", (at[1] & 1) << 6 | (at[2] & 0x3f));
        return 3;
    }
    if (two_bytes || *at == 0x7f || (*at < 0x20 && !stays))
        strbuf_print(escaped, "\\x%02x", at[two_bytes]);
    else
        strbuf_add(escaped, (const char *)at, 1);
    return 1 + two_bytes;
}

char *text_escaped(const char *text, bool lines) {
    struct strbuf escaped = {0};
    strbuf_add(&escaped, "", 0);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';)
        at += add_escaped(&escaped, at, lines);
    return escaped.bytes;
}

void text_escape(char *text, size_t size, bool lines) {
    const unsigned char *at = (const unsigned char *)text;
    while (*at >= 0x20 && *at != 0x7f && *at != 0xc2 && *at != 0xe2)
        at++;
    if (*at == '\0')
        return; /* as nearly every text */
    char *escaped = text_escaped(text, lines);
    snprintf(text, size, "%s", escaped);
    free(escaped);
}

void strbuf_release(struct strbuf *text) {
    free(text->bytes);
    *text = (struct strbuf){0};
}

void strbuf_add_comment(struct strbuf *text, const char *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && words[i] == '/' && words[i - 1] == '*')
            strbuf_add(text, " ", 1);
        strbuf_add(text, words + i, 1);
    }
}

/* Returns how many bytes of `words` go on a line of `room` bytes: up to the last break that fits,
   else up to the first break. */
static size_t find_line_length(const char *words, size_t capacity) {
    size_t best = 0;
    for (size_t i = 0; words[i] != '\0' && words[i] != '\n'; i++) {
        bool breaks = words[i] == ' ' || words[i] == ',';
        if (breaks && (i + 1 <= capacity || best == 0))
            best = i + 1;
        if (i >= capacity && best > 0)
            return best;
    }
    return strcspn(words, "\n");
}

void strbuf_add_wrapped(struct strbuf *text, const char *margin, const char *words) {
    while (*words != '\0') {
        size_t length = find_line_length(words, COLUMNS - strlen(margin));
        size_t shown = length;
        while (shown > 0 && words[shown - 1] == ' ')
            shown--;
        strbuf_add(text, margin, strlen(margin));
        strbuf_add_comment(text, words, shown);
        strbuf_add(text, "\n", 1);
        words += length;
        words += *words == '\n';
    }
}

void strbuf_add_quoted(struct strbuf *text, const char *words) {
    strbuf_add(text, "\"", 1);
    for (; *words != '\0'; words++) {
        if (iscntrl((unsigned char)*words))
            strbuf_add(text, " ", 1);
        else
            strbuf_print(text, "%s%c", *words == '"' || *words == '\\' ? "\\" : "", *words);
    }
    strbuf_add(text, "\"", 1);
}

static bool is_word_character(char letter) {
    return isalnum((unsigned char)letter) || letter == '_';
}

bool mentions_identifier(const char *code, const char *identifier) {
    size_t length = strlen(identifier);
    for (const char *at = code; (at = strstr(at, identifier)) != NULL; at++)
        if ((at == code || !is_word_character(at[-1])) && !is_word_character(at[length]))
            return true;
    return false;
}
