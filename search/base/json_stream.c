#include "base/json_stream.h"

#include "base/file_kind.h"
#include "base/memory.h"

#include <string.h>
#include <zlib.h>

enum { BUFFER_SIZE = 1 << 18, TOKEN_SIZE = 4096, DEPTH_MAX = 128 };

struct json_stream {
    char *name;
    gzFile file; /* NULL: the input is in memory, all of it in [at, end) */
    struct error *error;
    bool failed;
    const unsigned char *at, *end, *begin;
    unsigned char *buffer;
    size_t lines;  /* line ends before `begin` */
    size_t column; /* column of `begin`, from 0 */
    bool keep;     /* the token being read is stored */
    char token[TOKEN_SIZE];
    size_t length;
};

static struct json_stream *stream_new(const char *name, struct error *error) {
    struct json_stream *stream = xcalloc(1, sizeof *stream);
    stream->name = xstrdup(name);
    stream->error = error;
    return stream;
}

struct json_stream *json_stream_open(const char *path, struct error *error) {
    if (file_is_special(path)) {
        error_input(error, FILE_IS_SPECIAL, path);
        return NULL;
    }
    struct json_stream *stream = stream_new(path, error);
    stream->file = gzopen(path, "rb"); /* also reads uncompressed files */
    if (stream->file == NULL) {
        error_input(error, "cannot read %s: %m", path);
        json_stream_close(stream);
        return NULL;
    }
    gzbuffer(stream->file, BUFFER_SIZE);
    stream->buffer = xmalloc(BUFFER_SIZE);
    stream->begin = stream->at = stream->end = stream->buffer;
    return stream;
}

struct json_stream *json_stream_bytes(const char *name, const void *bytes, size_t size,
                                      struct error *error) {
    struct json_stream *stream = stream_new(name, error);
    stream->begin = stream->at = bytes;
    stream->end = stream->at + size;
    return stream;
}

void json_stream_close(struct json_stream *stream) {
    if (stream == NULL)
        return;
    if (stream->file != NULL)
        gzclose(stream->file);
    free(stream->buffer);
    free(stream->name);
    free(stream);
}

/* Advances the line and column of `begin` to `at`. */
static void count_lines(struct json_stream *stream) {
    const unsigned char *line = stream->begin;
    const unsigned char *newline;
    while (line < stream->at && (newline = memchr(line, '\n', (size_t)(stream->at - line)))) {
        stream->lines++;
        stream->column = 0;
        line = newline + 1;
    }
    stream->column += (size_t)(stream->at - line);
    stream->begin = stream->at;
}

int json_stream_error(struct json_stream *stream, const char *format, ...) {
    char text[512];
    va_list arguments;
    if (stream->failed)
        return -1;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    count_lines(stream);
    error_input(stream->error, "%s:%zu:%zu: %s", stream->name, stream->lines + 1,
                stream->column + 1, text);
    stream->failed = true;
    stream->end = stream->at; /* later reads see the end of the input */
    return -1;
}

/* Refills an exhausted buffer and returns the next byte without consuming it; -1 at the end. */
static int refill(struct json_stream *stream) {
    if (stream->file == NULL || stream->failed)
        return -1;
    count_lines(stream);
    int count = gzread(stream->file, stream->buffer, BUFFER_SIZE);
    stream->begin = stream->at = stream->end = stream->buffer;
    if (count < 0) {
        int number;
        json_stream_error(stream, "the file cannot be decompressed: %s: download it again",
                          gzerror(stream->file, &number));
        return -1;
    }
    stream->end += count;
    return count > 0 ? *stream->at : -1;
}

static inline int peek_byte(struct json_stream *stream) {
    return stream->at < stream->end ? *stream->at : refill(stream);
}

static inline bool is_digit(int byte) {
    return byte >= '0' && byte <= '9';
}

int json_stream_peek(struct json_stream *stream) {
    int byte;
    while ((byte = peek_byte(stream)) == ' ' || byte == '\n' || byte == '\r' || byte == '\t')
        stream->at++;
    return byte;
}

/* Reports the byte found in place of `expected`. */
static int report_unexpected(struct json_stream *stream, const char *expected) {
    int byte = peek_byte(stream);
    if (byte < 0)
        return json_stream_error(stream, "expected %s, found the end of the file", expected);
    if (byte < 0x20 || byte > 0x7e)
        return json_stream_error(stream, "expected %s, found byte 0x%02x", expected,
                                 (unsigned)byte);
    return json_stream_error(stream, "expected %s, found '%c'", expected, byte);
}

