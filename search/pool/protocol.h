/*
 * protocol: requests, results and device descriptions as JSON, one message per line. Both ends are
 * the same evotile binary, so a message that does not parse is an error of the channel, not of a
 * user.
 *
 *     char *line = protocol_print_request(&request);     // the caller frees it
 *     struct protocol_message message;
 *     if (protocol_read(line, &message, &error) == 0 && message.kind == PROTOCOL_REQUEST)
 *         printf("trial %lld\n", (long long)message.request.number);
 *     protocol_message_release(&message);
 *     free(line);
 */
#ifndef EVOTILE_POOL_PROTOCOL_H
#define EVOTILE_POOL_PROTOCOL_H

#include "device/device.h"
#include "evaluate/trial.h"
#include "pool/image_file.h"

/* How a worker starts: the first message that its parent sends. */
struct worker_start {
    bool has_device;                     /* a device worker; false: a compile worker */
    bool under_tool;                     /* a tool is between parent and worker */
    int threads;                         /* of an emulated device */
    struct device_info device;           /* to open, by its spec alone; or to compile for */
    char *config_path, *template_folder; /* of the run; owned */
};
void worker_start_release(struct worker_start *start);
char *protocol_print_start(const struct worker_start *start);

/* Paths of files of machine code (pool/image_file.h) for the next request: a compile worker writes
   the candidate's; a device worker reads it, and that of the champion. Empty: none. */
struct worker_images {
    char candidate[IMAGE_FILE_PATH_SIZE], champion[IMAGE_FILE_PATH_SIZE];
};
char *protocol_print_images(const struct worker_images *images);

char *protocol_print_request(const struct trial_request *request);
char *protocol_print_result(const struct trial_result *result);
/* The first message of a worker: the device that it has, or that it compiles for. */
char *protocol_print_device(const struct device_info *device);
/* A goal's current champion, which its trials are compared against. */
char *protocol_print_champion(const struct trial_champion *champion);
/* Sent by a worker that cannot continue: no GPU, or a template that does not load. */
char *protocol_print_failure(const struct error *failure);

enum protocol_message_kind {
    PROTOCOL_START,
    PROTOCOL_IMAGES,
    PROTOCOL_REQUEST,
    PROTOCOL_RESULT,
    PROTOCOL_DEVICE,
    PROTOCOL_CHAMPION,
    PROTOCOL_FAILURE
};

struct protocol_message {
    enum protocol_message_kind kind;
    union { /* the member of the kind */
        struct worker_start start;
        struct worker_images images;
        struct trial_request request;
        struct trial_result result;
        struct device_info device;
        struct trial_champion champion;
        struct error failure;
    };
};

/* Reads one line into `message`, which protocol_message_release releases. Numbers are restored bit
   for bit, except that non-finite ones become 0. A damaged message is an error and leaves nothing
   to release. */
int protocol_read(const char *line, struct protocol_message *message, struct error *error);
/* Frees what the member of the kind owns. A request or result that was copied or moved out of the
   message has another owner: see trial_request_release and trial_result_move. */
void protocol_message_release(struct protocol_message *message);

#endif
