/* tool.h: what an agent can do, as one table (tools.c): names, arguments, roles, and the function that begins. Tools
 * exist once, and are served with the rights, the limits and the audit trail of whoever calls. */
#ifndef REEVE_TOOL_H
#define REEVE_TOOL_H

#include "tool_call.h"

enum tool_arg_type { TOOL_TEXT, TOOL_COUNT, TOOL_FLAG, TOOL_OBJECT, TOOL_NAMES, TOOL_PAIRS, TOOL_JSON };

struct tool_arg {
    const char *name;
    enum tool_arg_type type;
    bool required;
    const char *text;
};

#define TOOL_ARGS_MAX 12u

struct tool {
    const char *name, *text;
    const char *role; /* that its messages need; the server looks, this is for people */
    bool reads;       /* changes nothing */
    tool_call_begin *begin;
    struct tool_arg args[TOOL_ARGS_MAX]; /* up to one without a name */
};

const struct tool *tool_find(struct slice name); /* NULL = there is none */
const struct tool *tool_table(uint32_t *ret_count);
struct spec_input;
/* The flow of the arguments `flow` and `params`, to be read by spec_read. */
enum err tool_flow_input(struct tool_call *c, struct spec_input *ret, struct why *why);
void tool_list_put(struct json *j, bool with_hints); /* an array of them, as the protocol describes tools */

/* ---- the tools, by file ---- */

tool_call_begin tool_ping, tool_store_get, tool_store_put, tool_deploy_script;     /* tool_store.c */
tool_call_begin tool_submit_job, tool_submit_dag, tool_submit_yaml;                /* tool_titan.c */
tool_call_begin tool_job_status, tool_job_logs, tool_logs;                         /* tool_logs.c */
tool_call_begin tool_gate_approve, tool_gate_reject, tool_questions, tool_approve; /* tool_gate.c */
tool_call_begin tool_list, tool_show, tool_why, tool_workers, tool_events;         /* tool_look.c */
tool_call_begin tool_submit, tool_add, tool_run_again, tool_wait;                  /* tool_flow.c */
tool_call_begin tool_cancel, tool_retry, tool_rerun, tool_discard;                 /* tool_change.c */
tool_call_begin tool_pause, tool_resume, tool_drain;                               /* tool_change.c */
tool_call_begin tool_artifacts, tool_artifact;                                     /* tool_artifact.c */
tool_call_begin tool_schedules, tool_schedule, tool_schedule_change;               /* tool_schedule.c */
tool_call_begin tool_schedule_run;                                                 /* tool_schedule.c */
tool_call_begin tool_services, tool_rollback;                                      /* tool_service.c */
tool_call_begin tool_plan;                                                         /* tool_plan.c */

#endif
