#include "solutions/diff.h"

#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

/* "-1,3" or "-1", which is one line; 0 if it is neither. */
static long read_count(const char *text, char mark, const char **end) {
    char *after;
    *end = text;
    if (*text != mark)
        return 0;
    strtol(text + 1, &after, 10);
    const long count = *after == ',' ? strtol(after + 1, &after, 10) : 1;
    *end = after;
    return count > 0 ? count : 0;
}

static void read_hunk(struct diff_reader *reader, const char *text) {
    const char *end;
    reader->before = read_count(text + strlen("@@ "), '-', &end);
    reader->after = *end == ' ' ? read_count(end + 1, '+', &end) : 0;
}

/* A line within a hunk, by its mark. */
static enum diff_line_kind take_line(struct diff_reader *reader, char mark) {
    if (mark == '\\') /* "\ No newline at end of file" */
        return DIFF_SAME;
    reader->before -= mark != '+';
    reader->after -= mark != '-';
    return mark == '+' ? DIFF_ADDED : mark == '-' ? DIFF_REMOVED : DIFF_SAME;
}

bool diff_next(struct diff_reader *reader, struct diff_line *line) {
    if (*reader->at == '\0')
        return false;
    const char *text = reader->at;
    *line = (struct diff_line){.text = text, .length = strcspn(text, "\n")};
    reader->at += line->length + (text[line->length] == '\n');
    if (reader->before > 0 || reader->after > 0) {
        line->kind = take_line(reader, *text);
    } else if (strncmp(text, "@@ ", 3) == 0) {
        line->kind = DIFF_HUNK;
        read_hunk(reader, text);
    } else {
        line->kind = *text == '\\' ? DIFF_SAME : DIFF_FILE;
    }
    return true;
}

const char *diff_file_name(const struct diff_line *line, size_t *length) {
    static const char mark[] = "+++ b/";
    const size_t skipped = sizeof mark - 1;
    if (line->kind != DIFF_FILE || line->length <= skipped ||
        strncmp(line->text, mark, skipped) != 0)
        return NULL;
    *length = line->length - skipped;
    return line->text + skipped;
}

struct diff_size diff_size(const char *diff) {
    struct diff_reader reader = {.at = diff};
    struct diff_size size = {0};
    struct diff_line line;
    size_t length;
    while (diff_next(&reader, &line)) {
        size.files += diff_file_name(&line, &length) != NULL;
        size.added += line.kind == DIFF_ADDED;
        size.removed += line.kind == DIFF_REMOVED;
    }
    return size;
}

/* Where a line of UTF-8 may end at or before `bytes`. */
static size_t cut_between_characters(const char *text, size_t bytes) {
    while (bytes > 0 && ((unsigned char)text[bytes] & 0xc0) == 0x80)
        bytes--;
    return bytes;
}

char *diff_shortened(const char *diff, int lines, size_t bytes, int *left_out) {
    struct diff_reader reader = {.at = diff};
    struct diff_line line;
    struct strbuf text = {0};
    int count = 0;
    strbuf_add(&text, "", 0);
    for (; diff_next(&reader, &line); count++) {
        if (count >= lines)
            continue;
        const size_t shown =
            line.length > bytes ? cut_between_characters(line.text, bytes) : line.length;
        strbuf_add(&text, line.text, shown);
        if (shown < line.length)
            strbuf_print(&text, " ... (%zu bytes more)", line.length - shown);
        strbuf_add(&text, "\n", 1);
    }
    *left_out = count > lines ? count - lines : 0;
    return text.bytes;
}
