#include "base/relay.h"

#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* A turn is bounded, so that a child that prints without end does not hold its parent. */
enum { CHUNK = 8192, CHUNKS_A_TURN = 512, ESCAPE_SIZE = 4 /* \x1b */ };

static bool is_shown_as_is(unsigned char byte) {
    return (byte >= 0x20 && byte < 0x7f) || byte == '\n' || byte == '\t';
}

/* Writes at most `room` bytes to `text`; returns how many. `*used` is how many of `bytes` they
   show. */
static size_t escape_bytes(const unsigned char *bytes, size_t count, char *text, size_t room,
                           size_t *used) {
    size_t length = 0;
    for (*used = 0; *used < count; ++*used) {
        unsigned char byte = bytes[*used];
        size_t needed = is_shown_as_is(byte) ? 1 : ESCAPE_SIZE;
        if (length + needed > room)
            break;
        if (needed == 1)
            text[length] = (char)byte;
        else
            snprintf(text + length, ESCAPE_SIZE + 1, "\\x%02x", byte);
        length += needed;
    }
    return length;
}

static void drop_rest(struct relay *relay) {
    relay->full = true;
    if (relay->is_midline)
        log_text("\n", 1, false);
    relay->is_midline = false;
    log_warn("a worker printed more than %d MB in one trial: the rest is dropped; print less, or "
             "from one thread",
             RELAY_BYTES_MAX >> 20);
}

static void show(struct relay *relay, const unsigned char *bytes, size_t count) {
    char text[CHUNK];
    for (size_t used; count > 0 && !relay->full; bytes += used, count -= used) {
        size_t left = RELAY_BYTES_MAX - relay->shown;
        size_t room = left < sizeof text - 1 ? left : sizeof text - 1;
        size_t length = escape_bytes(bytes, count, text, room, &used);
        if (used == 0) {
            drop_rest(relay);
            return;
        }
        log_text(text, length, !relay->is_midline);
        relay->is_midline = text[length - 1] != '\n';
        relay->shown += length;
    }
}

void relay_copy(struct relay *relay) {
    unsigned char bytes[CHUNK];
    for (int i = 0; i < CHUNKS_A_TURN && relay->from >= 0; i++) {
        ssize_t count = read(relay->from, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            return;
        if (count <= 0) { /* poll() would report the end of file again and again */
            close(relay->from);
            relay->from = -1;
            return;
        }
        show(relay, bytes, (size_t)count);
    }
}

void relay_reset(struct relay *relay) {
    relay->shown = 0;
    relay->full = false;
}

void relay_close(struct relay *relay) {
    relay_copy(relay);
    if (relay->from >= 0)
        close(relay->from);
    *relay = (struct relay){.from = -1};
}
