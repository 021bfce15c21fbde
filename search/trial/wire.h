/*
 * wire: requests, results and device descriptions as JSON, one message a line. Both ends are the
 * same evotile, so a message that does not parse is an error of the channel, not of a user.
 *
 *     char *line = wire_print_request(&request);     // the caller frees it
 *     enum wire_kind kind = wire_read(line, &message, &error);
 */
#ifndef EVOTILE_TRIAL_WIRE_H
#define EVOTILE_TRIAL_WIRE_H

#include "device/device.h"
#include "trial/trial.h"

char *wire_print_request(const struct trial_request *request);
char *wire_print_result(const struct trial_result *result);
/* The first message each way: the device that the worker has, or shall compile for. */
char *wire_print_device(const struct device_info *device);
/* Whom a goal's trials are held against by now. */
char *wire_print_champion(const struct trial_champion *champion);
/* The worker cannot go on: no GPU, a template that does not load. */
char *wire_print_failure(const struct error *failure);

enum wire_kind { WIRE_REQUEST, WIRE_RESULT, WIRE_DEVICE, WIRE_CHAMPION, WIRE_FAILURE };

struct wire_message {
    enum wire_kind kind;
    struct trial_request request; /* released by trial_request_release */
    struct trial_result result;   /* released by trial_result_release */
    struct device_info device;
    struct trial_champion champion;
    struct error failure;
};

/* Reads one line into `message`, of which what belongs to its kind is to be released. Numbers come
   back bit for bit; those that were not finite as 0. A message that is damaged is an error, with
   nothing to release. */
int wire_read(const char *line, struct wire_message *message, struct error *error);

#endif
