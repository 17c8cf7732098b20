/* orion_event.h: what Orion's WebSocket says, one JSON object per message. */
#ifndef REEVE_ORION_EVENT_H
#define REEVE_ORION_EVENT_H

#include "json.h"
#include "orion.h"

/*     event                   type               when */
#define ORION_EVENT_TABLE(X)                                                            \
    X(ORION_EVENT_SUBMITTED,   "dag.submitted",   "a DAG was taken; once")              \
    X(ORION_EVENT_STARTED,     "task.started",    "an attempt was given to a slot")     \
    X(ORION_EVENT_COMPLETED,   "task.completed",  "it succeeded")                       \
    X(ORION_EVENT_RETRY,       "task.retry",      "it failed and will be tried again")  \
    X(ORION_EVENT_FAILED,      "task.failed",     "it failed for good")                 \
    X(ORION_EVENT_CASCADE,     "task.cascade",    "a failure took these with it")       \
    X(ORION_EVENT_CRASH,       "system.crash",    "somebody pulled the plug")           \
    X(ORION_EVENT_RECOVER,     "system.recover",  "the server is back; told to each who connects soon after") \
    X(ORION_EVENT_METRICS,     "metrics.update",  "every second")

enum orion_event_type {
#define X(event, type, text) event,
    ORION_EVENT_TABLE(X)
#undef X
    ORION_EVENT_COUNT
};
extern const char *const orion_event_words[];

#define ORION_METADATA_MAX 8u

struct orion_event { /* what is 0 or empty is left out */
    enum orion_event_type type;
    struct slice task;
    const struct slice *tasks; /* ids */
    uint32_t task_count;
    uint32_t worker; /* a slot, from 1 */
    bool has_duration;
    int64_t duration_ms;
    bool has_retry;
    uint32_t retry, max_retry;
    struct {
        const char *key;
        uint64_t value;
    } metadata[ORION_METADATA_MAX]; /* up to the first without a key; as texts */
    int64_t time_ms;
};

void orion_event_put(struct json *j, const struct orion_event *e);

#endif
