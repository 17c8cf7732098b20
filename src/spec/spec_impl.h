/* spec_impl.h: what the files of spec/ share. */
#ifndef REEVE_SPEC_IMPL_H
#define REEVE_SPEC_IMPL_H

#include "map.h"
#include "spec_keys.h"
#include "vec.h"

/* wire_options.gates: bits, in the order of the questions. */
#define GATE_BIT_CONDITION 1u
#define GATE_BIT_RENDER 2u
#define GATE_BIT_APPROVAL 8u
#define GATE_BIT_EXPANSION 64u

struct spec {
    const struct spec_input *in;
    struct arena *arena;
    struct why *why;
    struct spec_param *params;
    uint32_t param_count;
    struct spec_flow flow;
    struct spec_job defaults;
    struct spec_job *jobs;
    uint32_t job_count;
    struct index names; /* of jobs: position + 1 */
};

struct spec_scalar { /* a plain value after its parameters were filled in */
    uint8_t kind;    /* enum json_kind: JSON_TEXT, JSON_NUMBER, JSON_BOOL */
    bool truth;
    struct slice text;
};

/* Sets `file:line:column: …` and returns `e`. */
enum err spec_refuse(struct spec *s, uint32_t at, enum err e, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* spec_read.c: objects by their tables, plain values by their types. */
CHECKED enum err spec_object_read(struct spec *s, const struct spec_object *o, const struct json_node *node,
                                  unsigned where, void *ret);
CHECKED enum err spec_scalar(struct spec *s, const struct json_node *node, const char *wanted,
                             struct spec_scalar *ret);
CHECKED enum err spec_text(struct spec *s, const struct json_node *node, const char *wanted, struct slice *ret);
CHECKED enum err spec_names(struct spec *s, const struct json_node *node, struct tlv_list *ret);
CHECKED enum err spec_args(struct spec *s, const struct json_node *node, struct tlv_list *ret);
void *spec_alloc(struct spec *s, size_t bytes); /* NULL: the arena is full */
enum err spec_full(struct spec *s);             /* says so */

/* spec_params.c */
CHECKED enum err spec_params_read(struct spec *s);
CHECKED enum err spec_fill(struct spec *s, const struct json_node *node, struct spec_scalar *ret);
/* Which `${…}` of the later kinds a text holds. */
enum spec_template { TEMPLATE_NONE = 0, TEMPLATE_JOBS = 1, TEMPLATE_ITEM = 2 };

/* spec_job.c: one job, as far as it does not concern others. */
CHECKED enum err spec_job_read(struct spec *s, const struct json_node *node, unsigned where, struct spec_job *job);
bool spec_is_pattern(struct slice path); /* of an artifact: it may fit several files */
CHECKED enum err spec_job_finish(struct spec *s, struct spec_job *job, bool is_undo);

/* spec_schedule.c: but for its name, left as it is when the flow has none. */
CHECKED enum err spec_schedule_read(struct spec *s, struct spec_schedule *ret);

/* spec_graph.c: names, needs, phases, order; fills the jobs of the flow. */
CHECKED enum err spec_graph(struct spec *s, struct wire_jobs *ret);

#endif
