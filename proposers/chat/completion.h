/*
 * completion: what a chat/completions server answers, streamed as events or as one JSON object.
 *
 *     struct completion completion = {0};
 *     char bytes[4096];
 *     while ((count = fread(bytes, 1, sizeof bytes, stdin)) > 0)
 *         completion_feed(&completion, bytes, count);
 *     if (completion_end(&completion, &error) < 0)
 *         return -1;
 *     puts(completion.text.bytes);
 *     completion_release(&completion);
 *
 * A stream that ends before the server said why it stopped is cut: `is_cut`, which is worth another
 * try. Nothing here trusts the server: any bytes are read or refused.
 */
#ifndef EVOTILE_PROPOSERS_CHAT_COMPLETION_H
#define EVOTILE_PROPOSERS_CHAT_COMPLETION_H

#include "base/error.h"
#include "proposers/chat/sse.h"

#include <stdbool.h>
#include <stdint.h>

enum { COMPLETION_BYTES_MAX = 4 << 20 };

struct completion {
    const char *secret; /* the key, which errors of the server may quote; may be NULL */
    struct sse sse;
    struct strbuf text;              /* the reply so far */
    struct strbuf body;              /* of an answer that is no stream */
    bool is_body, is_started;        /* the first byte said which */
    bool is_done, is_cut, has_usage; /* finished by the server; cut; it counted the tokens */
    bool is_too_long;
    char finish[32];   /* "stop", "length" and others; empty: not said */
    char message[512]; /* an error that the server reported */
    int64_t prompt_tokens, completion_tokens;
};

/* Returns false once more bytes are useless: the reply is too long. */
bool completion_feed(struct completion *completion, const char *bytes, size_t count);

/* Called when the connection has ended. Fails for a reply that is empty, cut or too long, and with
   the server's own error. */
int completion_end(struct completion *completion, struct error *error);
void completion_release(struct completion *completion);

/* The message of an error body, {"error": {"message": ...}} or any other text, on one line. */
void completion_error_text(const char *body, char *text, size_t size);

#endif
