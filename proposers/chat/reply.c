/* reply: reads a proposal from the text that a model wrote. */
#include "proposers/chat/reply.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "proposers/wire/edits.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { HYPOTHESIS_MAX = 500, BLOCKS_MAX = 200 };

/* What was found: a list of blocks, or whole files, or a genome. */
struct found {
    char *hypothesis, *genome;
    cJSON *blocks; /* {"file" (may be missing), "search", "replace"} */
    cJSON *files;  /* NAME: text or null */
};

/* ---- lines ---- */

struct line {
    const char *text;
    size_t length;
};

static bool next_line(const char **at, struct line *line) {
    if (**at == '\0')
        return false;
    line->text = *at;
    line->length = strcspn(*at, "\n");
    *at += line->length + ((*at)[line->length] == '\n');
    if (line->length > 0 && line->text[line->length - 1] == '\r')
        line->length--;
    return true;
}

/* Without blanks, and without Markdown's marks for headings, lists and bold text. */
static struct line trim_marks(struct line line) {
    while (line.length > 0 && strchr(" \t#*->`", line.text[0]) != NULL) {
        line.text++;
        line.length--;
    }
    while (line.length > 0 && strchr(" \t*`:", line.text[line.length - 1]) != NULL)
        line.length--;
    return line;
}

/* Whether a line is "WORD: rest", in any case and with Markdown's marks; sets the rest. */
static bool has_label(struct line line, const char *word, struct line *rest) {
    struct line bare = trim_marks(line);
    size_t size = strlen(word);
    if (bare.length <= size || strncasecmp(bare.text, word, size) != 0)
        return false;
    size_t at = size + strspn(bare.text + size, "* ");
    if (at >= bare.length || bare.text[at] != ':')
        return false;
    *rest = trim_marks((struct line){bare.text + at + 1, bare.length - at - 1});
    return rest->length > 0;
}

/* Five or more of one character; what follows them on the line is `rest`. */
static bool is_marker(struct line line, char mark, const char *word, struct line *rest) {
    size_t count = 0;
    while (count < line.length && line.text[count] == mark)
        count++;
    if (count < 5)
        return false;
    struct line after = {line.text + count, line.length - count};
    while (after.length > 0 && (after.text[0] == ' ' || after.text[0] == '\t')) {
        after.text++;
        after.length--;
    }
    if (after.length < strlen(word) || strncasecmp(after.text, word, strlen(word)) != 0)
        return false;
    *rest = trim_marks((struct line){after.text + strlen(word), after.length - strlen(word)});
    return true;
}

static size_t fence_length(struct line line) {
    size_t count = 0;
    while (count < line.length && line.text[count] == '`')
        count++;
    return count >= 3 ? count : 0;
}

static char *copy_line(struct line line) {
    return xstrndup(line.text, line.length);
}

/* ---- blocks and files ---- */

/* Lines up to a marker or a closing fence. NULL if the text ends before. */
static char *take_until(const char **at, char mark, const char *word, size_t fence) {
    struct strbuf text = {0};
    struct line line, rest;
    strbuf_add(&text, "", 0);
    while (next_line(at, &line)) {
        bool ends = fence > 0 ? fence_length(line) >= fence && trim_marks(line).length == 0 &&
                                    line.text[0] == '`'
                              : is_marker(line, mark, word, &rest) && rest.length == 0;
        if (ends)
            return text.bytes;
        strbuf_add(&text, line.text, line.length);
        strbuf_add(&text, "\n", 1);
    }
    strbuf_release(&text);
    return NULL;
}

