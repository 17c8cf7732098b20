/* scope.h: what an expression or a template may look at, and simple paths into it: `jobs.extract.outputs.rows[0]`,
 * `params.day`, `item["first name"]`. A path is followed in the JSON texts themselves, without an evaluator.
 *
 * Parts of the scope become known one after the other, so whatever uses them has a *stage*: the earliest moment at
 * which it can be filled in. */
#ifndef REEVE_SCOPE_H
#define REEVE_SCOPE_H

#include "arena.h"
#include "err.h"
#include "slice.h"

struct limits; /* limit.h */
struct zone;   /* zone.h */

enum scope_stage {
    STAGE_SUBMIT, /* params: when the flow is read */
    STAGE_READY,  /* jobs, flow, schedule, trigger, and params that depend on these: when the parents are done */
    STAGE_CHILD,  /* item, index: when a child of a foreach job is handed out */
};

enum scope_root { ROOT_PARAMS, ROOT_JOBS, ROOT_FLOW, ROOT_SCHEDULE, ROOT_TRIGGER, ROOT_ITEM, ROOT_INDEX, ROOT_COUNT };
extern const char *const scope_root_words[ROOT_COUNT];
/* ROOT_COUNT: no root has that name. */
enum scope_root scope_root_of(struct slice word);
enum scope_stage scope_stage_of(enum scope_root root);

struct scope_job { /* a parent */
    struct slice name;
    struct slice state;   /* as people know it: succeeded */
    struct slice outputs; /* JSON; empty = it left none */
};

struct scope { /* JSON texts; an empty one is not there */
    struct slice params, flow, schedule, trigger, item;
    const struct zone *zone;  /* of the schedule; NULL = UTC */
    const struct slice *late; /* names of params that are not known before STAGE_READY */
    uint32_t late_count;
    struct slice output; /* of a poll, for expressions about it */
    uint32_t index; /* of the item */
    const struct scope_job *jobs;
    uint32_t job_count;
};

struct path_step { /* a field, or a place in a list */
    struct slice name;
    bool is_number;
    uint32_t number;
};

#define PATH_STEPS_MAX 32u

struct path {
    enum scope_root root;
    struct path_step steps[PATH_STEPS_MAX];
    uint32_t count;
};

/* Reads a whole text as a path. A name in it is whatever stands before the next `.`, `[` or the end. */
CHECKED enum err path_read(struct slice text, struct path *ret, struct why *why);

/* The JSON text at the path; of what is no JSON in the scope (a state, the index) one is made in the arena. A path that
 * leads nowhere is an error that says where it ends. */
CHECKED enum err scope_find(const struct scope *s, const struct path *path, const struct limits *limits,
                            struct arena *arena, struct slice *ret, struct why *why);

/* A JSON value as text: texts as they are, without their quotes; everything else as JSON. */
CHECKED enum err scope_text(struct slice json, const struct limits *limits, struct arena *arena, struct slice *ret,
                            struct why *why);

#endif
