#include "serve/tokens.h"

#include "base/memory.h"
#include "base/path.h"
#include "serve/tasks.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_BYTES = 1 << 20, DIGEST_BYTES = crypto_generichash_BYTES };

struct token {
    char name[CLIENT_NAME_SIZE];
    unsigned char digest[DIGEST_BYTES];
};

struct tokens {
    struct token *items;
    size_t count;
};

static void make_digest(const char *token, unsigned char digest[DIGEST_BYTES]) {
    crypto_generichash(digest, DIGEST_BYTES, (const unsigned char *)token, strlen(token), NULL, 0);
}

int secret_file_check(const char *path, struct error *error) {
    struct stat about;
    if (stat(path, &about) < 0)
        return error_input(error, "cannot read %s: %s", path, strerror(errno));
    if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return error_input(error, "%s holds a secret, and other users may read it: chmod 600 %s",
                           path, path);
    return 0;
}

bool client_name_is_valid(const char *name) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return *name != '\0' && strlen(name) < CLIENT_NAME_SIZE &&
           strspn(name, allowed) == strlen(name);
}

static int add_token(struct tokens *tokens, const char *name, const char *token, const char *path,
                     int line, struct error *error) {
    struct token added = {0};
    if (!client_name_is_valid(name))
        return error_input(error, "%s:%d: a name has 1 to %d letters, digits and _ . -: change it",
                           path, line, CLIENT_NAME_SIZE - 1);
    if (strlen(token) < TOKEN_BYTES_LEAST || strlen(token) > TOKEN_BYTES_MOST)
        return error_input(error,
                           "%s:%d: a token has %d to %d characters: make one with `openssl rand "
                           "-hex 16`",
                           path, line, TOKEN_BYTES_LEAST, TOKEN_BYTES_MOST);
    strcpy(added.name, name);
    make_digest(token, added.digest);
    for (size_t t = 0; t < tokens->count; t++)
        if (strcmp(tokens->items[t].name, name) == 0 ||
            memcmp(tokens->items[t].digest, added.digest, DIGEST_BYTES) == 0)
            return error_input(error, "%s:%d: the name or the token is used twice: change it", path,
                               line);
    tokens->items = xgrow(tokens->items, tokens->count, sizeof *tokens->items);
    tokens->items[tokens->count++] = added;
    return 0;
}

static int read_lines(struct tokens *tokens, const char *path, char *text, struct error *error) {
    int number = 0;
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        char *rest = NULL;
        number++;
        const char *name = strtok_r(line, " \t\r", &rest);
        if (name == NULL || *name == '#')
            continue;
        const char *token = strtok_r(NULL, " \t\r", &rest);
        if (token == NULL || strtok_r(NULL, " \t\r", &rest) != NULL)
            return error_input(error, "%s:%d: a line is NAME TOKEN", path, number);
        if (add_token(tokens, name, token, path, number, error) < 0)
            return -1;
    }
    if (tokens->count == 0)
        return error_input(error, "%s has no token: add a line NAME TOKEN", path);
    return 0;
}

struct tokens *tokens_read(const char *path, struct error *error) {
    if (sodium_init() < 0)
        BUG("libsodium does not start");
    if (secret_file_check(path, error) < 0)
        return NULL;
    size_t size = 0;
    char *text = path_read_file(path, FILE_BYTES, &size, error);
    if (text == NULL)
        return NULL;
    struct tokens *tokens = xcalloc(1, sizeof *tokens);
    if (read_lines(tokens, path, text, error) < 0) {
        tokens_free(tokens);
        tokens = NULL;
    }
    sodium_memzero(text, size);
    free(text);
    return tokens;
}

void tokens_free(struct tokens *tokens) {
    if (tokens == NULL)
        return;
    free(tokens->items);
    free(tokens);
}

const char *tokens_find(const struct tokens *tokens, const char *token) {
    unsigned char digest[DIGEST_BYTES];
    const char *name = NULL;
    make_digest(token, digest);
    for (size_t t = 0; t < tokens->count; t++)
        if (sodium_memcmp(tokens->items[t].digest, digest, DIGEST_BYTES) == 0)
            name = tokens->items[t].name;
    return name;
}
