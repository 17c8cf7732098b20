/* verbs.h: the functions behind the table of verbs, by the file they are in. */
#ifndef REEVE_VERBS_H
#define REEVE_VERBS_H

#include "cli.h"
#include "spec.h"

/* verb_submit.c, verb_run.c, verb_wait.c */
enum err verb_submit(struct cli *c);
enum err verb_add(struct cli *c);
enum err verb_run_command(struct cli *c);
enum err verb_wait(struct cli *c);
enum err verb_plan(struct cli *c); /* verb_plan.c */
/* verb_look.c, verb_logs.c, verb_graph.c */
enum err verb_ls(struct cli *c);
enum err verb_show(struct cli *c);
enum err verb_why(struct cli *c);
enum err verb_workers(struct cli *c);
enum err verb_dead(struct cli *c);
enum err verb_stats(struct cli *c);
enum err verb_version(struct cli *c);
enum err verb_logs(struct cli *c);
enum err verb_graph(struct cli *c);
enum err verb_demand(struct cli *c);
enum err verb_limits(struct cli *c);
enum err verb_limit_key(struct cli *c);
enum err verb_limit_rate(struct cli *c);
enum err verb_limit_tenant(struct cli *c); /* verb_demand.c */
enum err verb_events(struct cli *c);       /* verb_events.c */
/* top.c, shell.c */
enum err verb_top(struct cli *c);
enum err verb_shell(struct cli *c);
/* verb_change.c */
enum err verb_targets(struct cli *c); /* cancel, retry, rerun, discard */
enum err verb_rerun(struct cli *c);
enum err verb_rerun_new(struct cli *c); /* of rerun --new; verb_submit.c */
enum err verb_pause(struct cli *c);   /* pause, resume */
enum err verb_approve(struct cli *c); /* approve, reject */
enum err verb_complete(struct cli *c);
enum err verb_callback(struct cli *c);
enum err verb_drain(struct cli *c);
/* verb_store.c, verb_blob.c, verb_token.c */
enum err verb_kv_get(struct cli *c);
enum err verb_kv_ls(struct cli *c);
enum err verb_kv_change(struct cli *c); /* set, del, incr, add, rem, expire, publish */
enum err verb_kv_watch(struct cli *c);
enum err verb_blob_put(struct cli *c);
enum err verb_blob_get(struct cli *c);
enum err verb_blob_ls(struct cli *c);
enum err verb_blob_rm(struct cli *c);
enum err verb_get(struct cli *c);
enum err verb_console(struct cli *c);     /* verb_console.c */
enum err verb_mcp(struct cli *c);         /* verb_mcp.c */
enum err verb_doctor(struct cli *c);      /* verb_doctor.c */
enum err verb_audit(struct cli *c);       /* verb_audit.c */
enum err verb_context_add(struct cli *c); /* verb_context.c */
enum err verb_context_use(struct cli *c);
enum err verb_context_ls(struct cli *c);
enum err verb_context_rm(struct cli *c);
enum err verb_token_new(struct cli *c);
enum err verb_token_ls(struct cli *c);
enum err verb_token_revoke(struct cli *c);

/* verb_schedule.c */
enum err verb_schedule_add(struct cli *c);
enum err verb_schedule_ls(struct cli *c);
enum err verb_schedule_next(struct cli *c);
enum err verb_schedule_change(struct cli *c); /* rm, pause, resume */
enum err verb_schedule_backfill(struct cli *c);
enum err verb_schedule_show(struct cli *c);
enum err verb_schedule_run(struct cli *c);

/* verb_deploy.c, verb_service.c */
enum err verb_deploy(struct cli *c);
enum err verb_rollback(struct cli *c);
enum err verb_services(struct cli *c);
enum err verb_service_set(struct cli *c); /* stop, start, restart, undeploy */

/* ---- what verbs share ---- */

/* The service of that name, or of the only one that begins so; valid until client_forget. */
CHECKED enum err service_look(struct cli *c, struct slice name, struct wire_service_view *ret);
void service_line(struct cli *c, const struct wire_service_view *v); /* how it is, on standard output */
struct flow_sent {
    uint64_t lsn;
    struct wire_submitted_flow flow;
};
/* Sends a flow, in parts if it is large. */
CHECKED enum err flow_send(struct cli *c, const struct wire_flow *flow, struct flow_sent *ret);
void flow_sent_print(struct cli *c, const struct flow_sent *sent); /* for programs */
/* Says what it became, and waits for its end with --wait. */
CHECKED enum err flow_sent_end(struct cli *c, const struct flow_sent *sent);

/* What a flow file is read for, and so what becomes of large files that it names; small ones are inside their jobs. */
enum flow_use {
    FLOW_SUBMITTED, /* they are sent as blobs; so of the next two */
    FLOW_ADDED,     /* its jobs are for a flow that is there */
    FLOW_SCHEDULED,
    FLOW_SHOWN, /* only their hash: nothing is sent */
    FLOW_ASKED, /* only their beginning: what the server is asked about is not run */
};
/* Reads a flow file with its parameters from the flags, and its schedule. One that is submitted goes along with the
 * flow, to be kept. */
CHECKED enum err verb_flow_file_read(struct cli *c, const char *path, enum flow_use use, struct wire_flow *ret,
                                     struct spec_schedule *ret_schedule);
/* The jobs of a flow that have room in one request, from the first on; the rest would follow. */
struct wire_jobs flow_first_part(struct cli *c, const struct wire_flow *flow);

/* Waits until all (or, with `any`, one) of the targets are over; a bar on a terminal. *ret_bad: one ended badly.
 * timeout_ms 0 = for ever; when it is over first, the exit code is set to EXIT_TIMED_OUT. */
CHECKED enum err wait_for(struct cli *c, struct tlv_list targets, bool any, int64_t timeout_ms, bool quiet,
                          bool *ret_bad);
/* With --here: the directory of the job is the caller's, and its worker one of this machine. */
CHECKED enum err run_here(struct cli *c, struct wire_options *o, struct wire_run *run);
/* Puts a blob unless the server has it; `path` is for people, *ret_hash in the arena. */
CHECKED enum err blob_put(struct cli *c, const char *path, struct slice bytes, struct slice *ret_hash);
/* Reads a whole file, `-` = standard input; into the arena. */
CHECKED enum err file_read(struct cli *c, const char *path, size_t most, struct slice *ret);
CHECKED enum err blob_hash_parse(struct cli *c, const char *text, struct slice *ret);

#endif