static int expect_byte(struct json_stream *stream, char byte, const char *expected) {
    if (json_stream_peek(stream) != byte)
        return report_unexpected(stream, expected);
    stream->at++;
    return 0;
}

int json_stream_enter(struct json_stream *stream, char bracket) {
    return expect_byte(stream, bracket, bracket == '{' ? "an object" : "an array");
}

/* ---- scalars; after an error the next byte is -1, which no reader accepts ---- */

static void store_bytes(struct json_stream *stream, const void *bytes, size_t count) {
    if (!stream->keep)
        return;
    if (count > TOKEN_SIZE - 1 - stream->length) {
        json_stream_error(stream, "a string of more than %d bytes", TOKEN_SIZE - 1);
        return;
    }
    memcpy(stream->token + stream->length, bytes, count);
    stream->length += count;
}

/* Consumes the bytes before `stop`, which is within the buffer. */
static void consume_until(struct json_stream *stream, const unsigned char *stop) {
    store_bytes(stream, stream->at, (size_t)(stop - stream->at));
    if (!stream->failed)
        stream->at = stop;
}

static bool skip_byte(struct json_stream *stream, char byte) {
    bool found = peek_byte(stream) == byte;
    stream->at += found;
    return found;
}

static bool accept_byte(struct json_stream *stream, char byte) {
    bool found = skip_byte(stream, byte);
    if (found)
        store_bytes(stream, &byte, 1);
    return found;
}

static void store_utf8(struct json_stream *stream, unsigned code) {
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    unsigned char bytes[4];
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    bytes[0] = (unsigned char)(lead[more] | code >> 6 * more);
    for (int i = 1; i <= more; i++)
        bytes[i] = (unsigned char)(0x80 | (code >> 6 * (more - i) & 0x3f));
    store_bytes(stream, bytes, (size_t)more + 1);
}

/* Returns -1 after an error. */
static int read_hex(struct json_stream *stream) {
    int code = 0;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef";
        int byte = peek_byte(stream);
        const char *digit = byte > 0 ? strchr(digits, byte | 0x20) : NULL;
        if (digit == NULL)
            return report_unexpected(stream, "a hexadecimal digit");
        code = code << 4 | (int)(digit - digits);
        stream->at++;
    }
    return code;
}

