/*
 * file_transfer: sends a run's files, such as config.json and everything below template/, as chunks
 * in the key-value store. A worker writes only the files that the description lists, and only if
 * size and hash match.
 *
 *     const char *const names[] = {"config.json", "template", NULL};
 *     file_transfer_list(&description, "results/night", names, &error);         // coordinator
 *     file_transfer_upload(connection, &description, "results/night", &error);
 *     file_transfer_download(connection, &description, "/tmp/evotile.x", &error); // worker
 *
 * The hashes detect damage. They do not authenticate: the server's permissions keep others from
 * writing files (configs/queue).
 */
#ifndef EVOTILE_REMOTE_FILE_TRANSFER_H
#define EVOTILE_REMOTE_FILE_TRANSFER_H

#include "remote/messages.h"

/* Lists the files and folders of those names, ended by NULL. */
int file_transfer_list(struct run_description *description, const char *folder,
                       const char *const *names, struct error *error);
int file_transfer_upload(struct connection *connection, const struct run_description *description,
                         const char *folder, struct error *error);
/* True if the files were purged. It looks at the first chunk that an upload stores: a purge in the
   middle of an upload leaves the later ones. */
bool file_transfer_is_purged(struct connection *connection,
                             const struct run_description *description);
/* 0; -1 with `error`; 1: the server did not answer, retry. */
int file_transfer_download(struct connection *connection, const struct run_description *description,
                           const char *folder, struct error *error);
#endif
