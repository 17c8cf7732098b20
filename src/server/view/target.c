/* target.c: see target.h. */
#include "target.h"

#include <stdio.h>

#include "ids.h"
#include "job_token.h"

#define SCAN_MAX 65536u /* flows looked at for a beginning; more than these have it: say more */
#define MATCHES_SHOWN 4u

static bool is_visible(const struct session *n, const struct flow_view *v) {
    if (job_token_is_confined(n)) return v->id.v == n->job.job.flow.v;
    return n->who.tenant[0] == 0 || slice_eq(v->tenant, slice_str(n->who.tenant));
}

static bool exact_flow(struct server *s, const struct session *n, struct slice text, flow_id *ret) {
    uint32_t shard = 0;
    flow_id id;
    struct flow_view v;
    if (!flow_parse(text, &shard, &id) || shard != s->options.shard) return false;
    if (!view_flow(server_state(s), id, &v) || !is_visible(n, &v)) return false;
    *ret = id;
    return true;
}

/* A beginning of an id stands for a range of numbers: the length digit is there, the missing digits are free. So the
 * first is the id filled up with zeroes, the last with the highest digit. */
static bool range_of(struct slice text, uint64_t *ret_first, uint64_t *ret_last) {
    char full[FLOW_TEXT_BYTES];
    uint32_t shard;
    flow_id first, last;
    if (text.len < 3 || text.len >= FLOW_TEXT_BYTES) return false;
    memcpy(full, text.ptr, text.len);
    for (size_t len = text.len; len < FLOW_TEXT_BYTES; len++) {
        memset(full + text.len, '0', len - text.len);
        if (flow_parse(slice_of(full, len), &shard, &first) && shard == 0) {
            memset(full + text.len, 'z', len - text.len);
            if (!flow_parse(slice_of(full, len), &shard, &last)) return false;
            *ret_first = first.v;
            *ret_last = last.v;
            return true;
        }
    }
    return false;
}

bool target_numbers(struct server *s, struct slice text, uint64_t *ret_first, uint64_t *ret_last) {
    uint32_t shard = 0;
    flow_id id;
    if (!flow_parse(text, &shard, &id)) return range_of(text, ret_first, ret_last);
    *ret_first = *ret_last = id.v;
    return shard == s->options.shard;
}

struct matches {
    flow_id id[MATCHES_SHOWN + 1];
    uint32_t count;
};

static enum err refuse_matches(struct server *s, struct slice text, const struct matches *all, struct why *why) {
    char list[MATCHES_SHOWN * (FLOW_TEXT_BYTES + 2) + 1];
    size_t len = 0;
    for (uint32_t i = 0; i < all->count && i < MATCHES_SHOWN; i++) {
        char own[FLOW_TEXT_BYTES];
        flow_text(s->options.shard, all->id[i], own);
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", i > 0 ? ", " : "", own);
    }
    return why_set(why, ERR_INVALID, "several flows begin with %.*s: %s%s; type more of the id", SLICE_FMT(text), list,
                   all->count > MATCHES_SHOWN ? " and more" : "");
}

enum err target_flow(struct server *s, const struct session *n, struct slice text, flow_id *ret, struct why *why) {
    if (text.len == 0) return why_set(why, ERR_INVALID, "expected the id of a flow, like f13 or f3k9a");
    if (exact_flow(s, n, text, ret)) return ERR_OK;
    uint64_t first = 1, last = 0;
    struct matches all = {.count = 0};
    if (range_of(text, &first, &last)) {
        uint64_t end = view_flow_last(server_state(s));
        if (last > end) last = end;
        for (uint64_t id = first; id <= last && all.count <= MATCHES_SHOWN; id++) {
            struct flow_view v;
            if (id - first == SCAN_MAX)
                return why_set(why, ERR_INVALID, "many flows begin with %.*s: type more of the id", SLICE_FMT(text));
            if (view_flow(server_state(s), (flow_id){id}, &v) && is_visible(n, &v)) all.id[all.count++] = v.id;
        }
    }
    if (all.count == 0) return why_set(why, ERR_NOT_FOUND, "there is no flow %.*s", SLICE_FMT(text));
    if (all.count > 1) return refuse_matches(s, text, &all, why);
    *ret = all.id[0];
    return ERR_OK;
}

struct beginning {
    struct slice text;
    struct job_ref found;
    struct slice names[MATCHES_SHOWN];
    uint32_t count;
};

static void note_beginning(void *ctx, const struct job_view *job) {
    struct beginning *b = ctx;
    if (!slice_begins(job->name, b->text)) return;
    if (b->count < MATCHES_SHOWN) b->names[b->count] = job->name;
    if (b->count++ == 0) b->found = job->ref;
}

