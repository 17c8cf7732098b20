/* model_cause.h: keys of the store that start schedules, as the second model reads them. Part of model.h.
 *
 * What keys hold is worked out from the records, so that the model knows by itself which of them is a change; what
 * waits is a plain line for each schedule. */
#ifndef REEVE_MODEL_CAUSE_H
#define REEVE_MODEL_CAUSE_H

#include "model_job.h"

#define MODEL_LINE_MAX 1024u /* keys; changes of further ones are counted with the newest */

struct model_line { /* keys of one schedule, in the order in which they began to wait */
    struct model_waiting_key {
        struct trace_bytes key; /* a copy */
        uint32_t count;
        int64_t since_ms; /* of the last change */
    } * at;
    uint32_t count;
    int64_t started_ms; /* 0 = never */
};

/* What the record does to its i-th key: TRACE_KEY_ bits. The table of values moves on with it. */
unsigned model_cause_change(struct model *m, const struct trace_change *r, uint32_t i);
bool model_cause_matches(const struct trace_schedule *set, struct trace_bytes key);
/* Returns how many others left the line for it. */
uint32_t model_line_put(struct model_line *line, struct trace_bytes key, bool alone, int64_t now_ms);
void model_line_take(struct model_line *line, uint32_t at);
void model_line_clear(struct model_line *line);
void model_values_free(struct model *m);

#endif
