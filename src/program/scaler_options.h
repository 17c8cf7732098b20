/* scaler_options.h: what `reeve scaler` can be told: a few things of its own, and everything that `reeve worker` can,
 * which it hands on. */
#ifndef REEVE_SCALER_OPTIONS_H
#define REEVE_SCALER_OPTIONS_H

#include "plan.h"
#include "worker.h"

#define SCALER_ARGS_MAX 256
#define SCALER_TEXT_BYTES (64u << 10)

struct scaler_options {
    const char *data;
    struct plan_limits limits;
    const char *hook; /* NULL = workers are started here */
    int64_t hook_timeout_ms, hook_patience_ms;
    bool help;
    const char *worker_args[SCALER_ARGS_MAX + 1]; /* that each worker gets, NULL-terminated */
    int worker_arg_count;
    char text[SCALER_TEXT_BYTES]; /* of these */
    size_t text_used;
    const char *name; /* how ids of workers begin; NULL: as they choose themselves */
    struct worker_foreseen worker;
};

CHECKED enum err scaler_options_read(struct scaler_options *o, int count, char **args, const char *build,
                                     struct why *why);
/* "1..8", "8" (as 0..8): for --workers. */
bool scaler_options_divides(const struct scaler_options *o); /* its workers share this machine: --share K/MAX */
CHECKED enum err scaler_range_read(const char *text, uint32_t *ret_min, uint32_t *ret_max, struct why *why);
void scaler_options_help(void);

#endif
