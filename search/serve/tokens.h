/*
 * tokens: the clients that a server knows, by the secret that each sends with its requests.
 *
 *     struct tokens *tokens = tokens_read("tokens.txt", &error);
 *     const char *client = tokens_find(tokens, "a1b2c3d4e5f6a7b8");
 *     tokens_free(tokens);
 *
 * A file has lines "NAME TOKEN"; a line that starts with # is a comment. Only its owner may read
 * it.
 */
#ifndef EVOTILE_SERVE_TOKENS_H
#define EVOTILE_SERVE_TOKENS_H

#include "base/error.h"

#include <stdbool.h>

enum { TOKEN_BYTES_LEAST = 16, TOKEN_BYTES_MOST = 256 };

struct tokens;

struct tokens *tokens_read(const char *path, struct error *error);
void tokens_free(struct tokens *tokens);

/* The name of the client with that token; NULL: there is none. Takes the same time whichever
   bytes are wrong. */
const char *tokens_find(const struct tokens *tokens, const char *token);

/* Whether a client may have that name: fewer than CLIENT_NAME_SIZE letters, digits, "_", "." and
   "-". */
bool client_name_is_valid(const char *name);

/* Refuses a file with a secret, a key or tokens, that others than its owner may read or write. */
int secret_file_check(const char *path, struct error *error);

#endif
