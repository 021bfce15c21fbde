/*
 * redact: keeps a secret out of what a server sends back, before anything else reads it.
 *
 *     char *clean = redact_text(from_server, key);
 *     free(clean);
 *
 * The key itself, and every part of it of REDACT_PART characters or more, becomes "[key]". Parts
 * are looked for because servers quote the start and the end of a key that they refuse.
 */
#ifndef EVOTILE_PROPOSERS_CHAT_REDACT_H
#define EVOTILE_PROPOSERS_CHAT_REDACT_H

enum { REDACT_PART = 8 };

/* A copy, which the caller frees. `key` may be NULL or empty: nothing is secret. */
char *redact_text(const char *text, const char *key);

#endif
