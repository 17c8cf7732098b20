/* longrun_test.c: many flows through one engine with a history behind it: memory is bounded by what is alive. */
#include "test.h"

#include <stdio.h>

#include "engine.h"
#include "limit.h"
#include "state.h"
#include "view.h"

#ifdef __SANITIZE_ADDRESS__
#define FLOWS 200000u /* each step costs ten times as much */
#else
#define FLOWS 1000000u
#endif
#define WARM 50000u /* flows after which nothing grows any more */
#define PER_ROUND 1000u
#define ROUND_MS 1000
#define KEPT_MS 10000 /* ten rounds of flows stay */
#define MEMOS 400u    /* results kept at most: of eight rounds */
#define FAILS 97u     /* one flow in so many leaves a dead letter */

struct lab {
    struct engine *engine;
    struct limits limits;
    struct inputs in;
    uint64_t token;
    struct attempt_effect assigned[PER_ROUND * 2];
    uint32_t assigned_count;
    size_t journal_bytes;
};

static void command(struct lab *r, struct command *cmd) {
    cmd->token = ++r->token;
    engine_command(r->engine, cmd);
}

static void flush(struct lab *r) {
    struct batch b;
    struct effect e;
    if (engine_batch(r->engine, &b)) {
        r->journal_bytes += b.records.len;
        engine_durable(r->engine, b.last_lsn);
    }
    while (engine_effect(r->engine, &e)) {
        if (e.kind == EFFECT_ANSWER) assert_int_equal(e.as.answer.reply->err, ERR_OK);
        if (e.kind != EFFECT_ASSIGN) continue;
        assert_true(r->assigned_count < PER_ROUND * 2);
        r->assigned[r->assigned_count++] = e.as.attempt;
    }
}

static void submit(struct lab *r, uint64_t n) {
    struct options o;
    options_default(&o);
    o.retries = 0;
    struct parent_ref parent = {.name = SLICE("a")};
    struct job_spec specs[2] = {{.name = SLICE("a"), .body = SLICE("echo one")},
                                {.name = SLICE("b"), .body = SLICE("echo two"), .parents = &parent, .parent_count = 1}};
    char key[24];
    uint8_t cache_key[32] = {0};
    static const uint8_t hash[32] = {1};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme"), .principal = SLICE("tester")};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, specs, 2, false};
    if (n % 10 == 0) { /* keys have an end of their own */
        int len = snprintf(key, sizeof key, "key-%llu", (unsigned long long)n);
        cmd.as.submit.key = slice_of(key, (size_t)len);
        cmd.as.submit.key_hash = slice_of(hash, 32);
        cmd.as.submit.key_ms = KEPT_MS;
    }
    if (n % 5 == 0) { /* results that others might use: those of three flows in four are used again */
        memcpy(cache_key, &(uint64_t){n / 20}, 8);
        specs[0].cache_key = slice_of(cache_key, 32);
    }
    command(r, &cmd);
}

static void finish_assigned(struct lab *r) {
    while (r->assigned_count) {
        uint32_t count = r->assigned_count;
        static struct attempt_effect list[PER_ROUND * 2];
        memcpy(list, r->assigned, count * sizeof list[0]);
        r->assigned_count = 0;
        engine_begin(r->engine, &r->in);
        for (uint32_t i = 0; i < count; i++) {
            bool fails = list[i].job.flow.v % FAILS == 0;
            struct command cmd = {.kind = CMD_DONE};
            cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                                  .incarnation = 1,
                                                  .job = list[i].job,
                                                  .attempt = list[i].attempt,
                                                  .outcome = fails ? OUTCOME_EXIT : OUTCOME_OK,
                                                  .exit_code = fails,
                                                  .result = SLICE("{\"rows\": 42}")};
            command(r, &cmd);
        }
        engine_finish(r->engine);
        flush(r);
    }
}

