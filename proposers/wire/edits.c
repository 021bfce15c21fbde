/* edits: search and replace blocks of which each matches exactly once. */
#include "proposers/wire/edits.h"

#include "base/memory.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <string.h>

void edit_list_add(struct edit_list *list, size_t start, size_t end, const char *text) {
    size_t at = list->count;
    list->edits = xgrow(list->edits, list->count++, sizeof *list->edits);
    for (; at > 0 && list->edits[at - 1].start > start; at--) /* sorted, stable */
        list->edits[at] = list->edits[at - 1];
    list->edits[at] = (struct edit){.start = start, .end = end, .text = xstrdup(text)};
}

void edit_list_release(struct edit_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->edits[i].text);
    free(list->edits);
    *list = (struct edit_list){0};
}

/* Applies edits[first .. last) to the bytes from `start` to before `end`, which hold them. */
static char *apply_some(const char *text, size_t start, size_t end, const struct edit_list *list,
                        size_t first, size_t last) {
    struct strbuf result = {0};
    strbuf_add(&result, "", 0);
    for (size_t i = first; i < last; i++) {
        const struct edit *edit = &list->edits[i];
        if (edit->start < start || edit->end < edit->start || edit->end > end) {
            strbuf_release(&result);
            return NULL;
        }
        strbuf_add(&result, text + start, edit->start - start);
        strbuf_add(&result, edit->text, strlen(edit->text));
        start = edit->end;
    }
    strbuf_add(&result, text + start, end - start);
    return result.bytes;
}

char *edit_list_apply(const char *text, const struct edit_list *list) {
    return apply_some(text, 0, strlen(text), list, 0, list->count);
}

int search_count(const char *text, const char *search) {
    int count = 0;
    if (*search == '\0')
        return 0;
    while ((text = strstr(text, search)) != NULL) {
        count++;
        text++;
    }
    return count;
}

struct block {
    size_t start, end;  /* of the text */
    size_t first, last; /* the edits in it */
};

static bool is_unique(const char *text, const struct block *block) {
    char *search = xstrndup(text + block->start, block->end - block->start);
    bool unique = search_count(text, search) == 1;
    free(search);
    return unique;
}

/* Adds a line on each side. Returns false when the block is the whole text. */
static bool widen_block(const char *text, size_t length, struct block *block) {
    if (block->start == 0 && block->end == length)
        return false;
    if (block->start > 0)
        block->start--;
    while (block->start > 0 && text[block->start - 1] != '\n')
        block->start--;
    if (block->end < length)
        block->end++;
    while (block->end < length && text[block->end] != '\n')
        block->end++;
    return true;
}

/* Joins blocks that overlap or touch. */
static size_t join_blocks(struct block *blocks, size_t count) {
    size_t kept = 0;
    for (size_t b = 0; b < count; b++) {
        if (kept > 0 && blocks[b].start <= blocks[kept - 1].end) {
            struct block *before = &blocks[kept - 1];
            before->end = blocks[b].end > before->end ? blocks[b].end : before->end;
            before->last = blocks[b].last;
        } else {
            blocks[kept++] = blocks[b];
        }
    }
    return kept;
}

static void replace_first(char **text, const char *search, const char *replace) {
    const char *at = strstr(*text, search);
    size_t start = (size_t)(at - *text);
    struct strbuf result = {0};
    strbuf_add(&result, *text, start);
    strbuf_add(&result, replace, strlen(replace));
    strbuf_add(&result, at + strlen(search), strlen(at) - strlen(search));
    free(*text);
    *text = result.bytes;
}

/* Whether the blocks also match once each when they are applied one after the other. */
static bool is_sequential(const char *text, const cJSON *blocks, const char *wanted) {
    char *now = xstrdup(text);
    const cJSON *block;
    bool good = true;
    cJSON_ArrayForEach(block, blocks) {
        const char *search =
            cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(block, "search"));
        const char *replace =
            cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(block, "replace"));
        if (!good || search_count(now, search) != 1) {
            good = false;
            break;
        }
        replace_first(&now, search, replace);
    }
    good = good && strcmp(now, wanted) == 0;
    free(now);
    return good;
}

static cJSON *make_blocks(const char *file, const char *text, const struct edit_list *list,
                          const struct block *blocks, size_t count) {
    cJSON *array = cJSON_CreateArray();
    for (size_t b = 0; b < count; b++) {
        char *search = xstrndup(text + blocks[b].start, blocks[b].end - blocks[b].start);
        char *replace =
            apply_some(text, blocks[b].start, blocks[b].end, list, blocks[b].first, blocks[b].last);
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "file", file);
        cJSON_AddStringToObject(object, "search", search);
        cJSON_AddStringToObject(object, "replace", replace);
        cJSON_AddItemToArray(array, object);
        free(search);
        free(replace);
    }
    return array;
}

