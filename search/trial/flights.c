#include "trial/flights.h"

void flights_init(struct flights *flights) {
    flights->first = NULL;
    flights->end = &flights->first;
}

void flights_add(struct flights *flights, struct flight *flight) {
    flight->next = NULL;
    *flights->end = flight;
    flights->end = &flight->next;
}

struct flight *flights_take(struct flights *flights) {
    struct flight *flight = flights->first;
    if (flight == NULL)
        return NULL;
    flights->first = flight->next;
    if (flights->first == NULL)
        flights->end = &flights->first;
    return flight;
}

void flights_release(struct flights *flights) {
    struct flight *flight;
    while ((flight = flights_take(flights)) != NULL)
        flight_free(flight);
}

struct flight *flight_new(const struct trial_request *request) {
    struct flight *flight = malloc(sizeof *flight);
    if (flight == NULL)
        BUG("out of memory");
    flight->next = NULL;
    flight->request = *request;
    flight->was_compiled = false;
    trial_result_clear(&flight->compiled);
    return flight;
}

void flight_free(struct flight *flight) {
    trial_request_release(&flight->request);
    trial_result_release(&flight->compiled);
    free(flight);
}
