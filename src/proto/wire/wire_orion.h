/* wire_orion.h: what Orion's interface shows of a tenant: its tasks, its DAGs and their numbers. One request, one
 * answer, made from the state like every other view; orion.h writes it as Orion's clients expect it. */
#ifndef REEVE_WIRE_ORION_H
#define REEVE_WIRE_ORION_H

#include "wire_session.h"

enum wire_orion_what { WIRE_ORION_NUMBERS, WIRE_ORION_TASKS, WIRE_ORION_DAGS, WIRE_ORION_WHAT_COUNT };

struct wire_orion_get {
    TLV_ALONE uint8_t what; /* enum wire_orion_what; the numbers always come along */
};

struct wire_orion_task {
    struct slice id, dag; /* dag: id of its flow */
    struct slice payload;
    int64_t priority; /* as it was sent: lower is first */
    struct tlv_list dependencies; /* of wire_name */
    struct slice status;
    uint32_t retry_count, max_retries;
    int64_t start_ms, end_ms; /* wall; 0 = not yet */
    bool shadowed; /* a later DAG has a task of the same id, or the id could be the key of such a task */
};

struct wire_orion_dag {
    struct slice dag;
    struct tlv_list tasks; /* of wire_name */
    int64_t submitted_ms;
};

struct wire_orion {
    uint64_t lsn;
    uint64_t pending, running, completed, failed, retried, queue_size;
    uint32_t slots, slots_used, clients;
    uint64_t dropped_events;
    int64_t uptime_ms, now_ms;
    int64_t crashed_ms; /* of a playground: when its plug was last pulled; 0 = never */
    struct tlv_list tasks; /* of wire_orion_task, oldest DAG first */
    struct tlv_list dags;  /* of wire_orion_dag, the same */
    bool more;             /* older ones were left out */
    uint64_t took_count, took_ms; /* of tasks that are over: how many ran, and the last attempts of all together */
    struct tlv_list took_within;  /* of wire_orion_within, one per bound: how many took no longer */
};

struct wire_orion_within {
    uint64_t count;
};

#define WIRE_ORION_BOUNDS 11u
extern const uint32_t wire_orion_bounds_ms[WIRE_ORION_BOUNDS];

#define WIRE_ORION_TASKS_MAX 50000u /* shown at once */
#define WIRE_ORION_DAGS_MAX 10000u

extern const struct tlv_desc wire_orion_get_desc, wire_orion_task_desc, wire_orion_dag_desc,
    wire_orion_within_desc, wire_orion_desc;

#endif
