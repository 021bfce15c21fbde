#include "remote/connection_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { WAIT_MS = 5000, RECONNECT_MS = 500, RECONNECT_BYTES = 64 << 20 };

/* How long the server keeps message ids in memory to detect duplicates. Publishers resend after
   some seconds without an acknowledgement, well within it. */
static const int64_t duplicates_ns = INT64_C(120) * 1000000000;

const char *connection_last_error(natsStatus status) {
    const char *why = nats_GetLastError(NULL);
    const char *source_end = why != NULL && *why == '(' ? strstr(why, "): ") : NULL;
    why = source_end != NULL ? source_end + 3 : why;
    return why != NULL && *why != '\0' ? why : natsStatus_GetText(status);
}

int connection_fail(natsStatus status, const char *doing, struct error *error) {
    return error_set(error, "%s: %s", doing, connection_last_error(status));
}

void connection_warn_rejected(struct connection *connection, const char *things, const char *why) {
    double now = clock_seconds();
    if (connection->last_warning > 0 && now - connection->last_warning < 60)
        return;
    connection->last_warning = now;
    log_warn("the queue's server rejects %s: %s; see the server's log", things, why);
}

/* ---- authentication and TLS ---- */

/* Rejects names that only look local (localhost.example, 127.example). */
static bool is_loopback(const char *host, size_t length) {
    char name[64];
    struct in_addr address;
    if (length >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)length, host);
    return strcmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0 ||
           (inet_pton(AF_INET, name, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

/* Parses one server of the list: does its URL hold credentials, is it this host? */
static void parse_server_url(const char *url, size_t length, bool *has_credentials,
                             bool *is_local) {
    const char *end = url + length;
    const char *scheme = strstr(url, "://");
    const char *host = scheme != NULL && scheme < end ? scheme + 3 : url;
    const char *at = memrchr(host, '@', (size_t)(end - host));
    *has_credentials = at != NULL;
    host = at != NULL ? at + 1 : host;
    size_t name = *host == '[' ? strcspn(host, "]/,") + 1 : strcspn(host, ":/,");
    *is_local = name <= (size_t)(end - host) && is_loopback(host, name);
}

static int check_servers(const struct connection_settings *settings, struct error *error) {
    for (const char *url = settings->url; *url != '\0';) {
        size_t length = strcspn(url, ",");
        bool has_credentials, is_local;
        parse_server_url(url, length, &has_credentials, &is_local);
        if (!is_local && !has_credentials && settings->credentials == NULL && !settings->insecure)
            return error_input(error,
                               "%.*s is another host, where anyone could send this process work: "
                               "give --credentials FILE (or --insecure)",
                               (int)length, url);
        if (!is_local && strncmp(url, "tls://", 6) != 0 && settings->authority == NULL &&
            !settings->insecure)
            log_warn("the connection to the queue's server is not encrypted: use tls://");
        url += length + (url[length] == ',');
    }
    return 0;
}

static int check_private(const char *path, struct error *error) {
    struct stat file;
    return stat(path, &file) == 0 && (file.st_mode & (S_IRGRP | S_IROTH)) != 0
               ? error_input(error, "%s is readable by other users: chmod 600 %s", path, path)
               : 0;
}

/* Finds an NKey's key or seed: a base32 word of that length and first letter. It must not be
   mistaken for a token, which would be sent in plain text. */
static bool find_nkey(const char *text, const char *kind, size_t length, char word[64]) {
    static const char base32[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    for (const char *at = strstr(text, kind); at != NULL; at = strstr(at + 1, kind))
        if ((at == text || isspace((unsigned char)at[-1])) && strspn(at, base32) == length) {
            snprintf(word, 64, "%.*s", (int)length, at);
            return true;
        }
    return false;
}

/* The file holds NATS credentials, an NKey (its U... and its SU... line), USER:PASSWORD or a
   token. */
static int set_credentials(natsOptions *options, const char *path, struct error *error) {
    char *text =
        check_private(path, error) == 0 ? path_read_file(path, 1 << 16, NULL, error) : NULL;
    char word[512], key[64], seed[64];
    natsStatus status;
    if (text == NULL)
        return -1;
    bool has_word = sscanf(text, "%511s", word) == 1;
    bool has_key = find_nkey(text, "U", 56, key);
    bool has_seed = find_nkey(text, "S", 58, seed);
    bool is_credentials_chain = strstr(text, "-----BEGIN NATS") != NULL;
    free(text);
    if (!has_word)
        return error_input(error, "%s holds no credentials", path);
    if (has_key != has_seed && !is_credentials_chain)
        return error_input(error,
                           "%s holds only an NKey's %s: it must hold both the U... line of the "
                           "public key and the SU... line of the seed",
                           path, has_key ? "public key" : "seed");
    char *colon = strchr(word, ':');
    if (is_credentials_chain) {
        status = natsOptions_SetUserCredentialsFromFiles(options, path, NULL);
    } else if (has_seed) {
        status = natsOptions_SetNKeyFromSeed(options, key, path);
    } else if (colon != NULL) {
        *colon = '\0';
        status = natsOptions_SetUserInfo(options, word, colon + 1);
    } else {
        status = natsOptions_SetToken(options, word);
    }
    return status == NATS_OK ? 0 : connection_fail(status, path, error);
}

/* The library treats tls:// like nats://: unless configured to require TLS, it would send the
   password in plain text to a server without TLS. */
static bool wants_tls(const struct connection_settings *settings) {
    return settings->authority != NULL || strncmp(settings->url, "tls://", 6) == 0 ||
           strstr(settings->url, ",tls://") != NULL;
}

static int set_options(natsOptions *options, const struct connection_settings *settings,
                       struct error *error) {
    natsStatus status = natsOptions_SetURL(options, settings->url);
    if (status == NATS_OK)
        status = natsOptions_SetName(options, "evotile");
    if (status == NATS_OK)
        status = natsOptions_SetTimeout(options, WAIT_MS);
    if (status == NATS_OK)
        status = natsOptions_SetMaxReconnect(options, -1);
    if (status == NATS_OK)
        status = natsOptions_SetReconnectWait(options, RECONNECT_MS);
    if (status == NATS_OK)
        status = natsOptions_SetReconnectBufSize(options, RECONNECT_BYTES);
    if (status == NATS_OK)
        status = natsOptions_SetFailRequestsOnDisconnect(options, true);
    if (status == NATS_OK && wants_tls(settings))
        status = natsOptions_SetSecure(options, true);
    if (status == NATS_OK && settings->authority != NULL)
        status = natsOptions_LoadCATrustedCertificates(options, settings->authority);
    if (status != NATS_OK)
        return connection_fail(status, "--queue",
                               error); /* not the address: it may hold a password */
    return settings->credentials != NULL ? set_credentials(options, settings->credentials, error)
                                         : 0;
}

/* ---- opening ---- */

struct connection *connection_open(const struct connection_settings *settings,
                                   struct error *error) {
    natsOptions *options = NULL;
    struct connection *connection = xcalloc(1, sizeof *connection);
    if (natsOptions_Create(&options) != NATS_OK)
        BUG("out of memory");
    connection->was_up = true;
    int result = check_servers(settings, error);
    if (result == 0)
        result = set_options(options, settings, error);
    if (result == 0) {
        natsStatus status = natsConnection_Connect(&connection->nats, options);
        if (status == NATS_OK)
            status = natsConnection_JetStream(&connection->js, connection->nats, NULL);
        if (status != NATS_OK)
            result =
                connection_fail(status,
                                status == NATS_SSL_ERROR && settings->authority == NULL
                                    ? "cannot trust the queue's server: give its certificate, or "
                                      "the one that signed it, with --ca FILE"
                                    : "cannot connect to the queue's server",
                                error);
    }
    natsOptions_Destroy(options);
    if (result == 0)
        return connection;
    connection_close(connection);
    return NULL;
}

void connection_close(struct connection *connection) {
    if (connection == NULL)
        return;
    if (connection->nats != NULL) /* sends the last acknowledgements */
        natsConnection_FlushTimeout(connection->nats, WAIT_MS);
    kvStore_Destroy(connection->runs);
    kvStore_Destroy(connection->files);
    jsCtx_Destroy(connection->js);
    natsConnection_Destroy(connection->nats);
    nats_CloseAndWait(WAIT_MS); /* no callback runs after this */
    free(connection);
}

bool connection_is_up(struct connection *connection) {
    char server[sizeof connection->server];
    bool is_up = natsConnection_Status(connection->nats) == NATS_CONN_STATUS_CONNECTED;
    if (is_up &&
        natsConnection_GetConnectedServerId(connection->nats, server, sizeof server) == NATS_OK &&
        strcmp(server, connection->server) != 0) {
        strcpy(connection->server, server);
        connection->epoch++;
    }
    if (is_up != connection->was_up)
        log_info(is_up ? "reconnected to the queue's server"
                       : "lost the connection to the queue's server: waiting for it");
    return connection->was_up = is_up;
}

/* Leaves an existing stream as it is: its administrator may have set other limits. */
static natsStatus make_stream(struct connection *connection, const char *name,
                              const char *subject) {
    jsStreamConfig config;
    jsStreamInfo *info = NULL;
    natsStatus status = js_GetStreamInfo(&info, connection->js, name, NULL, NULL);
    jsStreamInfo_Destroy(info);
    if (status == NATS_OK)
        return status;
    jsStreamConfig_Init(&config);
    config.Name = name;
    config.Subjects = &subject;
    config.SubjectsLen = 1;
    config.Retention = js_WorkQueuePolicy;
    config.Storage = js_FileStorage;
    config.Duplicates = duplicates_ns;
    return js_AddStream(NULL, connection->js, &config, NULL, NULL);
}

static natsStatus bind_store(struct connection *connection, const char *name, bool make,
                             kvStore **store) {
    kvConfig config;
    natsStatus status = *store != NULL ? NATS_OK : js_KeyValue(store, connection->js, name);
    if (!make || status != NATS_NOT_FOUND)
        return status;
    kvConfig_Init(&config);
    config.Bucket = name;
    config.History = 1;
    return js_CreateKeyValue(store, connection->js, &config);
}

int connection_bind_streams(struct connection *connection, bool make, struct error *error) {
    natsStatus status = bind_store(connection, QUEUE_RUNS, make, &connection->runs);
    if (status == NATS_OK)
        status = bind_store(connection, QUEUE_FILES, make, &connection->files);
    if (make && status == NATS_OK)
        status = make_stream(connection, QUEUE_TRIALS, "evotile.trial.>");
    if (make && status == NATS_OK)
        status = make_stream(connection, QUEUE_RESULTS, "evotile.result.>");
    if (status == NATS_NOT_FOUND && !make)
        return 1;
    return status == NATS_OK
               ? 0
               : connection_fail(status, "cannot use JetStream on the queue's server", error);
}

/* ---- messages ---- */

void subject_print(char subject[QUEUE_SUBJECT_SIZE], const char *kind, const char *id) {
    snprintf(subject, QUEUE_SUBJECT_SIZE, "evotile.%s.%s", kind, id);
}

void random_id(char id[QUEUE_ID_SIZE]) {
    uint64_t digits;
    if (getrandom(&digits, sizeof digits, 0) != sizeof digits)
        BUG("no random numbers");
    snprintf(id, QUEUE_ID_SIZE, "%016llx", (unsigned long long)digits);
}

natsMsg *message_new(const char *kind, const char *id, const char *message_id, const char *line) {
    char subject[QUEUE_SUBJECT_SIZE];
    natsMsg *message = NULL;
    subject_print(subject, kind, id);
    if (natsMsg_Create(&message, subject, NULL, line, (int)strlen(line)) != NATS_OK ||
        natsMsgHeader_Set(message, "Nats-Msg-Id", message_id) != NATS_OK)
        BUG("out of memory");
    return message;
}

/* `letter` is a Unicode code point. */
static bool is_control(unsigned long letter) {
    return letter < 0x20 || (letter >= 0x7f && letter < 0xa0);
}

/* The character that a JSON escape stands for, and the escape's length. */
static unsigned long escaped_character(const char *escape, int *length) {
    static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
    char digits[5] = "";
    *length = 2;
    if (escape[1] == 'u' && strspn(escape + 2, "0123456789abcdefABCDEF") >= 4) {
        memcpy(digits, escape + 2, 4);
        *length = 6;
        return strtoul(digits, NULL, 16);
    }
    const char *letter = strchr(letters, escape[1]);
    return letter != NULL ? (unsigned long)controls[letter - letters] : ' ';
}

const char *find_control_character(const char *text, int *length) {
    for (; *text != '\0'; text += *length) {
        unsigned long letter = (unsigned char)*text;
        *length = 1;
        if (letter == 0xc2) { /* first byte of U+0080 to U+00BF in UTF-8 */
            letter = (unsigned char)text[1];
            *length = letter >= 0x80 && is_control(letter) ? 2 : 1;
            letter = *length == 2 ? letter : ' ';
        } else if (letter >= 0x80) { /* a byte of another multibyte character */
            letter = ' ';
        } else if (letter == '\\' && text[1] != '\0') {
            letter = escaped_character(text, length);
        }
        if (is_control(letter))
            return text;
    }
    return NULL;
}

/* Keeps line ends and tabs: a compiler's messages have several lines. */
static void blank_controls(char *text) {
    int length = 0;
    for (char *at = text; (at = (char *)find_control_character(at, &length)) != NULL; at += length)
        if (strncmp(at, "\\n", 2) != 0 && strncmp(at, "\\t", 2) != 0)
            memset(at, ' ', (size_t)length);
}

char *message_text(natsMsg *message, char message_id[MESSAGE_ID_SIZE]) {
    const char *value = NULL;
    int length = natsMsg_GetDataLength(message);
    if (length > QUEUE_MESSAGE_MAX ||
        natsMsgHeader_Get(message, "Nats-Msg-Id", &value) != NATS_OK || value == NULL ||
        strlen(value) >= MESSAGE_ID_SIZE)
        return NULL;
    strcpy(message_id, value);
    char *text = xstrndup(natsMsg_GetData(message), (size_t)length);
    blank_controls(text);
    return text;
}
