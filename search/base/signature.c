#include "base/signature.h"

#include "base/memory.h"
#include "base/path.h"

#include <sodium.h>
#include <string.h>
#include <time.h>

enum { KEY_BYTES_MAX = 4096, ID_SIZE = 8 };

/* The layouts are bytes in the order of the file; none has padding. */
struct public_key {
    unsigned char algorithm[2]; /* "Ed" */
    unsigned char id[ID_SIZE];
    unsigned char key[crypto_sign_PUBLICKEYBYTES];
};

struct secret_key {
    unsigned char algorithm[2];      /* "Ed" */
    unsigned char derivation[2];     /* of the password: "Sc"; zeros: none */
    unsigned char checksum_names[2]; /* "B2" */
    unsigned char salt_and_limits[48];
    unsigned char id[ID_SIZE];
    unsigned char key[crypto_sign_SECRETKEYBYTES];
    unsigned char checksum[32]; /* zeros in a key without a password */
};

struct signature {
    unsigned char algorithm[2]; /* "ED": of the file's BLAKE2b of 512 bits */
    unsigned char id[ID_SIZE];
    unsigned char bytes[crypto_sign_BYTES];
};
_Static_assert(sizeof(struct public_key) == 42 && sizeof(struct secret_key) == 158 &&
                   sizeof(struct signature) == 74,
               "minisign's sizes");

enum { TEXT_SIZE = 512, SEALED_SIZE = crypto_sign_BYTES + TEXT_SIZE };

static const char comment_key[] = "trusted comment: ";

/* True if the line is the base64 of exactly `size` bytes. */
static bool decode_line(const char *line, void *bytes, size_t size) {
    size_t count;
    return sodium_base642bin(bytes, size, line, strcspn(line, "\r\n"), NULL, &count, NULL,
                             sodium_base64_VARIANT_ORIGINAL) == 0 &&
           count == size;
}

