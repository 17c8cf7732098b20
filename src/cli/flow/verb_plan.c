/* verb_plan.c: `reeve plan`: what a flow file would be if it was submitted now (mcp/flow_plan.h). The server judges it
 * like a submit and does nothing; nothing is uploaded. */
#include <stdio.h>

#include "flow_plan.h"
#include "out.h"
#include "verbs.h"

#define WORKERS_MAX 1000u
#define CELL_BYTES 1024u

static void put_invalid(struct cli *c, struct slice problem) {
    c->exit_code = EXIT_ENDED_BADLY;
    if (!c->json) {
        out_say(stderr, "reeve plan: the flow would be refused: %.*s", SLICE_FMT(problem));
        return;
    }
    struct out_object o;
    out_object_begin(&o);
    flow_plan_put_invalid(problem, &o.json);
    out_object_end(&o);
}

/* Refused in words: that is the plan. Anything else is an error of this program's. */
static enum err judge(struct cli *c, const struct wire_flow *flow, bool *ret_valid) {
    struct client_frame f;
    struct wire_flow first = *flow;
    struct wire_submit m = {{&first, 1}};
    first.check = true;
    first.part = flow_first_part(c, flow);
    first.part.more = false; /* nothing follows */
    enum err e = client_ask(&c->client, WIRE_SUBMIT, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_submitted *got = f.message;
    const struct wire_submitted_flow *one = got->flows.at;
    if (f.op != WIRE_SUBMITTED || got->flows.count != 1)
        return cli_refuse(c, ERR_UNSUPPORTED, "unexpected answer from the server");
    *ret_valid = one->code.len == 0;
    if (!*ret_valid) put_invalid(c, one->message);
    return ERR_OK;
}

/* ---- for people ---- */

static void put_needs(struct out_table *t, const struct flow_plan *p, uint32_t at) {
    const struct wire_job *jobs = p->flow->part.jobs.at, *job = &jobs[at];
    const struct wire_name *elsewhere = job->parent_names.at;
    struct buf b;
    buf_init(&b, CELL_BYTES);
    for (uint32_t i = 0; i < job->parents.count; i++)
        buf_printf(&b, "%s%.*s", b.len > 0 ? ", " : "", SLICE_FMT(jobs[job->parents.at[i]].name));
    for (uint32_t i = 0; i < job->parent_names.count; i++)
        buf_printf(&b, "%s%.*s", b.len > 0 ? ", " : "", SLICE_FMT(elsewhere[i].name));
    out_slice(t, OUT_PLAIN, buf_slice(&b));
    buf_fini(&b);
}

static void put_job(struct out_table *t, const struct flow_plan *p, uint32_t at) {
    const struct wire_job *job = (const struct wire_job *)p->flow->part.jobs.at + at;
    const struct wire_options *o = (const struct wire_options *)p->flow->part.options.at + job->options;
    const struct flow_plan_job *own = &p->jobs[at];
    struct buf waits;
    out_cell(t, OUT_GREY, "%u", own->stage + 1);
    out_slice(t, OUT_BOLD, job->name);
    out_cell(t, OUT_PLAIN, "%s", job_kind_words[o->kind]);
    put_needs(t, p, at);
    if (!own->needs_worker)
        out_cell(t, OUT_GREY, "-");
    else if (own->fit_count == 0)
        out_cell(t, OUT_RED, "none");
    else if (own->fit_count == 1)
        out_slice(t, OUT_PLAIN, own->fit);
    else
        out_cell(t, OUT_PLAIN, "%.*s and %u more", SLICE_FMT(own->fit), own->fit_count - 1);
    buf_init(&waits, CELL_BYTES);
    for (uint32_t i = 0; i < own->wait_count; i++)
        buf_printf(&waits, "%s%.*s", i > 0 ? "; " : "", SLICE_FMT(own->waits[i]));
    out_slice(t, OUT_PLAIN, buf_slice(&waits));
    buf_fini(&waits);
}

static void say_stuck(const struct flow_plan *p, uint32_t at) {
    const struct wire_job *job = (const struct wire_job *)p->flow->part.jobs.at + at;
    const struct flow_plan_job *own = &p->jobs[at];
    struct buf b;
    if (!own->needs_worker || own->fit_count > 0) return;
    buf_init(&b, CELL_BYTES);
    buf_printf(&b, "%.*s would wait: ", SLICE_FMT(job->name));
    if (own->near.len == 0)
        buf_printf(&b, "no worker is attached");
    else
        buf_printf(&b, "no attached worker can run it; %.*s comes nearest and lacks ", SLICE_FMT(own->near));
    for (uint32_t i = 0; i < own->lack_count; i++)
        buf_printf(&b, "%s%.*s", i > 0 ? "; " : "", SLICE_FMT(own->lacks[i]));
    out_say(stdout, "%.*s", (int)b.len, (const char *)b.at);
    buf_fini(&b);
}

static void print(struct cli *c, const struct flow_plan *p) {
    static const char *const heads[] = {"STAGE", "JOB", "KIND", "NEEDS", "WORKER", "WAITS FOR"};
    struct out_table t;
    uint32_t count = p->flow->part.jobs.count;
    out_say(stdout, "%.*s%s%u job%s in %u stage%s; %u worker%s attached", SLICE_FMT(p->flow->name),
            p->flow->name.len > 0 ? ": " : "", count, count == 1 ? "" : "s", p->stage_count,
            p->stage_count == 1 ? "" : "s", p->attached, p->attached == 1 ? "" : "s");
    out_table_init(&t, c, 6, heads);
    for (uint32_t i = 0; i < count; i++) put_job(&t, p, i);
    out_table_end(&t);
    if (p->stuck > 0) printf("\n");
    for (uint32_t i = 0; i < count; i++) say_stuck(p, i);
}

enum err verb_plan(struct cli *c) {
    struct wire_flow flow;
    struct spec_schedule schedule;
    struct flow_plan plan;
    struct client_frame f;
    struct wire_list list = {.what = WIRE_LIST_WORKERS, .most = WORKERS_MAX};
    bool valid = false;
    enum err e = verb_flow_file_read(c, c->args[0], FLOW_ASKED, &flow, &schedule);
    if (e != ERR_OK && err_exit_code(e) == err_exit_code(ERR_INVALID)) {
        put_invalid(c, slice_str(c->why->text));
        return ERR_OK;
    }
    if (e == ERR_OK) e = judge(c, &flow, &valid);
    if (e != ERR_OK || !valid) return e;
    e = client_ask(&c->client, WIRE_LIST, &list, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_listed *workers = f.message;
    flow_plan_make(&plan, &flow, &workers->workers, c->world->clock->wall(c->world->clock).ms, &c->arena);
    if (plan.stuck > 0) c->exit_code = EXIT_ENDED_BADLY;
    if (!c->json) {
        print(c, &plan);
        return ERR_OK;
    }
    struct out_object o;
    out_object_begin(&o);
    flow_plan_put(&plan, UINT32_MAX, &o.json);
    out_object_end(&o);
    return ERR_OK;
}