int edit_list_blocks(cJSON *edits, const char *file, const char *text, const struct edit_list *list,
                     struct error *error) {
    size_t length = strlen(text), count = list->count;
    char *wanted = edit_list_apply(text, list);
    if (wanted == NULL)
        return error_set(error, "two edits of %s overlap", file);
    struct block *blocks = xcalloc(count, sizeof *blocks);
    for (size_t i = 0; i < count; i++) {
        size_t start = list->edits[i].start, end = list->edits[i].end;
        while (start > 0 && text[start - 1] != '\n')
            start--;
        while (end < length && text[end] != '\n')
            end++;
        blocks[i] = (struct block){start, end, i, i + 1};
    }
    cJSON *array = NULL;
    for (bool grown = true; grown;) {
        count = join_blocks(blocks, count);
        bool unique = true;
        grown = false;
        for (size_t b = 0; b < count; b++)
            if (blocks[b].start == blocks[b].end || !is_unique(text, &blocks[b])) {
                unique = false;
                grown = widen_block(text, length, &blocks[b]) || grown;
            }
        if (!unique)
            continue;
        array = make_blocks(file, text, list, blocks, count);
        if (is_sequential(text, array, wanted))
            break;
        cJSON_Delete(array); /* a replacement repeats a later search text */
        array = NULL;
        for (size_t b = 0; b < count; b++)
            grown = widen_block(text, length, &blocks[b]) || grown;
    }
    free(blocks);
    free(wanted);
    if (array == NULL)
        return error_set(error, "no part of %s matches once", file);
    while (array->child != NULL)
        cJSON_AddItemToArray(edits, cJSON_DetachItemFromArray(array, 0));
    cJSON_Delete(array);
    return 0;
}

/* ---- what a person or model wrote ---- */

static size_t trim_end(const char *line, size_t length) {
    while (length > 0 && (unsigned char)line[length - 1] <= ' ')
        length--;
    return length;
}

static size_t trim_start(const char *line, size_t length) {
    size_t blanks = 0;
    while (blanks < length && (unsigned char)line[blanks] <= ' ')
        blanks++;
    return blanks;
}

/* Whether the lines at `text` are those of `search`; sets how many bytes of `text` they take,
   without the last line's end. */
static bool match_lines(const char *text, const char *search, bool indentation, size_t *taken) {
    const char *start = text;
    for (;;) {
        size_t have = strcspn(text, "\n"), want = strcspn(search, "\n");
        size_t have_blanks = indentation ? trim_start(text, have) : 0;
        size_t want_blanks = indentation ? trim_start(search, want) : 0;
        size_t have_end = trim_end(text, have), want_end = trim_end(search, want);
        size_t have_size = have_end > have_blanks ? have_end - have_blanks : 0;
        size_t want_size = want_end > want_blanks ? want_end - want_blanks : 0;
        if (have_size != want_size ||
            memcmp(text + have_blanks, search + want_blanks, have_size) != 0)
            return false;
        text += have;
        search += want;
        *taken = (size_t)(text - start);
        if (*search == '\0' || search[1] == '\0')
            return true;
        if (*text == '\0')
            return false;
        text++;
        search++;
    }
}

int search_find(const char *text, const char *search, size_t *start, size_t *end,
                struct error *error) {
    if (trim_end(search, strlen(search)) == 0)
        return error_input(error, "a SEARCH block is empty: quote the lines that change");
    int count = search_count(text, search);
    if (count == 1) {
        *start = (size_t)(strstr(text, search) - text);
        *end = *start + strlen(search);
        return 0;
    }
    for (int indentation = 0; count == 0 && indentation < 2; indentation++)
        for (const char *line = text; line != NULL;) {
            size_t taken;
            if (match_lines(line, search, indentation, &taken) && ++count == 1) {
                *start = (size_t)(line - text);
                *end = *start + taken;
            }
            line = strchr(line, '\n');
            line = line != NULL ? line + 1 : NULL;
        }
    size_t shown = strcspn(search + strspn(search, " \t\n"), "\n");
    const char *first = search + strspn(search, " \t\n");
    if (count == 0)
        return error_input(error, "a SEARCH block does not occur in the file; it starts \"%.*s\"",
                           shown < 80 ? (int)shown : 80, first);
    if (count > 1)
        return error_input(
            error,
            "a SEARCH block occurs %d times in the file: quote more lines; it starts \"%.*s\"",
            count, shown < 80 ? (int)shown : 80, first);
    return 0;
}