static void read_unicode(struct json_stream *stream) {
    int code = read_hex(stream);
    if (code >= 0xd800 && code < 0xe000) {
        bool paired = code < 0xdc00 && skip_byte(stream, '\\') && skip_byte(stream, 'u');
        int low = paired ? read_hex(stream) : 0;
        if (low < 0xdc00 || low >= 0xe000)
            json_stream_error(stream, "an unpaired surrogate");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (code == 0)
        json_stream_error(stream, "a zero byte in a string");
    if (!stream->failed)
        store_utf8(stream, (unsigned)code);
}

static void read_escape(struct json_stream *stream) {
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    int byte = peek_byte(stream);
    const char *at = byte > 0 ? strchr(from, byte) : NULL;
    if (at != NULL) {
        stream->at++;
        store_bytes(stream, &to[at - from], 1);
    } else if (skip_byte(stream, 'u')) {
        read_unicode(stream);
    } else {
        report_unexpected(stream, "the rest of an escape");
    }
}

static int read_string(struct json_stream *stream) {
    stream->at++;
    for (;;) {
        const unsigned char *stop = stream->at;
        while (stop < stream->end && *stop != '"' && *stop != '\\' && *stop >= 0x20)
            stop++;
        consume_until(stream, stop);
        if (stop == stream->end && peek_byte(stream) >= 0)
            continue; /* the string continues in the next buffer */
        int byte = peek_byte(stream);
        if (byte < 0x20)
            return report_unexpected(stream, "the end of a string");
        stream->at++;
        if (byte == '"')
            return 0;
        read_escape(stream);
    }
}

static void read_digits(struct json_stream *stream) {
    if (!is_digit(peek_byte(stream)))
        report_unexpected(stream, "a digit");
    while (is_digit(peek_byte(stream))) {
        const unsigned char *stop = stream->at;
        while (stop < stream->end && is_digit(*stop))
            stop++;
        consume_until(stream, stop);
    }
}

static void read_word(struct json_stream *stream, const char *word) {
    for (const char *letter = word; *letter != '\0'; letter++)
        if (!accept_byte(stream, *letter)) {
            report_unexpected(stream, word);
            return;
        }
}

static void read_number(struct json_stream *stream) {
    if (accept_byte(stream, '-') && peek_byte(stream) == 'I') {
        read_word(stream, "Infinity");
        return;
    }
    if (!accept_byte(stream, '0'))
        read_digits(stream);
    if (accept_byte(stream, '.'))
        read_digits(stream);
    if (!skip_byte(stream, 'e') && !skip_byte(stream, 'E'))
        return;
    store_bytes(stream, "e", 1);
    if (!accept_byte(stream, '+'))
        accept_byte(stream, '-');
    read_digits(stream);
}

static int read_scalar(struct json_stream *stream, bool keep, enum json_scalar *kind) {
    static const struct {
        char first;
        enum json_scalar kind;
        const char *word;
    } words[] = {
        {'t', JSON_LITERAL, "true"}, {'f', JSON_LITERAL, "false"},   {'n', JSON_LITERAL, "null"},
        {'N', JSON_NUMBER, "NaN"},   {'I', JSON_NUMBER, "Infinity"},
    };
    int byte = json_stream_peek(stream);
    stream->length = 0;
    stream->keep = keep;
    *kind = JSON_NUMBER;
    if (byte == '"') {
        *kind = JSON_STRING;
        read_string(stream);
    } else if (byte == '-' || is_digit(byte)) {
        read_number(stream);
    } else {
        size_t i = 0;
        while (i < sizeof words / sizeof *words && words[i].first != byte)
            i++;
        if (i == sizeof words / sizeof *words)
            return report_unexpected(stream, "a value");
        *kind = words[i].kind;
        read_word(stream, words[i].word);
    }
    stream->token[stream->length] = '\0';
    return stream->failed ? -1 : 0;
}

int json_stream_scalar(struct json_stream *stream, enum json_scalar *kind) {
    return read_scalar(stream, true, kind);
}

const char *json_stream_token(const struct json_stream *stream) {
    return stream->token;
}

/* ---- members and elements ---- */

static int next_item(struct json_stream *stream, bool *first, char close, const char *expected) {
    int byte = json_stream_peek(stream);
    if (byte == close) {
        stream->at++;
        return JSON_CLOSED;
    }
    if (byte < 0 && !stream->failed)
        return JSON_TRUNCATED;
    if (!*first) {
        if (expect_byte(stream, ',', expected) < 0)
            return JSON_FAILED;
        if (json_stream_peek(stream) < 0 && !stream->failed)
            return JSON_TRUNCATED;
    }
    *first = false;
    return stream->failed ? JSON_FAILED : JSON_MORE;
}

static int next_member(struct json_stream *stream, bool *first, bool keep) {
    int more = next_item(stream, first, '}', "a comma or the end of the object");
    if (more != JSON_MORE)
        return more;
    if (json_stream_peek(stream) != '"')
        return report_unexpected(stream, "a key");
    stream->length = 0;
    stream->keep = keep;
    if (read_string(stream) < 0 || expect_byte(stream, ':', "a colon") < 0)
        return JSON_FAILED;
    stream->token[stream->length] = '\0';
    return JSON_MORE;
}

int json_stream_member(struct json_stream *stream, bool *first) {
    return next_member(stream, first, true);
}

int json_stream_element(struct json_stream *stream, bool *first) {
    return next_item(stream, first, ']', "a comma or the end of the array");
}

static int skip_value(struct json_stream *stream, int depth) {
    int byte = json_stream_peek(stream);
    enum json_scalar kind;
    if (byte != '{' && byte != '[')
        return read_scalar(stream, false, &kind);
    if (depth == DEPTH_MAX)
        return json_stream_error(stream, "nested deeper than %d", DEPTH_MAX);
    stream->at++;
    int more;
    for (bool first = true;
         (more = byte == '{' ? next_member(stream, &first, false)
                             : json_stream_element(stream, &first)) == JSON_MORE;)
        if (skip_value(stream, depth + 1) < 0)
            return -1;
    if (more == JSON_TRUNCATED)
        return report_unexpected(stream,
                                 byte == '{' ? "the end of an object" : "the end of an array");
    return more == JSON_CLOSED ? 0 : -1;
}

int json_stream_skip(struct json_stream *stream) {
    return skip_value(stream, 0);
}

int json_stream_end(struct json_stream *stream) {
    if (json_stream_peek(stream) >= 0)
        return report_unexpected(stream, "the end of the file");
    return stream->failed ? -1 : 0;
}
