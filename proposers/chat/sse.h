/*
 * sse: reads a stream of server-sent events as it arrives, in pieces of any size.
 *
 *     struct sse sse = {0};
 *     sse_feed(&sse, bytes, count, take_event, context);
 *     sse_release(&sse);
 *
 * An event is the lines "data: ..." up to an empty line, joined by line ends. Other fields and
 * comments are passed over. Lines end with LF, CR LF or CR. An event that the stream cuts is none.
 */
#ifndef EVOTILE_PROPOSERS_CHAT_SSE_H
#define EVOTILE_PROPOSERS_CHAT_SSE_H

#include "base/strbuf.h"

#include <stdbool.h>

enum { SSE_EVENT_BYTES_MAX = 8 << 20 };

struct sse {
    struct strbuf line, data;
    bool has_data, after_cr, too_long;
};

/* Gets the data of one event. */
typedef void sse_event(void *context, const char *data, size_t length);

/* Returns false from the first event on that is longer than SSE_EVENT_BYTES_MAX. */
bool sse_feed(struct sse *sse, const char *bytes, size_t count, sse_event *event, void *context);
void sse_release(struct sse *sse);

#endif