static int take_block(struct found *found, const char **at, const char *file, struct error *error) {
    char *search = take_until(at, '=', "", 0);
    char *replace = search != NULL ? take_until(at, '>', "REPLACE", 0) : NULL;
    int status = 0;
    if (replace == NULL) {
        status =
            error_input(error, "a SEARCH block is not closed by lines =======, >>>>>>> REPLACE");
    } else if (cJSON_GetArraySize(found->blocks) >= BLOCKS_MAX) {
        status = error_input(error, "the reply has more than %d SEARCH blocks", BLOCKS_MAX);
    } else {
        cJSON *block = cJSON_CreateObject();
        if (search[0] != '\0') /* the marker stands on a line of its own: its line end is no text */
            search[strlen(search) - 1] = '\0';
        if (replace[0] != '\0')
            replace[strlen(replace) - 1] = '\0';
        if (file != NULL)
            cJSON_AddStringToObject(block, "file", file);
        cJSON_AddStringToObject(block, "search", search);
        cJSON_AddStringToObject(block, "replace", replace);
        cJSON_AddItemToArray(found->blocks, block);
    }
    free(search);
    free(replace);
    return status;
}

static void keep_first(char **kept, struct line line) {
    if (*kept == NULL)
        *kept = copy_line(line);
}

/* Reads labels, blocks and fenced files. `json` gets the text of the first fenced block of JSON
   without a FILE line. */
static int scan(struct found *found, const char *text, char **json, struct error *error) {
    struct line line, rest;
    char *file = NULL;
    bool fresh = false; /* a FILE line that no block has used */
    int status = 0;
    for (const char *at = text; status == 0 && next_line(&at, &line);) {
        size_t fence = fence_length(line);
        if (has_label(line, "HYPOTHESIS", &rest)) {
            keep_first(&found->hypothesis, rest);
        } else if (has_label(line, "GENOME", &rest)) {
            keep_first(&found->genome, rest);
        } else if (has_label(line, "FILE", &rest)) {
            free(file);
            file = copy_line(rest);
            fresh = true;
        } else if (is_marker(line, '<', "SEARCH", &rest)) {
            if (rest.length > 0) {
                free(file);
                file = copy_line(rest);
            }
            status = take_block(found, &at, file, error);
            fresh = false;
        } else if (fence > 0) {
            const char *inside = at;
            struct line first;
            /* A fence around SEARCH blocks is decoration. */
            if (next_line(&inside, &first) && is_marker(first, '<', "SEARCH", &rest))
                continue;
            char *body = take_until(&at, 0, NULL, fence);
            if (body == NULL && fresh)
                status = error_input(error, "the text of %s is not closed by a line ```", file);
            else if (body != NULL && fresh)
                cJSON_AddStringToObject(found->files, file, body);
            else if (body != NULL && *json == NULL && body[strspn(body, " \t\r\n")] == '{')
                *json = xstrdup(body);
            fresh = false;
            free(body);
        }
    }
    free(file);
    return status;
}

/* ---- JSON ---- */

static bool is_proposal(const cJSON *root) {
    static const char *const keys[] = {"genome", "edits", "files", NULL};
    for (int k = 0; keys[k] != NULL; k++)
        if (cJSON_GetObjectItemCaseSensitive(root, keys[k]) != NULL)
            return true;
    return false;
}

/* The first object in the text with a key of a proposal. Tries a bounded number of places. */
static cJSON *find_json(const char *text) {
    int tries = 0;
    for (const char *at = strchr(text, '{'); at != NULL && tries < 50; at = strchr(at + 1, '{')) {
        cJSON *root = cJSON_ParseWithOpts(at, NULL, false);
        tries++;
        if (root != NULL && is_proposal(root))
            return root;
        cJSON_Delete(root);
    }
    return NULL;
}

