/* limit.h: everything has a limit, here, with its reason. The table makes the settings, the help text and
 * docs/limits.md. Limits bind `decide` and the doors; `apply` reads none of them, so a lowered limit never changes
 * what a journal means. */
#ifndef REEVE_LIMIT_H
#define REEVE_LIMIT_H

#include <stdint.h>

/* clang-format off */
/*     name                        default         least  most            unit      reason */
#define LIMIT_TABLE(X)                                                                                                \
    X(flows_max,                   4000000,        1,     100000000,      "flows",  "flows in memory, about 300 B each beside their jobs") \
    X(flows_tenant_share,          90,             1,     100,            "percent","share of flows_max for one tenant; 100: all of them") \
    X(jobs_max,                    20000000,       1,     200000000,      "jobs",   "jobs in memory, about 100 B each beside their spec") \
    X(flow_jobs_max,               2000000,        1,     100000000,      "jobs",   "jobs of one flow, added ones included") \
    X(submit_jobs_max,             10000,          1,     100000,         "jobs",   "jobs in one submit; larger flows come in parts, so that no step stalls the loop") \
    X(job_parents_max,             10000,          1,     1000000,        "edges",  "parents of one job; a fan-in needs one edge each") \
    X(job_foreign_parents_max,     64,             0,     1024,           "edges",  "parents of one job in other flows") \
    X(job_foreign_children_max,    1024,           0,     4096,           "edges",  "children of one job in other flows; visited in one step") \
    X(submit_profiles_max,         1000,           1,     10000,          "sets",   "different option sets in one submit") \
    X(profiles_max,                1000000,        1,     4000000,        "sets",   "different option sets in memory") \
    X(classes_max,                 100000,         1,     1000000,        "classes","demand classes; a choice costs their number") \
    X(name_bytes_max,              128,            1,     255,            "bytes",  "a job, flow, pool, topic, tenant, worker, label or capability name") \
    X(key_bytes_max,               255,            1,     255,            "bytes",  "an idempotency key") \
    X(job_body_bytes_max,          65536,          0,     1048576,        "bytes",  "a job's own spec; scripts and files are blobs") \
    X(result_bytes_max,            65536,          0,     65536,          "bytes",  "a result kept in the journal; larger ones are blobs") \
    X(submit_bytes_max,            16777216,       4096,  67108864,       "bytes",  "one submit as a record; a batch must hold it") \
    X(source_bytes_max,            1048576,        0,     16777216,       "bytes",  "a flow file that is kept with its flow, with the small files it names; a larger one runs and is not kept; 0: none is kept") \
    X(params_bytes_max,            16384,          0,     65536,          "bytes",  "the parameters of one flow as JSON; they are in memory with the flow") \
    X(labels_max,                  64,             0,     64,             "labels", "labels of one flow, job or worker") \
    X(capabilities_max,            32,             0,     64,             "names",  "capabilities of one job or worker") \
    X(resources_max,               16,             0,     16,             "kinds",  "custom resources of one job or worker") \
    X(tenants_max,                 10000,          1,     1000000,        "tenants","tenants seen") \
    X(pools_max,                   1000,           1,     100000,         "pools",  "worker pools") \
    X(topics_max,                  10000,          1,     100000,         "topics", "topic mappings") \
    X(topic_pools_max,             16,             1,     64,             "pools",  "pools behind one topic") \
    X(foreach_items_max,           1000000,        0,     1000000,        "items",  "children of one foreach job; one that has not begun costs nothing, its place in the journal is kept") \
    X(foreach_parallel_max,        4096,           1,     1000000,        "jobs",   "children of one foreach job under way at once, also when it does not say; about 100 B each") \
    X(job_keys_max,                8,              0,     16,             "names",  "concurrency keys of one job, and as many rates; an assignment looks at each") \
    X(limit_names_max,             1000000,        1,     10000000,       "names",  "keys and rates known at a time, set or named by jobs, about 150 B each") \
    X(key_width_max,               1000000,        1,     100000000,      "attempts","width of a concurrency key") \
    X(rate_milli_max,              1000000000,     1,     1000000000,     "tokens", "a rate, in tokens per 1,000 s; products with times must fit 64 bits") \
    X(rate_burst_max,              1000000,        1,     1000000000,     "tokens", "tokens a rate may save up") \
    X(workers_max,                 10000,          1,     100000,         "workers","workers known at a time") \
    X(worker_slots_max,            10000,          1,     100000,         "slots",  "slots of one worker") \
    X(idempotency_keys_max,        4000000,        1,     100000000,      "keys",   "idempotency keys alive") \
    X(idempotency_ms,              86400000,       1000,  2592000000,     "ms",     "how long an idempotency key is remembered (default and maximum)") \
    X(questions_max,               4000000,        1,     100000000,      "questions","questions open at a time") \
    X(quorum_max,                  16,             1,     64,             "people", "voices one approval may ask for") \
    X(reason_bytes_max,            1024,           0,     4096,           "bytes",  "a reason given with a verdict, a cancel or a failure") \
    X(constraints_bytes_max,       16384,          0,     65536,          "bytes",  "constraints put on a job by a verdict") \
    X(retries_max,                 1000,           0,     65000,          "tries",  "retries of one job") \
    X(retry_after_ms_max,          3600000,        0,     2592000000,     "ms",     "how long a retry of an http job waits at most because the server said so (Retry-After); 0: as its backoff says") \
    X(priority_max,                1000,           2,     65534,          "levels", "highest priority a job may ask for; one level above is reserved") \
    X(delay_ms_max,                31622400000,    1000,  315576000000,   "ms",     "a delay, a timeout or a wait") \
    X(lease_ms,                    30000,          100,   3600000,        "ms",     "silence after which a worker's jobs are given to others") \
    X(heartbeat_ms,                5000,           20,    600000,         "ms",     "heartbeat interval of a worker; several fit into a lease") \
    X(dispatch_timeout_ms,         30000,          100,   3600000,        "ms",     "time from assignment to start (default of a job)") \
    X(kill_grace_ms,               10000,          0,     3600000,        "ms",     "between TERM and KILL") \
    X(stop_confirm_ms,             60000,          1000,  86400000,       "ms",     "how long a worker may take to confirm a stop before the attempt counts as lost") \
    X(approval_ms,                 172800000,      1000,  31622400000,    "ms",     "how long an approval waits before it is denied") \
    X(poll_ms_min,                 1000,           1,     3600000,        "ms",     "shortest time between two polls of an external job; each is an attempt with its records") \
    X(undo_policy_ms,              30000,          100,   86400000,       "ms",     "how long a compensation waits for the word of a policy before it runs without") \
    X(policy_retry_ms,             5000,           100,   3600000,        "ms",     "when an unanswered policy question is asked again") \
    X(services_max,                100000,         1,     10000000,       "services","services known at a time; each has a flow for every version it keeps") \
    X(replicas_max,                100,            1,     256,            "replicas","replicas of one service") \
    X(service_restart_ms,          3000,           1,     3600000,        "ms",     "delay before a service is restarted; doubles with each end") \
    X(service_restart_cap_ms,      30000,          1,     86400000,       "ms",     "longest delay before a service is restarted") \
    X(service_reset_ms,            60000,          0,     86400000,       "ms",     "how long a service must be healthy until its restarts count anew") \
    X(service_healthy_ms,          300000,         100,   86400000,       "ms",     "time a deployed version has to become healthy before the previous one is restored") \
    X(overload_slots_percent,      90,             1,     101,            "%",      "busy slots at which a worker counts as overloaded") \
    X(overload_cpu_percent,        90,             1,     101,            "%",      "processor use at which a worker counts as overloaded") \
    X(overload_gpu_percent,        90,             1,     101,            "%",      "GPU use at which a worker counts as overloaded") \
    X(store_key_bytes_max,         512,            1,     1024,           "bytes",  "a key of the store, a member of a set, a channel") \
    X(store_value_bytes_max,       1048576,        0,     16777216,       "bytes",  "a value of the store; larger things are blobs") \
    X(store_entries_max,           1024,           1,     4096,           "keys",   "keys or members in one command, done in one step") \
    X(store_set_members_max,       1000000,        1,     100000000,      "members","members of one set") \
    X(store_keys_max,              20000000,       1,     1000000000,     "keys",   "keys of all tenants, about 150 B each beside their value") \
    X(store_space_keys_max,        5000000,        1,     1000000000,     "keys",   "keys of one namespace") \
    X(store_tenant_keys_max,       10000000,       1,     1000000000,     "keys",   "keys of one tenant, its flows included") \
    X(store_tenant_bytes_max,      1073741824,     1024,  1099511627776,  "bytes",  "keys, values and members of one tenant with what it costs to keep them") \
    X(store_ttl_ms_max,            315576000000,   1000,  3155760000000,  "ms",     "how far away the expiry of a key may be") \
    X(publish_bytes_max,           65536,          0,     1048576,        "bytes",  "a message published on a channel; it waits in memory for its LSN") \
    X(watches_max,                 100000,         1,     10000000,       "watches","watches of keys and channels, all sessions together") \
    X(session_watches_max,         1000,           1,     1000000,        "watches","watches of one session") \
    X(batch_bytes_max,             20971520,       1048576, 134217728,    "bytes",  "one batch; the largest submit fits into it") \
    X(batch_records_max,           65536,          1,     1000000,        "records","records after which a batch is closed") \
    X(ended_flows_max,             2000000,        1,     100000000,      "flows",  "finished flows in memory; a history that lags slows admission instead of filling it") \
    X(memo_ms,                     86400000,       1,     31622400000,    "ms",     "how long a result may be reused (default of a job)") \
    X(memo_tenant_max,             100000,         0,     10000000,       "results","results kept for one tenant; the oldest make room") \
    X(memo_tenant_bytes_max,       67108864,       0,     1099511627776,  "bytes",  "bytes of results kept for one tenant, with overhead; the oldest make room") \
    X(retention_ms,                604800000,      0,     31622400000,    "ms",     "how long a finished flow stays in memory after its end, once the history has it") \
    X(ended_flows_kept,            100000,         0,     100000000,      "flows",  "finished flows without dead letters kept for that time; beyond it the oldest leave as soon as the history has them") \
    X(dead_letter_ms,              2592000000,     0,     315576000000,   "ms",     "how long a finished flow with dead letters stays in memory") \
    X(schedules_max,               10000,          1,     1000000,        "schedules","schedules of all tenants") \
    X(schedule_bytes_max,          262144,         1024,  16777216,       "bytes",  "a schedule with the flow it makes; kept in memory") \
    X(schedule_days_max,           1000,           1,     10000,          "days",   "days that the calendar of a schedule names") \
    X(schedule_keys_max,           100,            1,     1000,           "schedules","schedules of a tenant that a key of the store starts; each change of a key looks at those that it fits") \
    X(schedule_value_bytes_max,    4096,           0,     65536,          "bytes",  "value of a key that goes into the flow which the key starts; of a longer one the flow has the key alone") \
    X(schedule_slots_max,          128,            2,     10000,          "slots",  "slots of one schedule known ahead; further ones are asked for") \
    X(schedule_catch_up_max,       100,            0,     1000,           "slots",  "missed slots that are run later; the oldest beyond are counted and left out") \
    X(schedule_waiting_max,        100,            1,     10000,          "slots",  "slots of one schedule that wait for an earlier flow, backfills included") \
    X(schedule_late_ms,            60000,          100,   86400000,       "ms",     "how late a slot may be and still count as on time, not as missed") \
    X(schedule_retry_ms,           5000,           10,    3600000,        "ms",     "when slots that did not come are asked for again, and a flow without room is tried again") \
    X(eval_steps_max,              200000,         1000,  100000000,      "steps",  "instructions of one expression (when, foreach, a template); the loop stands still meanwhile, about 2 ms") \
    X(eval_bytes_max,              16777216,       65536, 1073741824,     "bytes",  "memory that one expression may ask for, in all") \
    X(json_bytes_max,              16777216,       1024,  268435456,      "bytes",  "a JSON text: a request, a flow file, a result; it is in memory as a whole") \
    X(json_depth_max,              64,             8,     256,            "levels", "objects and arrays inside each other; nobody nests deeper by hand") \
    X(frame_bytes_max,             20971520,       65536, 134217728,      "bytes",  "the body of one frame on the wire; the largest submit fits into it") \
    X(connection_memory_bytes_max, 536870912,      1048576, 1099511627776, "bytes", "memory that all connections together may hold: received requests, unread answers; beyond it the largest is closed") \
    X(principal_memory_bytes_max,  134217728,      262144, 1099511627776, "bytes",  "memory that the connections of one principal may hold; beyond it requests are answered with busy") \
    X(hello_ms,                    5000,           50,    600000,         "ms",     "time a connection has to authenticate") \
    X(strangers_max,               1024,           1,     100000,         "connections","unauthenticated connections; the oldest makes room") \
    X(http_head_bytes_max,         32768,          1024,  1048576,        "bytes",  "request line and headers of one HTTP request; they are in memory as a whole") \
    X(http_headers_max,            100,            8,     10000,          "headers","headers of one HTTP request; no browser sends half as many") \
    X(http_target_bytes_max,       8192,           256,   65536,          "bytes",  "the target of one HTTP request, path and query") \
    X(http_body_bytes_max,         16777216,       1024,  134217728,      "bytes",  "the body of one HTTP request; the largest submit fits into it") \
    X(http_body_ms,                10000,          50,    600000,         "ms",     "how long the body of an HTTP request may take, beside one more for each byte that came") \
    X(http_idle_ms,                75000,          50,    3600000,        "ms",     "how long an HTTP connection may be silent between two requests, or take nothing of its answer") \
    X(http_rate,                   100000,         1,     10000000,       "requests","requests per second of one caller by HTTP; one program cannot take the whole loop") \
    X(http_burst,                  200000,         1,     100000000,      "requests","burst of HTTP requests of one caller after a pause") \
    X(session_ms,                  43200000,       1000,  2592000000,     "ms",     "how long a browser stays logged in: a working day") \
    X(login_link_ms,               300000,         1000,  86400000,       "ms",     "validity of an unused login link") \
    X(tokens_max,                  100000,         1,     1000000,        "tokens", "tokens that are neither revoked nor removed, about 300 B each") \
    X(ended_sessions_max,          16384,          16,    1000000,        "sessions","browser sessions that were ended before their time; all of one principal count once when there are too many") \
    X(login_links_max,             1024,           4,     100000,         "links",  "unused login links; the oldest makes room") \
    X(login_links_each,            4,              1,     1000,           "links",  "unused login links of one principal; its own oldest makes room, never that of another") \
    X(login_failures,              10,             1,     1000000,        "logins", "failed logins of one address in a row; one more is allowed each 10 s") \
    X(event_queue,                 1000,           1,     16384,          "events", "unread events buffered for one subscriber; beyond it events are read from the journal") \
    X(pack_bytes,                  16777216,       65536, 268435456,      "bytes",  "a pack of small blobs or logs that has reached this is closed; a start after a crash reads the open one") \
    X(vault_pending_bytes_max,     67108864,       262144, 4294967296,    "bytes",  "blobs and logs that wait in memory for the disk, each; beyond it senders are told to wait") \
    X(vault_reserve_bytes,         1073741824,     0,     1099511627776,  "bytes",  "free disk at which blobs and logs stop, so that the journal can go on") \
    X(blob_bytes_max,              10737418240,    1,     32212254720,    "bytes",  "one blob; the block table of a pack addresses 32 GiB") \
    X(blobs_max,                   4000000,        1,     400000000,      "blobs",  "blobs of all tenants, about 130 B of memory each") \
    X(blob_tenant_bytes_max,       1125899906842624, 1,   1125899906842624, "bytes","blobs of one tenant; more is refused for good, so that a job which keeps a file fails and does not wait") \
    X(blob_tenant_share,           80,             1,     100,            "percent","share of the blob space for one tenant, if there are several; 100: all of it") \
    X(blob_grace_ms,               3600000,        0,     2592000000,     "ms",     "how long a blob stays after its last put though nothing names it: its submit may be on the way") \
    X(blob_sweep_ms,               600000,         10,    86400000,       "ms",     "interval at which unreferenced blobs are searched for") \
    X(logs_max,                    4000000,        1,     400000000,      "logs",   "attempts whose log is kept, about 200 B of memory each") \
    X(archive_bytes_max,           4294967296,     1024,  1099511627776,  "bytes",  "files of one archive job, unpacked; kept by the worker, as the four below") \
    X(archive_ratio_max,           250,            2,     1000000,        "times",  "how much larger than itself an archive may unpack, beyond 16 MiB; text comes to about 100") \
    X(archive_entries_max,         100000,         1,     10000000,       "entries","entries of one archive; each costs a few system calls") \
    X(archive_path_bytes_max,      1024,           16,    4000,           "bytes",  "path of one entry; the kernel allows 4,096 with the workspace in front") \
    X(archive_depth_max,           64,             1,     1000,           "levels", "folders inside each other in an archive") \
    X(log_bytes_max,               67108864,       0,     1099511627776,  "bytes",  "log of one attempt (default of a job); head and tail are kept, half each; 0 = all of it") \
    X(orion_tasks_max,             1000,           1,     10000,          "tasks",  "tasks of one DAG by Orion's interface; Orion's own limit") \
    X(orion_dependencies_max,      50,             1,     10000,          "edges",  "dependencies of one task of a DAG by Orion's interface; its own number") \
    X(orion_rate,                  5,              1,     100000,         "requests","DAGs a second from one address beyond this machine, by Orion's interface") \
    X(orion_burst,                 10,             1,     100000,         "requests","burst of DAGs from one address, by Orion's interface") \
    X(titan_frame_ms,              10000,          50,    600000,         "ms",     "how long a frame by Titan's protocol may take, beside one more for each kilobyte that came") \
    X(titan_idle_ms,               75000,          50,    3600000,        "ms",     "how long such a connection may be silent between two frames, or take nothing of its answer")
/* clang-format on */

struct limits {
#define X(name, standard, least, most, unit, reason) int64_t name;
    LIMIT_TABLE(X)
#undef X
};

void limits_default(struct limits *l);

struct limit_info {
    const char *name;
    int64_t standard, least, most;
    const char *unit, *reason;
};
extern const struct limit_info limit_table[];
extern const uint32_t limit_count;

/* The address of the named limit inside `l`, or NULL. */
int64_t *limit_by_name(struct limits *l, const char *name);

/* Flows in memory that one tenant may have, at least one. */
static inline uint64_t limits_tenant_flows_max(const struct limits *l) {
    return ((uint64_t)l->flows_max * (uint64_t)l->flows_tenant_share + 99) / 100;
}

#endif
