/* job_token.c: see job_token.h. */
#include "job_token.h"

#include <stdio.h>
#include <stdlib.h>

#include "hash.h"
#include "hmac_token.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"

#define NAME_SHOWN_MAX 100u

extern const uint8_t job_token_slot;

/* "rvj_FLOW.ORDINAL.ATTEMPT.FENCE." and the proof of that. */
static size_t write_it(struct server *s, const struct attempt_effect *a, char out[JOB_TOKEN_BYTES]) {
    int len = snprintf(out, JOB_TOKEN_BYTES, JOB_TOKEN_PREFIX "%llx.%x.%x.%llx.", (unsigned long long)a->job.flow.v,
                       a->job.ordinal, a->attempt, (unsigned long long)a->fence);
    return hmac_token_append(&s->auth, out, (size_t)len);
}

void job_token_make(struct server *s, const struct attempt_effect *a, char ret[JOB_TOKEN_BYTES]) {
    (void)write_it(s, a, ret);
}

uint8_t job_token_rights(const struct caller *c) {
    if (c->roles & (ROLE_BIT(ROLE_ADMIN) | ROLE_BIT(ROLE_OPERATOR) | ROLE_BIT(ROLE_SUBMITTER))) return TOKEN_RIGHTS_ALL;
    return c->roles & ROLE_BIT(ROLE_VIEWER) ? TOKEN_READ : 0;
}

bool job_token_is_confined(const struct session *n) {
    return n->job.job.flow.v != 0 && job_token_rights(&n->who) == 0;
}

static uint32_t roles_of(uint8_t rights) {
    uint32_t roles = ROLE_BIT(ROLE_JOB);
    if (rights & TOKEN_READ) roles |= ROLE_BIT(ROLE_VIEWER);
    if (rights & TOKEN_SUBMIT) roles |= ROLE_BIT(ROLE_SUBMITTER);
    return roles;
}

bool job_token_is_open(const struct server *s, const struct attempt_effect *a) {
    struct job_view job;
    return view_attempt(server_state(s), a, &job);
}

enum err job_token_check(struct server *s, struct slice text, struct caller *ret, struct attempt_effect *ret_job,
                         struct why *why) {
    char given[JOB_TOKEN_BYTES] = {0}, ours[JOB_TOKEN_BYTES];
    struct attempt_effect a = {0};
    unsigned long long flow = 0, fence = 0;
    struct job_view job;
    struct flow_view of;
    if (text.len >= sizeof given)
        return why_set(why, ERR_UNAUTHENTICATED, "invalid token; it may have expired or been revoked");
    memcpy(given, text.ptr, text.len);
    bool good =
        sscanf(given, JOB_TOKEN_PREFIX "%16llx.%8x.%8x.%16llx.", &flow, &a.job.ordinal, &a.attempt, &fence) == 4;
    a.job.flow.v = flow;
    a.fence = fence;
    if (!good || !hmac_token_is_same(text, ours, write_it(s, &a, ours)))
        return why_set(why, ERR_UNAUTHENTICATED, "invalid token; it may have expired or been revoked");
    /* Whether the attempt is still open is asked with each request. */
    if (!view_job(server_state(s), a.job, &job) || !view_flow(server_state(s), a.job.flow, &of))
        return why_set(why, ERR_UNAUTHENTICATED, "the attempt that this token belongs to has ended");
    arena_reset(&s->frame_arena);
    *ret = (struct caller){.roles = roles_of(job.options->token_rights), .kind = KIND_JOB};
    struct slice name = server_view_job_name(s, &job);
    if (name.len > NAME_SHOWN_MAX) name = server_view_flow_name(s, a.job.flow); /* not cut inside a letter */
    snprintf(ret->name, sizeof ret->name, "job:%.*s#%u", SLICE_FMT(name), a.attempt);
    snprintf(ret->tenant, sizeof ret->tenant, "%.*s", SLICE_FMT(of.tenant));
    *ret_job = a;
    return ERR_OK;
}

/* ---- sessions ---- */

static uint64_t key_of(struct job_ref job) {
    return hash_mix(job.flow.v ^ hash_mix(job.ordinal)) | 1;
}

void job_token_attend(struct server *s, struct session *n) {
    uint64_t key = key_of(n->job.job);
    if (n->job_key == key) return;
    job_token_leave(s, n);
    part_takes(server_shard(s), job_token_slot, EFFECT_EVENT, true);
    n->job_key = key;
    n->job_next = map_get(&s->sessions_by_job, key);
    map_put(&s->sessions_by_job, key, map_get(&s->session_by_conn, n->conn.v));
}

void job_token_leave(struct server *s, struct session *n) {
    if (n->job_key == 0) return;
    uint32_t own = map_get(&s->session_by_conn, n->conn.v), at = map_get(&s->sessions_by_job, n->job_key);
    if (at == own && n->job_next == 0) {
        map_del(&s->sessions_by_job, n->job_key);
    } else if (at == own) {
        map_put(&s->sessions_by_job, n->job_key, n->job_next);
    } else {
        struct session *before = pool_at(&s->sessions, at);
        while (before->job_next != own) before = pool_at(&s->sessions, before->job_next);
        before->job_next = n->job_next;
    }
    n->job_key = 0;
    n->job_next = 0;
}

static void effect(struct shard *h, void *own, const struct effect *given) {
    const struct event *e = &given->as.event;
    struct server *s = h->server;
    (void)own;
    part_takes(h, job_token_slot, EFFECT_EVENT, s->sessions_by_job.count > 0);
    if (s->sessions_by_job.count == 0 || e->kind != EVENT_JOB) return;
    if (!job_state_is_active(e->from) || job_state_is_active(e->to)) return;
    for (uint32_t i = map_get(&s->sessions_by_job, key_of(e->job)); i != 0;) {
        const struct session *n = pool_at(&s->sessions, i);
        *(conn_id *)vec_push(&s->jobs_ended) = n->conn;
        i = n->job_next;
    }
}

/* By some dialects a connection is whose request it has now: between two of them it is nobody's. */
static bool is_idle(const struct session *n) {
    return n->dialect != NULL && n->dialect->is_idle != NULL && n->dialect->is_idle(n);
}

static void released(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    for (uint32_t i = 0; i < s->jobs_ended.count; i++) {
        struct session *n = session_of(s, *(conn_id *)vec_at(&s->jobs_ended, i));
        if (n == NULL || n->job.job.flow.v == 0 || is_idle(n) || job_token_is_open(s, &n->job)) continue;
        session_refuse(s, n, 0, ERR_FORBIDDEN, "the attempt that this token belongs to has ended");
    }
    s->jobs_ended.count = 0;
}

const struct server_part job_token_part = {.name = "job_token",
                                           .scope = PART_OF_SERVER,
                                           .effects = EFFECT_BIT(EFFECT_EVENT),
                                           .effect = effect,
                                           .released = released};
