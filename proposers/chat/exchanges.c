/* exchanges: the file of questions and answers. */
#include "proposers/chat/exchanges.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { EXCHANGES_BYTES_MAX = 1 << 30 };

static const cJSON *member(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static const char *text_of(const cJSON *object, const char *key) {
    return cJSON_GetStringValue(member(object, key));
}

static int write_line(struct exchanges *exchanges, cJSON *line, struct error *error) {
    char *text = cJSON_PrintUnformatted(line);
    size_t length = strlen(text);
    text[length++] = '\n'; /* in place of the NUL: one write for the whole line */
    off_t before = lseek(exchanges->file, 0, SEEK_END);
    ssize_t written = 0;
    for (size_t at = 0; at < length && written >= 0; at += (size_t)written)
        do
            written = write(exchanges->file, text + at, length - at);
        while (written < 0 && errno == EINTR);
    cJSON_free(text);
    if (written >= 0 && fsync(exchanges->file) == 0)
        return 0;
    error_set(error, "cannot write %s: %s: make room, or record elsewhere", exchanges->path,
              strerror(errno));
    if (before >= 0 && ftruncate(exchanges->file, before) < 0) /* no part of a line stays */
        text_append(error->text, sizeof error->text, " (its last line is cut)");
    return -1;
}

static int check_header(const struct exchanges *exchanges, const cJSON *line, struct error *error) {
    const cJSON *version = member(line, "evotile_exchanges");
    if (!cJSON_IsNumber(version))
        return error_input(error, "%s is not a file of --record: its first line lacks its version",
                           exchanges->path);
    if (version->valuedouble != EXCHANGES_VERSION)
        return error_input(error,
                           "%s has version %g, and this program reads version %d: replay it with "
                           "the evotile that recorded it",
                           exchanges->path, version->valuedouble, EXCHANGES_VERSION);
    return 0;
}

static bool is_exchange(const cJSON *line) {
    return cJSON_IsNumber(member(line, "number")) && text_of(line, "parent") != NULL &&
           text_of(line, "question") != NULL && cJSON_IsObject(member(line, "answer"));
}

/* Parses the whole lines of a file; returns how many bytes they are, or -1. */
static ssize_t read_lines(struct exchanges *exchanges, char *text, size_t size,
                          struct error *error) {
    char *at = text, *end;
    int number = 0;
    while ((end = memchr(at, '\n', size - (size_t)(at - text))) != NULL) {
        *end = '\0';
        cJSON *line = cJSON_Parse(at);
        number++;
        int status = number == 1 ? check_header(exchanges, line, error) : 0;
        if (number > 1 && !is_exchange(line))
            status = error_input(error, "%s:%d: this line is not an exchange: the file is damaged",
                                 exchanges->path, number);
        if (number > 1 && status == 0)
            cJSON_AddItemToArray(exchanges->lines, line);
        else
            cJSON_Delete(line);
        if (status < 0)
            return -1;
        at = end + 1;
    }
    return at - text;
}

static int open_file(struct exchanges *exchanges, bool record, struct error *error) {
    size_t size = 0;
    ssize_t whole = 0;
    if (path_exists(exchanges->path) && !path_is_replaceable(exchanges->path))
        return error_input(error, "%s is no regular file: exchanges need one", exchanges->path);
    if (!record || path_exists(exchanges->path)) {
        char *text = path_read_file(exchanges->path, EXCHANGES_BYTES_MAX, &size, error);
        if (text == NULL) {
            error->kind = ERROR_INPUT;
            return -1;
        }
        whole = read_lines(exchanges, text, size, error);
        free(text);
        if (whole < 0)
            return -1;
        if (!record && whole == 0)
            return error_input(error, "%s holds no exchange", exchanges->path);
    }
    if (!record)
        return 0;
    exchanges->file = open(exchanges->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (exchanges->file < 0 || ftruncate(exchanges->file, (off_t)whole) < 0)
        return error_set(error, "cannot write %s: %s", exchanges->path, strerror(errno));
    if (whole > 0)
        return 0;
    cJSON *header = cJSON_CreateObject();
    cJSON_AddNumberToObject(header, "evotile_exchanges", EXCHANGES_VERSION);
    int status = write_line(exchanges, header, error);
    cJSON_Delete(header);
    return status;
}

int exchanges_open(struct exchanges *exchanges, const char *path, bool record,
                   struct error *error) {
    *exchanges = (struct exchanges){.path = path, .lines = cJSON_CreateArray(), .file = -1};
    if (open_file(exchanges, record, error) == 0)
        return 0;
    exchanges_close(exchanges);
    return -1;
}

void exchanges_close(struct exchanges *exchanges) {
    cJSON_Delete(exchanges->lines);
    if (exchanges->file >= 0)
        close(exchanges->file);
    *exchanges = (struct exchanges){.file = -1};
}

static void hash_question(const char *question, char text[HASH_TEXT_SIZE]) {
    hash_print(hash_bytes(question, strlen(question)), text);
}

cJSON *exchanges_find(const struct exchanges *exchanges, const struct request *request,
                      const char *question, struct error *error) {
    const cJSON *line, *same_number = NULL, *same_parent = NULL;
    const char *parent = request_hash(request, 0);
    char hash[HASH_TEXT_SIZE] = "";
    if (question != NULL)
        hash_question(question, hash);
    cJSON_ArrayForEach(line, exchanges->lines) {
        if (member(line, "number")->valuedouble != (double)request->number)
            continue;
        same_number = line;
        if (strcmp(text_of(line, "parent"), parent) != 0)
            continue;
        same_parent = line;
        if (question == NULL || strcmp(text_of(line, "question"), hash) == 0)
            return cJSON_Duplicate(member(line, "answer"), true);
    }
    if (same_number == NULL)
        error_input(error, "%s has no proposal %lld", exchanges->path, (long long)request->number);
    else if (same_parent == NULL)
        error_input(error,
                    "%s has proposal %lld for the parent %.32s, not for %.32s: the run asks "
                    "other questions",
                    exchanges->path, (long long)request->number, text_of(same_number, "parent"),
                    parent);
    else
        error_input(error,
                    "%s has another question under proposal %lld: the prompts, the task or "
                    "the history differ",
                    exchanges->path, (long long)request->number);
    return NULL;
}

int exchanges_add(struct exchanges *exchanges, const struct request *request,
                  const struct exchange *exchange, struct error *error) {
    char hash[HASH_TEXT_SIZE];
    cJSON *line = cJSON_CreateObject();
    hash_question(exchange->question, hash);
    cJSON_AddNumberToObject(line, "number", (double)request->number);
    cJSON_AddStringToObject(line, "parent", request_hash(request, 0));
    cJSON_AddStringToObject(line, "strategy", request->strategy);
    cJSON_AddStringToObject(line, "question", hash);
    if (exchange->tokens != NULL)
        cJSON_AddItemToObject(line, "tokens", cJSON_Duplicate(exchange->tokens, true));
    if (exchange->reply != NULL)
        cJSON_AddStringToObject(line, "reply", exchange->reply);
    cJSON_AddItemToObject(line, "answer", cJSON_Duplicate(exchange->answer, true));
    if (write_line(exchanges, line, error) < 0) {
        cJSON_Delete(line);
        return -1;
    }
    cJSON_AddItemToArray(exchanges->lines, line);
    return 0;
}

void exchanges_sum(const struct exchanges *exchanges, int64_t *tokens, double *cost) {
    const cJSON *line;
    *tokens = 0;
    *cost = 0;
    cJSON_ArrayForEach(line, exchanges->lines) {
        const cJSON *spent = member(line, "tokens");
        const cJSON *prompt = member(spent, "prompt"), *completion = member(spent, "completion");
        const cJSON *paid = member(spent, "cost");
        *tokens += cJSON_IsNumber(prompt) ? (int64_t)prompt->valuedouble : 0;
        *tokens += cJSON_IsNumber(completion) ? (int64_t)completion->valuedouble : 0;
        *cost += cJSON_IsNumber(paid) ? paid->valuedouble : 0;
    }
}
