#include "serve/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

enum { BACKLOG = 128, PORT_SIZE = 6 };

bool address_is_loopback(const struct sockaddr *address) {
    if (address == NULL)
        return false;
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    if (address->sa_family != AF_INET6)
        return false;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)address)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
}

/* Splits "HOST:PORT" and "[HOST]:PORT". */
static int split(const char *text, char host[LISTENER_TEXT_SIZE], char port[PORT_SIZE],
                 struct error *error) {
    const char *colon = strrchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    bool brackets = length > 2 && text[0] == '[' && text[length - 1] == ']';
    if (length == 0 || length >= LISTENER_TEXT_SIZE - PORT_SIZE - 3 || strlen(colon + 1) < 1 ||
        strlen(colon + 1) >= PORT_SIZE || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
        atol(colon + 1) > 65535 || (!brackets && strcspn(text, ":[]") < length))
        return error_input(error,
                           "\"%s\" is no address to listen on: write HOST:PORT, such as "
                           "127.0.0.1:8000 or [::1]:8000",
                           text);
    snprintf(host, LISTENER_TEXT_SIZE, "%.*s", (int)length - 2 * brackets, text + brackets);
    strcpy(port, colon + 1);
    return 0;
}

static struct addrinfo *resolve(const char *host, const char *port, struct error *error) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    int status = getaddrinfo(host, port, &hints, &found);
    if (status != 0) {
        error_input(error, "cannot listen on %s: %s: give an address of this host", host,
                    gai_strerror(status));
        return NULL;
    }
    return found;
}

int listener_is_loopback(const char *text, bool *is_loopback, struct error *error) {
    char host[LISTENER_TEXT_SIZE];
    char port[PORT_SIZE];
    if (split(text, host, port, error) < 0)
        return -1;
    struct addrinfo *found = resolve(host, port, error);
    if (found == NULL)
        return -1;
    *is_loopback = address_is_loopback(found->ai_addr);
    freeaddrinfo(found);
    return 0;
}

static int open_socket(const struct addrinfo *address) {
    int yes = 1;
    int descriptor = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0)
        return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address->ai_family == AF_INET6)
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    if (bind(descriptor, address->ai_addr, address->ai_addrlen) < 0 ||
        listen(descriptor, BACKLOG) < 0) {
        int reason = errno;
        close(descriptor);
        errno = reason;
        return -1;
    }
    return descriptor;
}

static int port_of(int descriptor) {
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof bound;
    getsockname(descriptor, (struct sockaddr *)&bound, &size);
    return ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                             : ((struct sockaddr_in *)&bound)->sin_port);
}

int listener_open(struct listener *listener, const char *text, struct error *error) {
    char port[PORT_SIZE];
    *listener = (struct listener){.descriptor = -1};
    if (split(text, listener->host, port, error) < 0)
        return -1;
    struct addrinfo *found = resolve(listener->host, port, error);
    if (found == NULL)
        return -1;
    listener->is_loopback = address_is_loopback(found->ai_addr);
    listener->descriptor = open_socket(found);
    freeaddrinfo(found);
    if (listener->descriptor < 0)
        return error_set(error,
                         "cannot listen on %s: %s: give another address, or port 0 for "
                         "any that is free",
                         text, strerror(errno));
    bool six = strchr(listener->host, ':') != NULL;
    snprintf(listener->address, sizeof listener->address, "%s%.*s%s:%d", six ? "[" : "",
             LISTENER_TEXT_SIZE - PORT_SIZE - 4, listener->host, six ? "]" : "",
             port_of(listener->descriptor));
    return 0;
}

void listener_close(struct listener *listener) {
    if (listener->descriptor >= 0)
        close(listener->descriptor);
    listener->descriptor = -1;
}