static enum err refuse_beginning(const struct beginning *b, struct why *why) {
    struct buf list;
    buf_init(&list, 4096);
    for (uint32_t i = 0; i < b->count && i < MATCHES_SHOWN; i++)
        buf_printf(&list, "%s%.*s", i > 0 ? ", " : "", SLICE_FMT(b->names[i]));
    (void)why_set(why, ERR_INVALID, "%u jobs begin with %.*s: %.*s%s; type more of the name", b->count,
                  SLICE_FMT(b->text), SLICE_FMT(buf_slice(&list)), b->count > MATCHES_SHOWN ? " and more" : "");
    buf_fini(&list);
    return ERR_INVALID;
}

static enum err job_in(struct server *s, flow_id flow, struct slice flow_text, struct slice name, struct job_ref *ret,
                       struct job_view *ret_seen, struct why *why) {
    struct beginning b = {.text = name};
    if (name.len == 0) return why_set(why, ERR_INVALID, "the name of a job is missing after the slash");
    if (view_job_by_name(server_state(s), flow, name, ret_seen)) {
        *ret = ret_seen->ref;
        return ERR_OK;
    }
    ret_seen->ref = (struct job_ref){0};
    view_each_job(server_state(s), flow, note_beginning, &b);
    if (b.count == 0)
        return why_set(why, ERR_NOT_FOUND, "flow %.*s has no job %.*s", SLICE_FMT(flow_text), SLICE_FMT(name));
    if (b.count > 1) return refuse_beginning(&b, why);
    *ret = b.found;
    return ERR_OK;
}

enum err target_worker(struct server *s, const struct session *n, struct slice id, struct worker_view *ret,
                       struct why *why) {
    struct worker_view v;
    uint32_t number = view_worker_by_id(server_state(s), id);
    bool found = number != 0 && view_worker(server_state(s), engine_live(server_shard(s)->engine), number, &v);
    bool sees_all = n->who.tenant[0] == 0 || (found && v.info->tenant.len == 0);
    if (!found || (!sees_all && !slice_eq(v.info->tenant, slice_str(n->who.tenant))))
        return why_set(why, ERR_NOT_FOUND, "there is no worker %.*s", SLICE_FMT(id));
    *ret = v;
    return ERR_OK;
}

bool target_service(struct server *s, const struct session *n, struct slice name, struct service_view *ret) {
    struct slice tenant = n->who.tenant[0] != 0 ? slice_str(n->who.tenant) : SLICE(TENANT_STANDARD);
    return !job_token_is_confined(n) && view_service(server_state(s), tenant, name, ret);
}

static bool is_set(struct server *s, const struct session *n, struct slice name) {
    struct slice tenant = n->who.tenant[0] != 0 ? slice_str(n->who.tenant) : SLICE(TENANT_STANDARD);
    struct service_view v;
    for (uint32_t number = 1; number <= REPLICAS_MAX && !job_token_is_confined(n); number++)
        if (view_replica(server_state(s), tenant, name, number, &v)) return true;
    return false;
}

enum err target_look(struct server *s, const struct session *n, struct slice text, struct target *ret,
                     struct job_view *ret_seen, struct why *why) {
    struct target t = {.whole = true};
    ret_seen->ref = (struct job_ref){0};
    const uint8_t *slash = text.len > 0 ? memchr(text.ptr, '/', text.len) : NULL;
    size_t flow_len = slash != NULL ? (size_t)(slash - text.ptr) : text.len;
    enum err e = target_flow(s, n, slice_of(text.ptr, flow_len), &t.job.flow, why);
    if (e == ERR_OK && slash != NULL) {
        t.whole = false;
        e = job_in(s, t.job.flow, slice_of(text.ptr, flow_len), slice_of(slash + 1, text.len - flow_len - 1), &t.job,
                   ret_seen, why);
    }
    struct service_view service;
    if (e == ERR_NOT_FOUND && slash == NULL && target_service(s, n, text, &service) && service.runner.flow.v != 0) {
        t = (struct target){.job = service.runner};
        e = ERR_OK;
    }
    if (e == ERR_NOT_FOUND && slash == NULL && is_set(s, n, text))
        return why_set(why, ERR_INVALID, "service %.*s has replicas: name one of them, like %.*s.1", SLICE_FMT(text),
                       SLICE_FMT(text));
    if (e == ERR_OK) *ret = t;
    return e;
}

enum err target_find(struct server *s, const struct session *n, struct slice text, struct target *ret,
                     struct why *why) {
    struct job_view unused;
    return target_look(s, n, text, ret, &unused, why);
}

enum err target_job(struct server *s, const struct session *n, struct slice text, struct job_view *ret,
                    struct why *why) {
    struct target t;
    struct flow_view flow;
    enum err e = target_find(s, n, text, &t, why);
    if (e != ERR_OK) return e;
    if (t.whole && view_flow(server_state(s), t.job.flow, &flow) && flow.job_count != 1)
        return why_set(why, ERR_INVALID, "%.*s is a flow of %u jobs: name one of them, like %.*s/NAME", SLICE_FMT(text),
                       flow.job_count, SLICE_FMT(text));
    if (!view_job(server_state(s), t.job, ret))
        return why_set(why, ERR_NOT_FOUND, "there is no job %.*s", SLICE_FMT(text));
    return ERR_OK;
}
