/*
 * session_start: what a new run starts from: genomes and earlier runs that the user names, and
 * earlier runs of the index. A part of session.c.
 *
 *     struct session_start start;
 *     if (session_start_open(&start, session, &error) < 0)
 *         return -1;
 *     int status = session_start_goals(session, &device, &start, &error); // goals.h
 *     session_start_log(&start, session);
 *     session_start_close(&start);
 */
#ifndef EVOTILE_SESSION_SESSION_START_H
#define EVOTILE_SESSION_SESSION_START_H

#include "session/learn_from.h"
#include "session/session.h"
#include "session/warm_start.h"

/* Each is NULL on resume, and if there is none. */
struct session_start {
    struct warm_start *warm_start;
    struct learn_from *learn_from;
};

/* Reads them. On an error nothing is left to close. */
int session_start_open(struct session_start *start, struct session *session, struct error *error);
void session_start_close(struct session_start *start);

/* After the goals have their sources: names the runs that the user did not. */
void session_start_log(const struct session_start *start, const struct session *session);

#endif