/* The line after this one; "" at the end. */
static const char *next_line(const char *line) {
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

static int hash_file(const char *path, unsigned char hash[crypto_generichash_BYTES_MAX],
                     struct error *error) {
    size_t size;
    char *bytes = path_read_file(path, SIZE_MAX, &size, error);
    if (bytes == NULL)
        return -1;
    crypto_generichash(hash, crypto_generichash_BYTES_MAX, (unsigned char *)bytes, size, NULL, 0);
    free(bytes);
    return 0;
}

const char *digest_print(const void *bytes, size_t size, char text[DIGEST_TEXT_SIZE]) {
    uint8_t digest[DIGEST_BYTES];
    digest_bytes(bytes, size, digest);
    return sodium_bin2hex(text, DIGEST_TEXT_SIZE, digest, sizeof digest);
}

void digest_bytes(const void *bytes, size_t size, uint8_t digest[DIGEST_BYTES]) {
    crypto_generichash(digest, DIGEST_BYTES, bytes, size, NULL, 0);
}

/* ---- signing ---- */

static int read_secret_key(const char *path, struct secret_key *key, struct error *error) {
    unsigned char public[crypto_sign_PUBLICKEYBYTES], derived[crypto_sign_SECRETKEYBYTES];
    char *text = path_read_file(path, KEY_BYTES_MAX, NULL, error);
    if (text == NULL)
        return -1;
    bool whole =
        decode_line(next_line(text), key, sizeof *key) && memcmp(key->algorithm, "Ed", 2) == 0;
    sodium_memzero(text, strlen(text));
    free(text);
    if (!whole)
        return error_input(error, "%s is no secret key of minisign: `minisign -G -W` makes one",
                           path);
    if (key->derivation[0] != 0 || key->derivation[1] != 0)
        return error_input(error,
                           "%s is encrypted with a password: make a key without one with `minisign "
                           "-G -W`",
                           path);
    crypto_sign_seed_keypair(public, derived, key->key);
    bool same = memcmp(derived, key->key, sizeof derived) == 0;
    sodium_memzero(derived, sizeof derived);
    return same ? 0 : error_input(error, "%s is damaged: make another key", path);
}

static int write_signed(const struct secret_key *key, const char *path, struct error *error) {
    struct signature signature = {.algorithm = "ED"};
    unsigned char hash[crypto_generichash_BYTES_MAX], sealed[SEALED_SIZE];
    unsigned char seal[crypto_sign_BYTES];
    char comment[TEXT_SIZE], line[TEXT_SIZE], seal_line[TEXT_SIZE], text[4 * TEXT_SIZE];
    char to[PATH_SIZE];
    if (hash_file(path, hash, error) < 0)
        return -1;
    memcpy(signature.id, key->id, sizeof signature.id);
    crypto_sign_detached(signature.bytes, NULL, hash, sizeof hash, key->key);
    int length = snprintf(comment, sizeof comment, "timestamp:%lld\tfile:%.200s\thashed",
                          (long long)time(NULL), path_name(path));
    memcpy(sealed, signature.bytes, sizeof signature.bytes);
    memcpy(sealed + sizeof signature.bytes, comment, (size_t)length);
    crypto_sign_detached(seal, NULL, sealed, sizeof signature.bytes + (size_t)length, key->key);
    sodium_bin2base64(line, sizeof line, (unsigned char *)&signature, sizeof signature,
                      sodium_base64_VARIANT_ORIGINAL);
    sodium_bin2base64(seal_line, sizeof seal_line, seal, sizeof seal,
                      sodium_base64_VARIANT_ORIGINAL);
    length = snprintf(text, sizeof text, "untrusted comment: signature of evotile\n%s\n%s%s\n%s\n",
                      line, comment_key, comment, seal_line);
    if (snprintf(to, sizeof to, "%s.minisig", path) >= (int)sizeof to)
        return error_input(error, "the path %.80s... is too long", path);
    return path_write_file(to, text, (size_t)length, error);
}

int signature_write(const char *key, const char *path, struct error *error) {
    struct secret_key secret;
    if (sodium_init() < 0)
        return error_set(error, "libsodium cannot be used on this machine");
    int result = read_secret_key(key, &secret, error);
    if (result == 0)
        result = write_signed(&secret, path, error);
    sodium_memzero(&secret, sizeof secret);
    return result;
}

/* ---- verifying ---- */

static int read_public_key(const char *key, struct public_key *public, struct error *error) {
    char *text = path_exists(key) ? path_read_file(key, KEY_BYTES_MAX, NULL, error) : xstrdup(key);
    if (text == NULL)
        return -1;
    bool whole = (decode_line(text, public, sizeof *public) ||
                  decode_line(next_line(text), public, sizeof *public)) &&
                 memcmp(public->algorithm, "Ed", 2) == 0;
    free(text);
    return whole
               ? 0
               : error_input(error, "%.200s is neither a public key of minisign nor its file", key);
}

/* Why the signature is not that of the file, or NULL. */
static const char *find_flaw(const struct public_key *public, const char *text,
                             const unsigned char hash[crypto_generichash_BYTES_MAX]) {
    struct signature signature;
    unsigned char seal[crypto_sign_BYTES], sealed[SEALED_SIZE];
    const char *line = next_line(text);
    const char *comment = next_line(line);
    size_t length = strcspn(comment, "\r\n");
    if (!decode_line(line, &signature, sizeof signature) ||
        strncmp(comment, comment_key, strlen(comment_key)) != 0 ||
        length - strlen(comment_key) > TEXT_SIZE ||
        !decode_line(next_line(comment), seal, sizeof seal))
        return "is no signature of minisign";
    if (memcmp(signature.algorithm, "ED", 2) != 0)
        return "is not prehashed: sign with minisign 0.10 or later";
    if (memcmp(signature.id, public->id, sizeof signature.id) != 0)
        return "is of another key";
    comment += strlen(comment_key);
    length -= strlen(comment_key);
    memcpy(sealed, signature.bytes, sizeof signature.bytes);
    memcpy(sealed + sizeof signature.bytes, comment, length);
    if (crypto_sign_verify_detached(signature.bytes, hash, crypto_generichash_BYTES_MAX,
                                    public->key) != 0)
        return "is not of this file";
    return crypto_sign_verify_detached(seal, sealed, sizeof signature.bytes + length,
                                       public->key) == 0
               ? NULL
               : "has a forged comment";
}

int signature_verify(const char *key, const char *path, struct error *error) {
    struct public_key public;
    unsigned char hash[crypto_generichash_BYTES_MAX];
    char file[PATH_SIZE];
    struct error missing;
    if (sodium_init() < 0)
        return error_set(error, "libsodium cannot be used on this machine");
    if (snprintf(file, sizeof file, "%s.minisig", path) >= (int)sizeof file)
        return error_input(error, "the path %.80s... is too long", path);
    if (read_public_key(key, &public, error) < 0 || hash_file(path, hash, error) < 0)
        return -1;
    char *text = path_read_file(file, KEY_BYTES_MAX, NULL, &missing);
    if (text == NULL)
        return error_refuse(error, "%s is not signed: %.1000s", path, missing.text);
    const char *flaw = find_flaw(&public, text, hash);
    free(text);
    return flaw == NULL ? 0 : error_refuse(error, "the signature %s %s", file, flaw);
}