static int take_json(struct found *found, const cJSON *root, struct error *error) {
    const cJSON *edits = cJSON_GetObjectItemCaseSensitive(root, "edits"), *item;
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(root, "files");
    const char *genome = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "genome"));
    const char *hypothesis =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "hypothesis"));
    cJSON_ArrayForEach(item, edits) {
        if (cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "search")) == NULL ||
            cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "replace")) == NULL)
            return error_input(error,
                               "each of \"edits\" needs the texts \"search\" and \"replace\"");
        if (cJSON_GetArraySize(found->blocks) >= BLOCKS_MAX)
            return error_input(error, "the reply has more than %d edits", BLOCKS_MAX);
        cJSON_AddItemToArray(found->blocks, cJSON_Duplicate(item, true));
    }
    cJSON_ArrayForEach(item, files) {
        if (item->string == NULL || (!cJSON_IsString(item) && !cJSON_IsNull(item)))
            return error_input(error, "\"files\" must be an object of texts by name");
        cJSON_AddItemToObject(found->files, item->string, cJSON_Duplicate(item, true));
    }
    if (genome != NULL && found->genome == NULL)
        found->genome = xstrdup(genome);
    if (hypothesis != NULL && found->hypothesis == NULL)
        found->hypothesis = xstrdup(hypothesis);
    return 0;
}

/* ---- the answer ---- */

/* The file of a block that names none: the one where its text is. */
static const cJSON *find_file(const cJSON *files, const cJSON *block, struct error *error) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(block, "file"));
    const char *search = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(block, "search"));
    const cJSON *file, *place = NULL;
    struct error missing = {0};
    size_t start, end;
    if (name != NULL) {
        file = cJSON_GetObjectItemCaseSensitive(files, name);
        if (file == NULL)
            error_input(error, "the parent has no file \"%.80s\" that a SEARCH block could change",
                        name);
        return file;
    }
    cJSON_ArrayForEach(file, files) {
        struct error here = {0};
        if (search_find(file->valuestring, search, &start, &end, &here) < 0) {
            /* Where it stands several times says more than where it does not. */
            if (missing.kind == ERROR_NONE || search_count(file->valuestring, search) > 1)
                missing = here;
            continue;
        }
        if (place != NULL) {
            error_input(error,
                        "a SEARCH block occurs in two files: put a line FILE: NAME before it");
            return NULL;
        }
        place = file;
    }
    if (place == NULL)
        *error = missing;
    return place;
}

static int add_block(struct edit_list *lists, const cJSON *files, const cJSON *block,
                     struct error *error) {
    const cJSON *file = find_file(files, block, error), *at;
    size_t start, end;
    int number = 0;
    if (file == NULL)
        return -1;
    const char *search = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(block, "search"));
    const char *replace = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(block, "replace"));
    if (search_find(file->valuestring, search, &start, &end, error) < 0)
        return error_prefix(error, "%s", file->string);
    for (at = files->child; at != file; at = at->next)
        number++;
    edit_list_add(&lists[number], start, end, replace);
    return 0;
}

static int check_solution(const char *text, struct error *error) {
    struct json_document document;
    if (text == NULL)
        return 0;
    if (json_read_text(&document, "the edited solution.json", text, error) < 0)
        return -1;
    json_release(&document);
    return 0;
}

/* Applies blocks to the parent's files: "edits" of blocks that match once, or whole "files" where
   whole ones are proposed too, or where no block can be unique. */
