/*
 * signature: signs a file and verifies its signature in minisign's format, and digests that cannot
 * be forged. Keys are minisign's own files: `minisign -G -W` makes a pair without a password.
 *
 *     signature_write("evotile.key", "kernels/night/manifest.json", &error);    // adds .minisig
 *     signature_verify("evotile.pub", "kernels/night/manifest.json", &error);   // 0: it is genuine
 *
 * Source: https://jedisct1.github.io/minisign/, "File formats"; only prehashed signatures ("ED").
 */
#ifndef EVOTILE_BASE_SIGNATURE_H
#define EVOTILE_BASE_SIGNATURE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Writes PATH.minisig. `key` is the file of a secret key without a password. */
int signature_write(const char *key, const char *path, struct error *error);

/* `key` is the file of a public key, or the key itself in base64. A signature that is missing, of
   another key or false is refused (ERROR_REFUSED). */
int signature_verify(const char *key, const char *path, struct error *error);

/* BLAKE2b of 256 bits as 64 hexadecimal digits and a NUL. */
enum { DIGEST_TEXT_SIZE = 65, DIGEST_BYTES = 32 };
const char *digest_print(const void *bytes, size_t size, char text[DIGEST_TEXT_SIZE]);
/* The same as bytes. */
void digest_bytes(const void *bytes, size_t size, uint8_t digest[DIGEST_BYTES]);

#endif
