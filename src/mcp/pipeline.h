/* pipeline.h: jobs as Titan describes them (a list of scripts with parents), as a flow. */
#ifndef REEVE_PIPELINE_H
#define REEVE_PIPELINE_H

#include "tool.h"

#define PIPELINE_STEPS_MAX 2000u
#define PIPELINE_ELSEWHERE_MAX 64u /* parents in other flows: each is a search */

struct pipeline_parent {
    struct slice id;
    bool is_here;        /* the step of that position in this pipeline */
    uint32_t step;
    struct slice target; /* or: FLOW/JOB */
};

struct pipeline_step {
    struct slice id; /* as it was given */
    struct slice script, file; /* its text, and a name whose ending says what runs it */
    struct slice script_hash;  /* in place of the text: of a blob */
    struct slice args;         /* separated by blanks */
    struct slice requirement;
    int64_t priority; /* 1 is normal */
    int64_t delay_ms;
    bool affinity;
    struct slice hitl_message; /* empty = no gate behind it */
    int64_t hitl_ms;
    struct pipeline_parent *parents;
    uint32_t parent_count;
    struct slice name, titan_id; /* pipeline_link */
    struct slice gate_name, gate_id;
};

struct pipeline {
    struct slice name, run_id;
    bool is_single;
    struct pipeline_step *steps;
    uint32_t step_count;
};

/* From a list of jobs as MCP sends it; files that it names are read beside `path`. */
CHECKED enum err pipeline_read(struct tool_call *c, const struct json_node *jobs, struct slice path,
                               struct pipeline *ret, struct why *why);
/* From a whole pipeline file of Titan's. */
CHECKED enum err pipeline_read_file(struct tool_call *c, const struct json_node *root, struct slice path,
                                    struct pipeline *ret, struct why *why);
/* Gives names, and tells parents that are here from others. */
CHECKED enum err pipeline_link(struct tool_call *c, struct pipeline *p, struct why *why);
/* When everything about it is known. */
CHECKED enum err pipeline_flow(const struct pipeline *p, struct arena *arena, struct wire_flow *ret, struct why *why);

#endif
