/* decide.h: every choice is made here, and nothing is changed: a command is held against the state and becomes records,
 * or a refusal with its reason. What is recorded is complete: defaults filled in, names resolved, times absolute. */
#ifndef REEVE_DECIDE_H
#define REEVE_DECIDE_H

#include "command.h"
#include "effects.h"
#include "inputs.h"
#include "limit.h"
#include "live.h"
#include "state.h"

struct decision {
    const struct state *state;
    const struct live *live;
    const struct limits *limits;
    const struct inputs *in;
    struct arena *arena;     /* lives until the records are applied */
    struct effects *effects; /* for effects that belong to no record */
    struct vec *records;     /* of struct record: the outcome */
    struct reply *reply;
    uint64_t stale;          /* messages of an earlier time that were refused */
    uint32_t new_sets;       /* option sets with a key that had to be checked */
};

/* Fills d->records and d->reply; with an error in the reply there are no records. */
void decide(struct decision *d, const struct command *cmd);

/* What happens by time alone; see decide_tick.c. Return false when there is nothing (more) to do now. */
bool decide_timer(struct decision *d, struct state *indices);
bool decide_lease(struct decision *d, struct live *live);

/* Adds a record of that kind, caused by `cmd` (NULL: by the engine). Valid until the next one. */
struct record *decide_record(struct decision *d, enum record_kind kind, const struct command *cmd);
/* "an agent", for messages. */
const char *decide_kind_phrase(uint8_t kind);
/* Refuses. */
enum err refuse(struct decision *d, enum err e, const char *format, ...) __attribute__((format(printf, 3, 4)));
void decide_effect(struct decision *d, enum effect_kind kind, const struct attempt_effect *a);
void decide_ask(struct decision *d, const struct question *q);
void decide_lost(struct decision *d, uint32_t run, struct slice reason);

/* The parts of decide, by file. */
enum err decide_submit(struct decision *d, const struct command *cmd);
enum err decide_add(struct decision *d, const struct command *cmd);
/* Keeps what it found out about option sets; after a submit was decided and before the next command. */
void decide_keep_sets(struct decision *d, struct live *live, const struct cmd_submit *c);
enum err decide_attach(struct decision *d, const struct command *cmd);
enum err decide_heartbeat(struct decision *d, const struct command *cmd);
enum err decide_detach(struct decision *d, const struct command *cmd);
enum err decide_started(struct decision *d, const struct command *cmd);
enum err decide_done(struct decision *d, const struct command *cmd);
enum err decide_progress(struct decision *d, const struct command *cmd);
enum err decide_drain(struct decision *d, const struct command *cmd);
enum err decide_verdict(struct decision *d, const struct command *cmd);
enum err decide_cancel(struct decision *d, const struct command *cmd);
enum err decide_pause(struct decision *d, const struct command *cmd);
enum err decide_retry(struct decision *d, const struct command *cmd);
enum err decide_discard(struct decision *d, const struct command *cmd);
enum err decide_rerun(struct decision *d, const struct command *cmd);
enum err decide_forget(struct decision *d, const struct command *cmd);
enum err decide_pool(struct decision *d, const struct command *cmd);
enum err decide_topic(struct decision *d, const struct command *cmd);
enum err decide_tenant(struct decision *d, const struct command *cmd);
enum err decide_store(struct decision *d, const struct command *cmd);
/* The time of a key of the store has come: a record, or nothing when its namespace is gone already. */
void decide_item_timer(struct decision *d, struct state *indices, uint32_t item);
enum err decide_limit(struct decision *d, const struct command *cmd);
enum err decide_policy(struct decision *d, const struct command *cmd);
/* Asks the next of the open questions to the policy, after a change of it; false when there are no more. */
bool decide_ask_policy(struct decision *d, struct live *live, uint32_t most);
enum err decide_checkpoint(struct decision *d, const struct command *cmd);
enum err decide_service(struct decision *d, const struct command *cmd);
enum err decide_health(struct decision *d, const struct command *cmd);
/* The worker begins to drain: its services leave it. */
void decide_move_services(struct decision *d, uint32_t worker);

