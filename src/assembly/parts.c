/* parts.c: the parts of the server, in the order of a pass (part.h). Another part is another line here and a folder. */
#include "part.h"

/* The engine hears of who has gone before anything is asked in its name; gates of Titan are in step before those who
 * have seen what there is to do for them; requests come before what the server does by itself. In the second half what
 * happened is told (event_ring) before it is passed on, and memory is looked at last. */
#define PART_TABLE(X)  \
    X(closed_sessions) \
    X(titan_book)      \
    X(titan_fleet)     \
    X(store_flush)     \
    X(titan_gates)     \
    X(fair_queue)      \
    X(resp)            \
    X(evaluator)       \
    X(history_writer)  \
    X(flow_retention)  \
    X(schedule_slots)  \
    X(blob_gc)         \
    X(event_ring)      \
    X(playground)      \
    X(job_token)       \
    X(identity)        \
    X(store_watch)     \
    X(sessions)        \
    X(subscribers)     \
    X(orion)           \
    X(orion_dags)      \
    X(orion_stream)    \
    X(flow_events)     \
    X(demands)         \
    X(transfers)       \
    X(web)             \
    X(titan)           \
    X(items)           \
    X(assign)          \
    X(ends)            \
    X(flow_source)     \
    X(stats_history)   \
    X(audit)           \
    X(checkpoints)     \
    X(proofs)          \
    X(launch)          \
    X(history_request) \
    X(oidc)            \
    X(budget)

#define X(name) extern const struct server_part name##_part;
PART_TABLE(X)
#undef X

enum part_slot {
#define X(name) SLOT_##name,
    PART_TABLE(X)
#undef X
        SLOT_COUNT
};
_Static_assert(SLOT_COUNT <= PARTS_MAX, "a bit for each part");

const struct server_part *const server_parts[] = {
#define X(name) &name##_part,
    PART_TABLE(X)
#undef X
};
const uint8_t server_part_count = SLOT_COUNT;

/* Where each part finds its state. */
#define X(name)                       \
    extern const uint8_t name##_slot; \
    const uint8_t name##_slot = SLOT_##name;
PART_TABLE(X)
#undef X
