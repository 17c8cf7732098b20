/* crash_end.c: when nobody is killed any more, every flow comes to its end, the right one; its jobs ran as often and in
 * the order that was asked for; and what was to be gone by then is gone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash_impl.h"

#define RUNS_MAX 4000u /* of the jobs of a flow */
#define JOBS_MAX 3u
#define WAITED_S 0.05    /* a flow that takes so long was not over when it was asked for: there is progress */
#define EXPIRY_S_MAX 5.0 /* after its time, for a key to be gone */

/* ---- runs ---- */

struct runs {
    uint32_t begun[JOBS_MAX], ended[JOBS_MAX];
    uint8_t seen[JOBS_MAX][RUNS_MAX];
};

/* No attempt twice; no job more often than it may; and none twice when no worker died meanwhile, but for one that
 * fails and may be tried again. A join after both. */
static void begin_check(struct crash *c, const struct crash_item *flow, struct runs *r, unsigned job,
                        unsigned long attempt) {
    enum crash_shape shape = crash_shape(c, flow->number);
    uint32_t most = crash_attempts(c, flow->number);
    if (shape != CRASH_FAIL && !crash_worker_died_since(c, flow->round)) most = 1;
    bool again = r->seen[job][attempt] > 0 || r->begun[job] >= most;
    bool early = shape == CRASH_JOIN && job == 2 && (r->ended[0] == 0 || r->ended[1] == 0);
    c->jobs_run++;
    r->seen[job][attempt] = 1;
    r->begun[job]++;
    if (again || early) c->run_twice++;
    if (again) crash_tell(c, "run twice: job %c of flow %s, attempt %lu", (char)('a' + job), flow->id, attempt);
    if (early) crash_tell(c, "run too early: job c of flow %s, before a and b had ended", flow->id);
}

/* Notes of its runs: "a 1" when it began, "A 1" when it ended, one line each. */
static void runs_read(struct crash *c, const struct crash_item *flow, struct runs *r) {
    char path[BENCH_PATH_MAX + 40], line[32];
    snprintf(path, sizeof path, "%s/ran/%llu", c->lab.dir, (unsigned long long)flow->number);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        bool begins = line[0] >= 'a';
        unsigned job = (unsigned)(line[0] - (begins ? 'a' : 'A'));
        unsigned long attempt = strtoul(line + 1, NULL, 10);
        if (job >= JOBS_MAX || attempt >= RUNS_MAX) continue;
        if (begins)
            begin_check(c, flow, r, job, attempt);
        else
            r->ended[job]++;
    }
    if (f != NULL) fclose(f);
}

static void runs_check(struct crash *c, const struct crash_item *flow, bool succeeded) {
    static struct runs r; /* large; one at a time */
    memset(&r, 0, sizeof r);
    runs_read(c, flow, &r);
    bool never = false, fails = crash_shape(c, flow->number) == CRASH_FAIL;
    for (uint32_t i = 0; i < crash_jobs(c, flow->number); i++) never = never || r.ended[i] == 0;
    if (fails && r.begun[1] > 0) {
        c->run_twice++;
        crash_tell(c, "job b of flow %s ran, and the job before it had failed", flow->id);
    }
    if (!succeeded || !never) return;
    c->bad_ends++;
    crash_tell(c, "flow %s succeeded, and a job of it never ran to its end", flow->id);
}

/* ---- ends ---- */

/* What the server says about the first job of it that is not over. */
static void hung_tell(struct crash *c, const struct crash_item *flow) {
    char name[CRASH_ID_BYTES + 4], text[200] = "all of its jobs are over";
    struct client_frame got;
    struct why why;
    for (uint32_t i = 0; i < crash_jobs(c, flow->number); i++) {
        snprintf(name, sizeof name, "%s/%c", flow->id, (char)('a' + i));
        struct wire_why m = {slice_str(name)};
        if (client_ask(&c->lab.client, WIRE_WHY, &m, &got, &why) != ERR_OK || got.op != WIRE_REASON) continue;
        const struct wire_reason *r = got.message;
        if (slice_eq(r->state, SLICE("succeeded")) || slice_eq(r->state, SLICE("failed"))) continue;
        snprintf(text, sizeof text, "%.*s is %.*s: %.*s", SLICE_FMT(r->job), SLICE_FMT(r->state), SLICE_FMT(r->text));
        break;
    }
    crash_tell(c, "hangs: flow %s, acknowledged in round %u: %s", flow->id, flow->round + 1, text);
}

/* All have the same time: whoever has not ended when nothing has for so long hangs. */
static int64_t patience_left_ms(const struct crash *c, double last_end) {
    int64_t left = c->patience_ms - (int64_t)((bench_now() - last_end) * 1000);
    return left > 1 ? left : 1;
}

enum err crash_end_check(struct crash *c, struct crash_item *flow, double *last_end, struct why *why) {
    struct wire_name name = {slice_str(flow->id)};
    struct wire_wait m = {.targets = {&name, 1}, .timeout_ms = patience_left_ms(c, *last_end)};
    struct client_frame got;
    double begun = bench_now();
    client_forget(&c->lab.client);
    enum err e = client_ask(&c->lab.client, WIRE_WAIT, &m, &got, why);
    if (e != ERR_OK) return e;
    const struct wire_waited *w = got.message;
    const struct wire_job_view *over = w->over.at;
    if (w->over.count == 0) {
        c->hung++;
        hung_tell(c, flow);
        return ERR_OK;
    }
    if (c->hung == 0 || bench_now() - begun > WAITED_S) *last_end = bench_now();
    bool succeeded = slice_eq(over->state, SLICE("succeeded")), should = crash_succeeds(c, flow->number);
    bool may_fail = crash_attempts(c, flow->number) == 1 && crash_worker_died_since(c, flow->round);
    if (succeeded != should && !(should && may_fail)) {
        c->bad_ends++;
        crash_tell(c, "flow %s ended as %.*s without a cause", flow->id, SLICE_FMT(over->state));
    }
    if (!crash_is_work(c, flow->number)) return ERR_OK;
    runs_check(c, flow, succeeded);
    struct crash_item end = *flow;
    end.kind = CRASH_LOG;
    end.succeeded = succeeded;
    return crash_item_check(c, &end, why);
}

/* ---- what is to be gone ---- */

static enum err brief_count(struct crash *c, uint32_t *ret, struct why *why) {
    struct wire_kv_get m = {.prefix = SLICE(CRASH_BRIEF), .most = 1000};
    struct client_frame got;
    client_forget(&c->lab.client);
    enum err e = client_ask(&c->lab.client, WIRE_KV_GET, &m, &got, why);
    if (e == ERR_OK) *ret = ((const struct wire_kv_items *)got.message)->items.count;
    return e;
}

enum err crash_brief_check(struct crash *c, struct why *why) {
    uint32_t count = 0;
    double until = bench_now() + CRASH_SOON_MS / 1e3 + EXPIRY_S_MAX;
    enum err e = brief_count(c, &count, why);
    while (e == ERR_OK && count > 0 && bench_now() < until) {
        crash_pause_us(20000);
        e = brief_count(c, &count, why);
    }
    if (e != ERR_OK || count == 0) return e;
    c->bad_ends++;
    crash_tell(c, "%u keys are there after their time", count);
    return ERR_OK;
}
