/*
 * tally: the calls of a program by the case that each is, and which cases take most of its time.
 *
 *     struct tally *tally = tally_new(folder, &error);
 *     if (tally == NULL || tally_read_calls(tally, "calls.jsonl", &error) < 0 ||
 *         tally_weigh(tally, &device, &error) < 0)
 *         return -1;
 *     for (int i = 0; i < tally->count; i++)
 *         printf("%.1f %%\n", 100 * tally->cases[i].share);
 *     tally_free(tally);
 *
 * A case's share is its calls times the least time of a call, by the device's ceilings, of those of
 * all cases; or the share that a file gives.
 */
#ifndef EVOTILE_CALLS_TALLY_H
#define EVOTILE_CALLS_TALLY_H

#include "calls/patterns.h"

enum { TALLY_CASES_MAX = 4096, TALLY_OTHERS_MAX = 32 };

struct tally_case {
    struct shape shape;
    double calls;
    double weight; /* as the file gives it; 0: it gives none */
    double us;     /* the least time of a call; 0: not known */
    double share;  /* of 1 */
};

/* Calls of which no case is made. */
struct tally_other {
    char called[NAME_SIZE], reason[CALL_REASON_SIZE];
    double calls;
};

struct tally {
    char folder[PATH_SIZE];    /* of the template, as it was given */
    struct template *template; /* its dimensions */
    struct tally_case *cases;  /* after tally_weigh the largest share first */
    int count;
    struct tally_other others[TALLY_OTHERS_MAX]; /* further reasons are counted in the last */
    int other_count;
    double calls, other_calls; /* of the cases; of no case, though a pattern has the operator */
    double unread_calls;       /* of operators that no pattern has */
    bool weighted;             /* the file gives the shares */
};

/* Of a template's folder. */
struct tally *tally_new(const char *folder, struct error *error);
void tally_free(struct tally *tally);

/* Adds the rows of a CSV file: a header with names of dimensions in any order, and perhaps `count`
   or `weight`. Dimensions with a default may be missing. */
int tally_read_csv(struct tally *tally, const char *path, struct error *error);
/* Adds the calls that python/evotile/record.py wrote, one JSON object a line. */
int tally_read_calls(struct tally *tally, const char *path, struct error *error);

/* Computes times and shares for a device, and sorts. A case for which no genome is valid is put
   among the others, with the reason. */
int tally_weigh(struct tally *tally, const struct device_info *device, struct error *error);

#endif
