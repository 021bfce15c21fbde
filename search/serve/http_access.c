/* Finds the client that sent an HTTP request. Refuses requests from web pages of other hosts, which
   a browser on this host may send. */
#include "serve/http_internal.h"

#include <string.h>
#include <strings.h>

static const char *header(const struct http_request *request, const char *name) {
    return MHD_lookup_connection_value(request->handle, MHD_HEADER_KIND, name);
}

static unsigned refuse(unsigned status, char *text, size_t size, const char *why) {
    snprintf(text, size, "%s", why);
    return status;
}

/* A page of another host whose name was made to lead here (DNS rebinding) sends that name. */
static bool is_own_host(const struct http *http, const char *host) {
    static const char *const names[] = {"localhost", "127.0.0.1", "::1"};
    char name[LISTENER_TEXT_SIZE];
    bool six = *host == '[';
    size_t length = six ? strcspn(host + 1, "]") : strcspn(host, ":");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), host + six);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (strcasecmp(name, names[n]) == 0)
            return true;
    return strcasecmp(name, http->listener.host) == 0;
}

static unsigned check_token(struct http_request *request, char *text, size_t size) {
    const char *header_text = header(request, MHD_HTTP_HEADER_AUTHORIZATION);
    const char *client = NULL;
    if (header_text == NULL || strncasecmp(header_text, "Bearer ", 7) != 0)
        return refuse(MHD_HTTP_UNAUTHORIZED, text, size,
                      "this server needs a token: send the header Authorization: Bearer TOKEN");
    client = tokens_find(request->http->tokens, header_text + 7);
    if (client == NULL)
        return refuse(MHD_HTTP_UNAUTHORIZED, text, size,
                      "the server does not know this token: ask its owner for one");
    strcpy(request->client, client);
    return 0;
}

static unsigned check_name(struct http_request *request, char *text, size_t size) {
    const char *name = header(request, "X-Evotile-Client");
    if (name == NULL)
        name = "anonymous";
    if (!client_name_is_valid(name))
        return refuse(MHD_HTTP_BAD_REQUEST, text, size,
                      "X-Evotile-Client must have 1 to 63 letters, digits and _ . -");
    strcpy(request->client, name);
    return 0;
}

static unsigned check_count(const struct http_request *request, char *text, size_t size) {
    int count = 0;
    for (const struct http_request *other = request->http->requests; other; other = other->after)
        count += strcmp(other->client, request->client) == 0;
    if (count <= HTTP_REQUESTS_OF_CLIENT)
        return 0;
    snprintf(text, size,
             "a client has at most %d requests at a time: ask for several tasks with "
             "POST /tasks/batch",
             HTTP_REQUESTS_OF_CLIENT);
    return MHD_HTTP_TOO_MANY_REQUESTS;
}

unsigned http_check_access(struct http_request *request, const struct http_route *route, char *text,
                           size_t size) {
    const struct http *http = request->http;
    const char *host = header(request, MHD_HTTP_HEADER_HOST);
    const char *type = header(request, MHD_HTTP_HEADER_CONTENT_TYPE);
    unsigned status;
    if (http->listener.is_loopback && host != NULL && !is_own_host(http, host))
        return refuse(MHD_HTTP_FORBIDDEN, text, size,
                      "the Host header names another host: use http://127.0.0.1 or localhost");
    if (header(request, "Origin") != NULL)
        return refuse(MHD_HTTP_FORBIDDEN, text, size,
                      "pages in a browser may not use this server: send no Origin header");
    if (route->is_open)
        return 0;
    status =
        http->tokens != NULL ? check_token(request, text, size) : check_name(request, text, size);
    if (status == 0)
        status = check_count(request, text, size);
    if (status != 0 || strcmp(route->method, MHD_HTTP_METHOD_POST) != 0)
        return status;
    if (type == NULL || strncasecmp(type, "application/json", 16) != 0)
        return refuse(MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, text, size,
                      "the body must be JSON: send the header Content-Type: application/json");
    return 0;
}
