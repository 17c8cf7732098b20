/* titan_keys.c: see titan_keys.h. Read off the state whenever someone asks, so there is nothing to keep in step. */
#include "titan_keys.h"

#include <stdio.h>

#include "base64.h"
#include "titan_flow.h"
#include "titan_view.h"
#include "view_store.h"

#define JOB_PREFIX "job:"
#define HOST "127.0.0.1" /* Titan's members are host:port; our workers dial in, and have a port by name only */

static bool is_own(const struct server *s, uint32_t tenant) {
    return titan_of(s)->options != NULL && tenant != 0 &&
           tenant == view_tenant_number(server_state(s), slice_str(titan_of(s)->options->tenant));
}

/* ---- one job ---- */

static void put_words(struct buf *b, const struct tlv_list *args) {
    const struct wire_arg *words = args->at;
    for (uint32_t i = 0; i < args->count; i++) {
        if (i > 0) buf_put_u8(b, ' ');
        buf_put_slice(b, words[i].text);
    }
}

static void put_file(struct buf *b, const struct wire_run *run, bool is_archive) {
    buf_put_u8(b, '|');
    buf_put_slice(b, run->script_name);
    if (!is_archive || run->entry.len == 0) return;
    buf_put_u8(b, '/');
    buf_put_slice(b, run->entry);
}

static void put_gate(struct buf *b, const struct job_view *job, const struct wire_run *run, struct slice id) {
    const struct wire_pair *labels = run->labels.at;
    buf_printf(b, "RUN_PAYLOAD|" TITAN_GATE_FILE "|");
    for (uint32_t i = 0; i < run->labels.count; i++)
        if (slice_eq(labels[i].key, SLICE(TITAN_GATE_LABEL))) buf_put_slice(b, labels[i].value);
    buf_printf(b, " %lld %.*s||" TITAN_GENERAL "|%.*s", (long long)(job->options->approval_ms / 1000),
               SLICE_FMT(run->message), SLICE_FMT(id));
}

/* As the master keeps it: what was sent, and the id behind it. A large script is a blob, and not in it. */
static void put_payload(struct server *s, struct buf *b, const struct job_view *job, struct slice id) {
    struct wire_run run;
    struct why ignored;
    if (tlv_decode(&wire_run_desc, job->body, TLV_SKIP_UNKNOWN, &s->frame_arena, &run, &ignored) != ERR_OK) return;
    if (job->options->kind == JOB_GATE) {
        put_gate(b, job, &run, id);
        return;
    }
    bool service = job->options->kind == JOB_SERVICE, archive = job->options->kind == JOB_ARCHIVE || run.is_archive;
    const struct name_item *requirement = job->options->demand.capabilities.at;
    buf_printf(b, "%s",
               archive   ? service ? "START_ARCHIVE_SERVICE" : "RUN_ARCHIVE"
               : service ? "DEPLOY_PAYLOAD"
                         : "RUN_PAYLOAD");
    put_file(b, &run, archive);
    if (archive || !service) {
        buf_put_u8(b, '|');
        put_words(b, &run.argv);
    }
    if (!archive) {
        buf_put_u8(b, '|');
        base64_put(b, run.script);
    }
    if (service) buf_printf(b, "|%u", run.port);
    buf_put_u8(b, '|');
    buf_put_slice(b, job->options->demand.capabilities.count > 0 ? requirement->name : SLICE(TITAN_GENERAL));
    buf_put_u8(b, '|');
    buf_put_slice(b, id);
}

static bool put_field(struct server *s, struct buf *b, struct slice field, const struct job_view *job,
                      struct slice id) {
    struct flow_view flow;
    struct worker_view worker;
    if (slice_eq(field, SLICE("status"))) {
        buf_printf(b, "%s", titan_status_word(s, job));
    } else if (slice_eq(field, SLICE("payload"))) {
        put_payload(s, b, job, id);
    } else if (slice_eq(field, SLICE("priority"))) {
        buf_printf(b, "%u", job->options->priority);
    } else if (slice_eq(field, SLICE("delay")) && view_flow(server_state(s), job->ref.flow, &flow)) {
        buf_printf(b, "%lld", (long long)(flow.created.ms + job->options->delay_ms));
    } else if (slice_eq(field, SLICE("worker")) && job->worker != 0 &&
               view_worker(server_state(s), engine_live(server_shard(s)->engine), job->worker, &worker)) {
        buf_printf(b, "%u", titan_port_of(&worker));
    } else if (slice_eq(field, SLICE("result")) && job->result.len > 0) {
        buf_put_slice(b, job->result);
    } else {
        return false;
    }
    return true;
}

bool titan_key_get(struct server *s, uint32_t tenant, struct slice key, struct buf *ret) {
    size_t prefix = sizeof JOB_PREFIX - 1, colon = key.len;
    struct titan_entry entry;
    struct job_view job;
    if (!is_own(s, tenant) || key.len < prefix || memcmp(key.ptr, JOB_PREFIX, prefix) != 0) return false;
    while (colon > prefix && key.ptr[colon - 1] != ':') colon--;
    if (colon <= prefix) return false;
    struct slice id = slice_of(key.ptr + prefix, colon - 1 - prefix);
    arena_reset(&s->frame_arena);
    if (!titan_book_find(s, id, &entry) || !view_job(server_state(s), entry.job, &job)) return false;
    return put_field(s, ret, slice_of(key.ptr + colon, key.len - colon), &job, bytes_slice(entry.id));
}

/* ---- sets ---- */

struct member_walk {
    struct server *s;
    bool (*each)(void *arg, struct slice member);
    void *arg;
    bool over;
};

static void one_worker(void *ctx, const struct worker_view *w) {
    struct member_walk *m = ctx;
    char text[32];
    if (m->over || !w->attached || !titan_serves(m->s, w)) return;
    snprintf(text, sizeof text, HOST ":%u", titan_port_of(w));
    m->over = !m->each(m->arg, slice_str(text));
}

static void active_jobs(struct member_walk *m) {
    const struct vec *entries = &titan_book_of(m->s)->entries;
    struct titan_entry newest;
    struct job_view job;
    titan_book_update(m->s);
    for (uint32_t i = 0; i < entries->count && !m->over; i++) {
        const struct titan_entry *e = vec_at(entries, i);
        if (!view_job(server_state(m->s), e->job, &job) || job_state_is_terminal(job.state)) continue;
        bool is_newest = titan_book_find(m->s, bytes_slice(e->id), &newest) && newest.id == e->id;
        if (is_newest) m->over = !m->each(m->arg, bytes_slice(e->id)); /* a set has each member once */
    }
}

bool titan_key_members(struct server *s, uint32_t tenant, struct slice key,
                       bool (*each)(void *arg, struct slice member), void *arg) {
    struct member_walk m = {.s = s, .each = each, .arg = arg};
    if (!is_own(s, tenant)) return false;
    arena_reset(&s->frame_arena);
    if (slice_eq(key, SLICE("system:active_jobs")))
        active_jobs(&m);
    else if (slice_eq(key, SLICE("system:live_workers")))
        view_each_worker(server_state(s), engine_live(server_shard(s)->engine), one_worker, &m);
    else
        return false;
    return true;
}