static int add_changes(cJSON *answer, struct found *found, const cJSON *files,
                       struct error *error) {
    int count = cJSON_GetArraySize(files), number = 0, status = 0;
    struct edit_list *lists = xcalloc((size_t)count, sizeof *lists);
    cJSON *edits = cJSON_CreateArray(), *whole = found->files;
    const cJSON *block, *file;
    cJSON_ArrayForEach(block, found->blocks) {
        if (status == 0)
            status = add_block(lists, files, block, error);
    }
    bool as_files = whole->child != NULL, changed = false;
    cJSON_ArrayForEach(file, whole) {
        const char *before =
            cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(files, file->string));
        const char *after = cJSON_GetStringValue(file);
        if (status == 0)
            status = file_name_check(file->string, error);
        changed = changed || before == NULL || after == NULL || strcmp(before, after) != 0;
    }
    cJSON_ArrayForEach(file, files) {
        struct edit_list *list = &lists[number++];
        if (status < 0 || list->count == 0)
            continue;
        char *text = edit_list_apply(file->valuestring, list);
        struct error ignored = {0};
        if (text == NULL)
            status = error_input(error, "two SEARCH blocks of %s overlap: join them", file->string);
        else if (cJSON_HasObjectItem(whole, file->string))
            status =
                error_input(error, "%s is proposed both whole and by SEARCH blocks", file->string);
        else if (strcmp(file->string, "solution.json") == 0)
            status = check_solution(text, error);
        if (status == 0) {
            changed = changed || strcmp(text, file->valuestring) != 0;
            as_files =
                edit_list_blocks(edits, file->string, file->valuestring, list, &ignored) < 0 ||
                as_files;
        }
        free(text);
    }
    if (status == 0)
        status = check_solution(
            cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(whole, "solution.json")), error);
    if (status == 0 && !changed)
        status = error_input(error, "the reply changes nothing");
    number = 0;
    cJSON_ArrayForEach(file, files) {
        struct edit_list *list = &lists[number++];
        if (status == 0 && as_files && list->count > 0) {
            char *text = edit_list_apply(file->valuestring, list);
            cJSON_AddStringToObject(whole, file->string, text);
            free(text);
        }
        edit_list_release(list);
    }
    free(lists);
    if (status == 0)
        cJSON_AddItemToObject(answer, as_files ? "files" : "edits",
                              cJSON_Duplicate(as_files ? whole : edits, true));
    cJSON_Delete(edits);
    return status;
}

static cJSON *make_answer(struct found *found, const struct request *request, struct error *error) {
    bool changes = found->blocks->child != NULL || found->files->child != NULL;
    if (!changes && found->genome == NULL) {
        error_input(error, "the reply has no SEARCH/REPLACE block, no FILE with its text, no "
                           "GENOME and no JSON object with \"edits\", \"files\" or \"genome\"");
        return NULL;
    }
    if (changes && found->genome != NULL) {
        error_input(error, "the reply proposes both a genome and other source: choose one");
        return NULL;
    }
    if (found->hypothesis == NULL ||
        strspn(found->hypothesis, " \t\r\n") == strlen(found->hypothesis)) {
        error_input(error, "the reply has no line \"HYPOTHESIS: ...\"");
        return NULL;
    }
    if (strlen(found->hypothesis) > HYPOTHESIS_MAX) {
        size_t end = HYPOTHESIS_MAX;
        while (end > 0 && ((unsigned char)found->hypothesis[end] & 0xc0) == 0x80)
            end--;
        found->hypothesis[end] = '\0';
    }
    cJSON *answer = proposal_new(request, found->hypothesis);
    if (!changes)
        cJSON_AddStringToObject(answer, "genome", found->genome);
    else if (add_changes(answer, found, request_files(request, 0), error) < 0) {
        cJSON_Delete(answer);
        return NULL;
    }
    return answer;
}

cJSON *reply_parse(const char *text, const struct request *request, struct error *error) {
    struct found found = {.blocks = cJSON_CreateArray(), .files = cJSON_CreateObject()};
    const char *thought = text;
    for (const char *end; (end = strstr(thought, "</think>")) != NULL;)
        thought = end + strlen("</think>"); /* what a model thinks aloud is no proposal */
    char *fenced = NULL;
    cJSON *answer = NULL;
    int status = scan(&found, thought, &fenced, error);
    if (status == 0 && found.blocks->child == NULL && found.files->child == NULL) {
        cJSON *root = find_json(fenced != NULL ? fenced : thought);
        if (root != NULL)
            status = take_json(&found, root, error);
        cJSON_Delete(root);
    }
    if (status == 0)
        answer = make_answer(&found, request, error);
    cJSON_Delete(found.blocks);
    cJSON_Delete(found.files);
    free(found.hypothesis);
    free(found.genome);
    free(fenced);
    return answer;
}