static void beat(struct lab *r, enum command_kind kind) {
    struct command cmd = {.kind = kind};
    if (kind == CMD_ATTACH)
        cmd.as.attach = (struct cmd_attach){.worker = SLICE("w"), .incarnation = 1, .info = {.slots = PER_ROUND}};
    else
        cmd.as.worker = (struct cmd_worker){.worker = SLICE("w"), .incarnation = 1, .credit = PER_ROUND};
    command(r, &cmd);
}

static void round_of_flows(struct lab *r, uint64_t first) {
    r->in.wall.ms += ROUND_MS;
    r->in.mono.ms += ROUND_MS;
    r->in.random += 77;
    engine_begin(r->engine, &r->in);
    beat(r, CMD_HEARTBEAT);
    for (uint64_t n = first; n < first + PER_ROUND; n++) submit(r, n);
    engine_finish(r->engine);
    flush(r);
    finish_assigned(r);
    struct command projected = {.kind = CMD_PROJECTED, .as.lsn = engine_durable_lsn(r->engine)};
    do {
        engine_begin(r->engine, &r->in);
        command(r, &projected);
        engine_finish(r->engine);
        flush(r);
    } while (engine_next_due(r->engine).ms <= r->in.wall.ms || engine_has_work(r->engine));
}

/* The most of each that was ever there at a time. */
#define HIGHS 7
static void highs(const struct state *s, uint32_t ret[HIGHS]) {
    const struct pool *pools[HIGHS] = {&s->flows,    &s->jobs,  &s->extras,   &s->keys,
                                       &s->profiles, &s->memos, &s->memo_jobs};
    for (int i = 0; i < HIGHS; i++) ret[i] = pools[i]->high;
}

static void memory_is_bounded_by_what_is_alive(void **state) {
    (void)state;
    static struct lab r;
    limits_default(&r.limits);
    r.limits.retention_ms = KEPT_MS;
    r.limits.dead_letter_ms = 2 * KEPT_MS;
    r.limits.worker_slots_max = PER_ROUND;
    r.limits.memo_ms = KEPT_MS;
    r.limits.memo_tenant_max = MEMOS;
    r.in = (struct inputs){{1700000000000}, {1000}, 42, UINT64_MAX, false, 0};
    r.engine = engine_new(0, &r.limits);
    engine_resume(r.engine, 1, SLICE("test"), &r.in);
    beat(&r, CMD_ATTACH);
    engine_finish(r.engine);
    flush(&r);
    uint64_t early = 0;
    uint32_t early_highs[HIGHS], late_highs[HIGHS];
    struct state_counts counts;
    for (uint64_t n = 0; n < FLOWS; n += PER_ROUND) {
        round_of_flows(&r, n);
        if (n + PER_ROUND == WARM) {
            view_counts(engine_state(r.engine), engine_live(r.engine), &counts);
            early = counts.bytes;
            highs(engine_state(r.engine), early_highs);
        }
    }
    view_counts(engine_state(r.engine), engine_live(r.engine), &counts);
    print_message(
        "# %u flows: %llu KiB when warm, %llu KiB at the end; %llu flows, %llu dead letters, %llu keys left; "
        "%zu MiB of journal\n",
        FLOWS, (unsigned long long)early / 1024, (unsigned long long)counts.bytes / 1024,
        (unsigned long long)counts.flows, (unsigned long long)counts.dead_letters, (unsigned long long)counts.keys,
        r.journal_bytes >> 20);
    assert_int_equal(engine_state(r.engine)->flow_last, FLOWS);
    assert_int_equal(counts.flows_running, 0);
    assert_in_range(counts.flows, 10 * PER_ROUND, 12 * PER_ROUND);
    assert_in_range(counts.keys, PER_ROUND - 100, PER_ROUND + 200);
    assert_int_equal(counts.memos, MEMOS);
    assert_in_range(counts.bytes * 100, early * 95, early * 105);
    highs(engine_state(r.engine), late_highs);
    for (int i = 0; i < HIGHS; i++)
        assert_in_range(late_highs[i], early_highs[i], early_highs[i] + early_highs[i] / 100);
    engine_free(r.engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_bounded_by_what_is_alive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
