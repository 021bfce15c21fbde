/* completion: reads what a chat/completions server answers. */
#include "proposers/chat/completion.h"

#include "proposers/chat/redact.h"
#include "proposers/wire/request.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <string.h>

static const cJSON *member(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static void copy_line(char *to, size_t size, const char *text) {
    size_t used = 0;
    for (; *text != '\0' && used + 1 < size; text++)
        if ((unsigned char)*text > ' ' && *text != 127)
            to[used++] = *text;
        else if (used > 0 && to[used - 1] != ' ')
            to[used++] = ' ';
    while (used > 0 && (to[used - 1] == ' ' || (unsigned char)to[used - 1] >= 0x80) &&
           *text != '\0')
        used--; /* no half of a character at the cut */
    to[used] = '\0';
}

static const char *message_of(const cJSON *root) {
    const cJSON *error = member(root, "error");
    const char *text = cJSON_GetStringValue(member(error, "message"));
    text = text != NULL ? text : cJSON_GetStringValue(error);
    text = text != NULL ? text : cJSON_GetStringValue(member(root, "message"));
    return text != NULL ? text : cJSON_GetStringValue(member(root, "detail"));
}

void completion_error_text(const char *body, char *text, size_t size) {
    cJSON *root = cJSON_Parse(body);
    const char *message = message_of(root);
    copy_line(text, size, message != NULL ? message : body);
    cJSON_Delete(root);
}

static int64_t read_count(const cJSON *value) {
    double number = cJSON_IsNumber(value) ? value->valuedouble : 0;
    return number > 0 && number < 1e12 ? (int64_t)number : 0;
}

static void take_object(struct completion *completion, const cJSON *root) {
    const cJSON *choice = cJSON_GetArrayItem(member(root, "choices"), 0);
    const cJSON *usage = member(root, "usage");
    const cJSON *delta = member(choice, completion->is_body ? "message" : "delta");
    const char *text = cJSON_GetStringValue(member(delta, "content"));
    const char *finish = cJSON_GetStringValue(member(choice, "finish_reason"));
    if (member(root, "error") != NULL && !cJSON_IsNull(member(root, "error"))) {
        const char *message = message_of(root);
        char *clean = redact_text(message != NULL ? message : "an error without a message",
                                  completion->secret);
        copy_line(completion->message, sizeof completion->message, clean);
        free(clean);
    }
    if (text != NULL && completion->text.used + strlen(text) > COMPLETION_BYTES_MAX)
        completion->is_too_long = true;
    else if (text != NULL)
        strbuf_add(&completion->text, text, strlen(text));
    if (finish != NULL)
        copy_line(completion->finish, sizeof completion->finish, finish);
    if (cJSON_IsObject(usage)) {
        completion->has_usage = true;
        completion->prompt_tokens = read_count(member(usage, "prompt_tokens"));
        completion->completion_tokens = read_count(member(usage, "completion_tokens"));
    }
}

static void take_event(void *context, const char *data, size_t length) {
    struct completion *completion = context;
    if (length == 6 && memcmp(data, "[DONE]", 6) == 0) {
        completion->is_done = true;
        return;
    }
    cJSON *root = cJSON_ParseWithLength(data, length);
    if (root != NULL)
        take_object(completion, root);
    cJSON_Delete(root);
}

bool completion_feed(struct completion *completion, const char *bytes, size_t count) {
    while (!completion->is_started && count > 0 && isspace((unsigned char)*bytes)) {
        bytes++;
        count--;
    }
    if (count == 0)
        return true;
    if (!completion->is_started) {
        completion->is_started = true;
        completion->is_body = *bytes == '{';
    }
    if (!completion->is_body) {
        if (!sse_feed(&completion->sse, bytes, count, take_event, completion))
            completion->is_too_long = true;
    } else if (completion->body.used + count > 2 * COMPLETION_BYTES_MAX) {
        completion->is_too_long = true;
    } else {
        strbuf_add(&completion->body, bytes, count);
    }
    return !completion->is_too_long;
}

int completion_end(struct completion *completion, struct error *error) {
    if (completion->is_body && !completion->is_too_long) {
        cJSON *root = cJSON_ParseWithLength(completion->body.bytes, completion->body.used);
        if (root != NULL) {
            take_object(completion, root);
            completion->is_done = true;
        }
        cJSON_Delete(root);
    }
    strbuf_add(&completion->text, "", 0);
    if (completion->is_too_long)
        return error_set(error, "the reply is longer than %d bytes: lower --reply-tokens",
                         COMPLETION_BYTES_MAX);
    if (completion->message[0] != '\0')
        return error_set(error, "the server reports: %s", completion->message);
    if (!completion->is_done && completion->finish[0] == '\0') {
        completion->is_cut = true;
        return error_set(error, "the server's reply was cut");
    }
    if (strcmp(completion->finish, "length") == 0)
        return error_set(error, "the reply reached its limit of tokens: raise --reply-tokens");
    if (strspn(completion->text.bytes, " \t\r\n") == completion->text.used)
        return error_set(error, "the server's reply has no text (finish_reason \"%s\")",
                         completion->finish);
    if (!text_is_utf8(completion->text.bytes, completion->text.used))
        return error_set(error, "the server's reply is not UTF-8");
    return 0;
}

void completion_release(struct completion *completion) {
    sse_release(&completion->sse);
    strbuf_release(&completion->text);
    strbuf_release(&completion->body);
    *completion = (struct completion){0};
}
