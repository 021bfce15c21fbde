/* Any bytes from a server: the stream is read or refused, in one piece as in many; a reply becomes
   an answer whose search texts match once, or an error of one line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "proposers/chat/completion.h"
#include "proposers/chat/redact.h"
#include "proposers/chat/reply.h"
#include "proposers/wire/edits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char request_text[] =
    "{\"type\":\"propose\",\"protocol\":1,\"number\":4,\"seed\":1,\"strategy\":\"free\",\"task\":{}"
    ",\"parents\":[{\"hash\":\"abc\",\"files\":"
    "{\"kernel.cu\":\"int a;\\n  int b;\\nint c;\\nint a;\\n\",\"solution.json\":\"{ "
    "\\\"source\\\": \\\"kernel.cu\\\" }\\n\"}}]}";

static void check_line(const char *text) {
    if (*text == '\0' || strchr(text, '\n') != NULL)
        BUG("not one line: %s", text);
}

static void check_answer(const cJSON *answer, const struct request *request) {
    const cJSON *edit, *file;
    const cJSON *edits = cJSON_GetObjectItemCaseSensitive(answer, "edits");
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(answer, "files");
    int kinds = (edits != NULL) + (files != NULL) + cJSON_HasObjectItem(answer, "genome");
    if (kinds != 1)
        BUG("an answer of %d kinds", kinds);
    check_line(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "hypothesis")));
    cJSON_ArrayForEach(edit, edits) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(edit, "file"));
        const char *search = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(edit, "search"));
        if (search_count(request_file(request, 0, name), search) != 1)
            BUG("a search text does not match once: %s", search);
    }
    cJSON_ArrayForEach(file, files) {
        struct error error = {0};
        if (file_name_check(file->string, &error) < 0)
            BUG("a file outside: %s", file->string);
    }
}

static void feed(struct completion *completion, const uint8_t *data, size_t size, size_t piece) {
    for (size_t at = 0; at < size; at += piece)
        if (!completion_feed(completion, (const char *)data + at,
                             piece < size - at ? piece : size - at))
            return;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct completion whole = {0}, pieces = {0};
    struct error error = {0}, other = {0};
    struct request request;
    feed(&whole, data, size, size + 1);
    feed(&pieces, data, size, 3);
    int status = completion_end(&whole, &error);
    if (completion_end(&pieces, &other) != status || strcmp(error.text, other.text) != 0 ||
        strcmp(whole.text.bytes, pieces.text.bytes) != 0)
        BUG("another reply in pieces: %s, %s", error.text, other.text);
    if (request_read(&request, request_text, strlen(request_text), &error) < 0)
        BUG("%s", error.text);
    char *plain = xstrndup((const char *)data, size);
    char *const replies[] = {plain, status == 0 ? whole.text.bytes : NULL};
    for (int r = 0; r < 2 && replies[r] != NULL; r++) {
        struct error refused = {0};
        char *clean = redact_text(replies[r], "HYPOTHESIS: ");
        free(clean);
        cJSON *answer = reply_parse(replies[r], &request, &refused);
        if (answer != NULL) {
            check_answer(answer, &request);
        } else {
            cJSON *said = proposal_error(&request, refused.text);
            check_line(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(said, "error")));
            cJSON_Delete(said);
        }
        cJSON_Delete(answer);
    }
    free(plain);
    request_release(&request);
    completion_release(&whole);
    completion_release(&pieces);
    return 0;
}
