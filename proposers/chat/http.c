/* http: one question to a chat/completions server. */
#include "proposers/chat/http.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "proposers/chat/completion.h"
#include "proposers/chat/redact.h"

#include <ctype.h>
#include <curl/curl.h>
#include <string.h>

enum { ERROR_BODY_MAX = 1 << 16, CONNECT_TIMEOUT_S = 30 };

/* ---- the server ---- */

static int check_key(const char *key, struct error *error) {
    for (; *key != '\0'; key++)
        if ((unsigned char)*key <= ' ' || (unsigned char)*key >= 127)
            return error_input(error, "EVOTILE_LLM_KEY must be printable ASCII without blanks: "
                                      "look for a line end in it");
    return 0;
}

static bool is_loopback(const char *host) {
    return strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
           strcmp(host, "[::1]") == 0;
}

static int check_url(const char *url, bool has_key, struct error *error) {
    char *scheme = NULL, *host = NULL, *user = NULL;
    int status = 0;
    CURLU *parsed = curl_url();
    if (curl_url_set(parsed, CURLUPART_URL, url, 0) != CURLUE_OK ||
        curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        curl_url_get(parsed, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
        (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0))
        status = error_input(error, "EVOTILE_LLM_URL must be like https://HOST/v1 or "
                                    "http://127.0.0.1:8000/v1");
    else if (curl_url_get(parsed, CURLUPART_USER, &user, 0) == CURLUE_OK)
        status = error_input(error, "EVOTILE_LLM_URL must not hold a user or password: put the key "
                                    "into EVOTILE_LLM_KEY");
    else if (has_key && strcmp(scheme, "http") == 0 && !is_loopback(host))
        status =
            error_input(error, "over http:// the key would cross the network in the clear: use "
                               "https:// in EVOTILE_LLM_URL, or an SSH tunnel to 127.0.0.1");
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_url_cleanup(parsed);
    return status;
}

static char *full_url(const char *url) {
    static const char path[] = "/chat/completions";
    size_t length = strlen(url);
    struct strbuf full = {0};
    while (length > 0 && url[length - 1] == '/')
        length--;
    strbuf_add(&full, url, length);
    if (length < sizeof path - 1 ||
        memcmp(url + length - (sizeof path - 1), path, sizeof path - 1) != 0)
        strbuf_add(&full, path, sizeof path - 1);
    return full.bytes;
}

int http_server_init(struct http_server *server, const char *url, const char *key, double idle_s,
                     struct error *error) {
    bool has_key = key != NULL && *key != '\0';
    *server = (struct http_server){0};
    if ((has_key && check_key(key, error) < 0) || check_url(url, has_key, error) < 0)
        return -1;
    server->url = full_url(url);
    server->key = has_key ? xstrdup(key) : NULL;
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Accept: text/event-stream, application/json");
    headers = curl_slist_append(headers, "Expect:");
    if (has_key) {
        struct strbuf line = {0};
        strbuf_print(&line, "Authorization: Bearer %s", key);
        headers = curl_slist_append(headers, line.bytes);
        strbuf_release(&line);
    }
    server->headers = headers;
    server->curl = curl_easy_init();
    if (server->curl == NULL)
        return error_set(error, "libcurl cannot start: is enough memory free?");
    curl_easy_setopt(server->curl, CURLOPT_URL, server->url);
    curl_easy_setopt(server->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(server->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(server->curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(server->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(server->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S);
    curl_easy_setopt(server->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(server->curl, CURLOPT_LOW_SPEED_TIME, (long)(idle_s < 1 ? 1 : idle_s));
    return 0;
}

void http_server_release(struct http_server *server) {
    if (server->curl != NULL)
        curl_easy_cleanup(server->curl);
    curl_slist_free_all(server->headers);
    free(server->url);
    free(server->key);
    *server = (struct http_server){0};
}

/* ---- asking ---- */

struct transfer {
    void *curl;
    http_bytes *take;
    void *context;
    struct strbuf refusal; /* the body of a status other than 200 */
    bool stopped;
};

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    long status = 0;
    count *= size;
    curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == 200) {
        transfer->stopped = !transfer->take(transfer->context, bytes, count);
        return transfer->stopped ? 0 : count;
    }
    if (transfer->refusal.used < ERROR_BODY_MAX)
        strbuf_add(&transfer->refusal, bytes, count);
    return count;
}

/* Everything that a server says passes here before it is shown. */
static void set_message(struct http_result *result, const char *key, const char *text) {
    char *clean = redact_text(text, key);
    snprintf(result->message, sizeof result->message, "%s", clean);
    free(clean);
}

static int refuse_status(const struct http_server *server, struct transfer *transfer,
                         struct http_result *result, struct error *error) {
    char text[400];
    strbuf_add(&transfer->refusal, "", 0);
    /* Redacted as a whole first: a cut could leave a part of the key that is too short to find. */
    char *clean = redact_text(transfer->refusal.bytes, server->key);
    completion_error_text(clean, text, sizeof text);
    free(clean);
    set_message(result, server->key, text);
    result->worth_retrying = result->status == 408 || result->status == 409 ||
                             result->status == 425 || result->status == 429 ||
                             result->status >= 500;
    const char *remedy = result->status == 401 || result->status == 403 ? ": check EVOTILE_LLM_KEY"
                         : result->status == 404 ? ": check EVOTILE_LLM_URL and EVOTILE_LLM_MODEL"
                         : result->status >= 300 && result->status < 400
                             ? ": it redirects; put the new address into EVOTILE_LLM_URL"
                             : "";
    return error_set(error, "the server answers status %ld%s%s%s", result->status, remedy,
                     result->message[0] != '\0' ? ": " : "", result->message);
}

int http_ask(struct http_server *server, const char *body, http_bytes *take, void *context,
             struct http_result *result, struct error *error) {
    struct transfer transfer = {.curl = server->curl, .take = take, .context = context};
    char reason[CURL_ERROR_SIZE] = "";
    curl_off_t wait = 0;
    *result = (struct http_result){0};
    curl_easy_setopt(server->curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(server->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
    curl_easy_setopt(server->curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(server->curl, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(server->curl, CURLOPT_ERRORBUFFER, reason);
    CURLcode code = curl_easy_perform(server->curl);
    curl_easy_setopt(server->curl, CURLOPT_ERRORBUFFER, NULL);
    curl_easy_getinfo(server->curl, CURLINFO_RESPONSE_CODE, &result->status);
    if (curl_easy_getinfo(server->curl, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK && wait > 0)
        result->retry_after_s = (double)wait;
    int status = 0;
    if (result->status >= 100 && result->status != 200) {
        status = refuse_status(server, &transfer, result, error);
    } else if (code != CURLE_OK && !transfer.stopped) {
        set_message(result, server->key, reason[0] != '\0' ? reason : curl_easy_strerror(code));
        result->worth_retrying = code != CURLE_PEER_FAILED_VERIFICATION &&
                                 code != CURLE_UNSUPPORTED_PROTOCOL && code != CURLE_URL_MALFORMAT;
        status = error_set(error, "the connection to the server failed: %s: check EVOTILE_LLM_URL",
                           result->message);
    }
    strbuf_release(&transfer.refusal);
    return status;
}
