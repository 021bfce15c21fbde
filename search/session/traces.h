/* traces: traces what many genomes would execute, in parallel processes and without a GPU.
 *
 * trace.h traces a single genome.
 *
 *     struct trace_request requests[] = {{.goal = 0, .genome = genome}};
 *     struct traces *traces = traces_collect(config, &info, requests, 1, jobs, &error);
 *     const struct trace *trace = traces_at(traces, 0);            // NULL: it could not be traced
 *     traces_free(traces);
 */
#ifndef EVOTILE_SESSION_TRACES_H
#define EVOTILE_SESSION_TRACES_H

#include "config/config.h"
#include "evaluate/trace.h"

struct traces;

struct trace_request {
    int goal;
    struct genome genome;
};

/* Traces the requested genomes for the device that `info` describes, in `jobs` processes. Logs its
   progress. Returns NULL with `error` if the template, the toolkit or the device is at fault.
   `config`, `info` and `orders` must outlive the call. */
struct traces *traces_collect(const struct config *config, const struct device_info *info,
                              const struct trace_request *requests, int count, int jobs,
                              struct error *error);
void traces_free(struct traces *traces);

/* The trace of a request; NULL if the genome did not compile or its blocks could not run. */
const struct trace *traces_at(const struct traces *traces, int request);

#endif