/* The next job that asks about kept results; false when none does. Moves it along in `indices`. */
bool decide_memo(struct decision *d, struct state *indices);
void decide_memo_timer(struct decision *d, uint32_t memo);
enum err decide_projected(struct decision *d, const struct command *cmd);
enum err decide_schedule(struct decision *d, const struct command *cmd);
enum err decide_schedule_remove(struct decision *d, const struct command *cmd);
enum err decide_schedule_pause(struct decision *d, const struct command *cmd);
enum err decide_schedule_run(struct decision *d, const struct command *cmd);
enum err decide_schedule_backfill(struct decision *d, const struct command *cmd);
enum err decide_schedule_slots(struct decision *d, const struct command *cmd);
enum err decide_identity(struct decision *d, const struct command *cmd);
void decide_schedule_timer(struct decision *d, struct state *indices, uint32_t schedule);

/* Checks shared by them. */
/* New jobs, for a flow (NULL: a new one) or a template: checked, ordered, completed. */
enum err decide_jobs(struct decision *d, const struct command *cmd, const struct cmd_jobs *jobs,
                     const struct flow *flow, flow_id own, struct tlv_list *ret_profiles, struct tlv_list *ret_jobs);
struct adder {
    struct job_ref job; /* that adds or submits jobs */
    uint64_t fence;     /* of its attempt */
    flow_id flow;       /* that they are for; 0 = a new one */
};
/* What a job may add or submit, with what it hands on. */
enum err decide_adder(struct decision *d, const struct adder *a, const struct cmd_jobs *given, struct cmd_jobs *ret,
                      struct slice *ret_constraints);
/* Whether a job may carry a cache key. */
enum err decide_memoised(struct decision *d, struct slice name, const struct options *o, bool has_undo);
enum err decide_flow_times(struct decision *d, int64_t timeout_ms, int64_t late_after_ms);
bool decide_has_stages(const struct cmd_jobs *jobs);
enum err decide_source(struct decision *d, const struct flow_source *source);
enum err decide_labels(struct decision *d, const struct label *labels, uint32_t count, struct tlv_list *ret);
/* Whether there is room for one more tenant, if it is new. */
enum err decide_tenant_room(struct decision *d, struct slice tenant);
enum err decide_name(struct decision *d, struct slice name, const char *what);
enum err decide_key(struct decision *d, struct slice key);
/* A flow of the caller's tenant; an empty tenant (an administrator) sees all. */
enum err decide_flow(struct decision *d, const struct command *cmd, flow_id id, uint32_t *ret);
/* The job whose open attempt the message is about. A later incarnation of the worker may still deliver a result. */
enum err decide_fenced_job(struct decision *d, const struct cmd_attempt *c, bool is_result, uint32_t *ret);
void decide_has_started(struct decision *d, struct job_ref job, uint32_t attempt);
/* Refuses when the compensations of the flow run, or ran. */
enum err decide_not_unwound(struct decision *d, const struct flow *f, const char *so);
enum err decide_settled_job(struct decision *d, const struct command *cmd, struct job_ref ref, uint32_t *ret);
/* Whether the tenant (0 = a new one) has room for these jobs; for those of a flow that would start again. */
enum err decide_room(struct decision *d, uint32_t tenant, const struct tlv_list *jobs);
enum err decide_room_again(struct decision *d, const struct flow *f);
enum err decide_room_children(struct decision *d, uint32_t tenant, uint32_t count);

/* The yes to an expansion question. */
enum err decide_expand(struct decision *d, const struct command *cmd, const struct question *q);
/* Refuses, because the ordinal is of no job, or of a child without a struct. */
enum err decide_no_struct(struct decision *d, const struct flow *f, uint32_t ordinal);
/* Whether a dead child may be retried, as its foreach job stands. */
enum err decide_retry_child(struct decision *d, const struct job *child);

#endif
