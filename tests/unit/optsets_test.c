/* optsets_test.c: option sets that were checked before: what is remembered, and what is checked all the same. */
#include <stdio.h>

#include "engine_fixture.h"
#include "flow.h"
#include "hash.h"
#include "option_cache.h"

#define OTHER_SLOTS 1000u

static enum err submit_as(struct fixture *r, const char *tenant, const char *key, const struct options *o,
                          const struct job_spec *spec) {
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(tenant)};
    struct slice keys[] = {slice_str(key)};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 1, spec, 1, false};
    cmd.as.submit.set_keys = keys;
    return fixture_command(r, &cmd);
}

static enum err submit(struct fixture *r, const char *tenant, const char *key, const struct options *o) {
    return submit_as(r, tenant, key, o, &(struct job_spec){.name = SLICE("a"), .body = SLICE("body")});
}

/* Until it is known. */
static void learn(struct fixture *r, const char *key, const struct options *o) {
    assert_null(engine_set(r->engine, slice_str(key)));
    for (int i = 0; i < 2; i++) assert_ok(submit(r, "teacher", key, o));
    assert_non_null(engine_set(r->engine, slice_str(key)));
}

static const struct options *recorded(const struct fixture *r, uint64_t flow) {
    const struct state *s = engine_state(r->engine);
    return job_options(s, job_at(s, job_find(s, (struct job_ref){{flow}, 0})));
}

static enum err limit(struct fixture *r, const char *tenant, uint64_t queued) {
    struct command cmd = {.kind = CMD_LIMIT};
    cmd.as.limit =
        (struct cmd_limit){.tenant = slice_str(tenant), .kind = LIMIT_TENANT, .queued = queued, .clear = queued == 0};
    return fixture_command(r, &cmd);
}

static struct options rich_options(void) {
    static struct name_item capabilities[] = {{SLICE("zip")}, {SLICE("gpu")}};
    static struct label labels[] = {{SLICE("disk"), SLICE("fast")}};
    static uint32_t fatal[] = {3, 4};
    struct options o = fixture_options();
    o.demand.capabilities = (struct tlv_list){capabilities, 2};
    o.demand.labels = (struct tlv_list){labels, 1};
    o.fatal_exits = (struct tlv_u32s){fatal, 2};
    o.preferred_pool = SLICE("west");
    return o;
}

static void a_set_that_comes_twice_is_known_and_recorded_the_same(void **state) {
    struct fixture *r = *state;
    struct options o = rich_options();
    assert_ok(submit(r, "acme", "K", &o));
    struct slice first = recorded(r, r->reply.flow.v)->raw;
    assert_null(engine_set(r->engine, SLICE("K")));
    assert_ok(submit(r, "acme", "K", &o));
    const struct options *known = engine_set(r->engine, SLICE("K"));
    assert_non_null(known);
    assert_true(slice_eq(((struct name_item *)known->demand.capabilities.at)[0].name, SLICE("zip"))); /* as given */
    assert_ok(submit(r, "acme", "K", known));
    const struct options *third = recorded(r, r->reply.flow.v);
    assert_true(first.len > 0 && slice_eq(third->raw, first));
    assert_true(slice_eq(((struct name_item *)third->demand.capabilities.at)[0].name, SLICE("gpu"))); /* in order */
    assert_int_equal(third->prefer_ms, r->limits.lease_ms);
    fixture_check_digests(r);
}

static void limits_of_two_tenants_bind_the_same_set(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    learn(r, "K", &o);
    assert_ok(limit(r, "small", 1));
    assert_ok(submit(r, "small", "K", &o));
    assert_refused(r, submit(r, "small", "K", &o), ERR_BUSY, "its limit is");
    for (int i = 0; i < 3; i++) assert_ok(submit(r, "large", "K", &o));
    assert_ok(limit(r, "small", 2)); /* a limit that changes binds the next one */
    assert_ok(submit(r, "small", "K", &o));
    assert_refused(r, submit(r, "small", "K", &o), ERR_BUSY, "its limit is");
    assert_ok(limit(r, "small", 0));
    assert_ok(submit(r, "small", "K", &o));
    assert_ok(limit(r, "large", 1));
    assert_refused(r, submit(r, "large", "K", &o), ERR_BUSY, "its limit is");
}

static void jobs_of_a_known_set_are_checked(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    learn(r, "K", &o);
    assert_refused(r, submit_as(r, "acme", "K", &o, &(struct job_spec){.name = SLICE("a\nb")}), ERR_INVALID, "byte 1");
    assert_refused(r, submit_as(r, "acme", "K", &o, &(struct job_spec){.name = SLICE("a"), .profile = 1}), ERR_INVALID,
                   "options");
    r->in.journal_free_bytes = 1000;
    assert_refused(r, submit(r, "acme", "K", &o), ERR_NO_SPACE, "the disk is too full");
}

static void times_are_never_known(void **state) {
    struct fixture *r = *state;
    struct options late = fixture_options(), delayed = fixture_options();
    late.deadline_ms = r->in.wall.ms + 1000;
    delayed.delay_from_submit = true;
    delayed.delay_ms = 5000;
    for (int i = 0; i < 3; i++) {
        assert_ok(submit(r, "acme", "late", &late));
        assert_ok(submit(r, "acme", "delayed", &delayed));
        assert_int_equal(recorded(r, r->reply.flow.v)->not_before_ms, r->in.wall.ms + 5000);
        fixture_tick(r, 100);
    }
    assert_null(engine_set(r->engine, SLICE("late")));
    assert_null(engine_set(r->engine, SLICE("delayed")));
    fixture_tick(r, 1000);
    assert_refused(r, submit(r, "acme", "late", &late), ERR_INVALID, "already passed");
}

static void questions_are_never_known(void **state) {
    struct fixture *r = *state;
    static uint8_t hash[32] = {1};
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_APPROVAL);
    struct job_spec asked = {.name = SLICE("a"), .body = SLICE("body"), .body_hash = {hash, 32}};
    for (int i = 0; i < 3; i++) assert_ok(submit_as(r, "acme", "K", &o, &asked));
    assert_null(engine_set(r->engine, SLICE("K")));
    assert_refused(r, submit(r, "acme", "K", &o), ERR_INVALID, "no hash");
}

static void a_refused_set_is_not_known(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = (uint32_t)r->limits.retries_max + 1;
    for (int i = 0; i < 3; i++) assert_refused(r, submit(r, "acme", "K", &o), ERR_LIMIT, "retries_max");
    assert_null(engine_set(r->engine, SLICE("K")));
}

static void a_restart_and_a_snapshot_know_nothing(void **state) {
    struct fixture *r = *state;
    struct options o = rich_options();
    learn(r, "K", &o);
    assert_ok(submit(r, "acme", "K", &o));
    struct engine *loaded = fixture_reload(r); /* whose digest is the same */
    assert_null(engine_set(loaded, SLICE("K")));
    engine_free(loaded);
    fixture_crash(r);
    assert_null(engine_set(r->engine, SLICE("K")));
    assert_ok(submit(r, "acme", "K", &o));
    assert_ok(limit(r, "acme", 1));
    assert_refused(r, submit(r, "acme", "K", &o), ERR_BUSY, "its limit is");
    fixture_check_digests(r);
}

/* What is made from a known set differs from it, and is not written as its bytes. */
static void a_compensation_has_options_of_its_own(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    learn(r, "K", &o);
    struct job_spec spec = {.name = SLICE("a"), .body = SLICE("b"), .undo_profile = 1, .undo_body = SLICE("u")};
    assert_ok(submit_as(r, "acme", "K", &o, &spec));
    const struct state *s = engine_state(r->engine);
    const struct job *j = job_at(s, job_find(s, (struct job_ref){r->reply.flow, 0}));
    assert_int_equal(job_options(s, j)->priority, o.priority);
    const struct options *undo = &profile_at(s, extra_at(s, j->extra)->undo_profile)->options;
    assert_int_equal(undo->priority, r->limits.priority_max + 1);
    fixture_check_digests(r);
}

static void keys_are_compared_and_slots_shared(void **state) {
    (void)state;
    struct option_cache sets = {0};
    struct options o;
    char text[16];
    options_default(&o);
    option_cache_keep(&sets, SLICE("key"), &o, &o);
    const struct cached_options *kept = option_cache_find(&sets, SLICE("key"));
    assert_non_null(kept);
    uint32_t others = 0;
    for (uint32_t i = 0; i < OTHER_SLOTS; i++) { /* some of them share its slot */
        snprintf(text, sizeof text, "%u", i);
        assert_null(option_cache_find(&sets, slice_str(text)));
        struct cached_options *same = (struct cached_options *)(uintptr_t)kept;
        uint64_t own = same->hash;
        same->hash = hash64(text, strlen(text), 0); /* as if the hashes were equal */
        assert_null(option_cache_find(&sets, slice_str(text)));
        same->hash = own;
    }
    for (uint32_t i = 0; i < OTHER_SLOTS && option_cache_find(&sets, SLICE("key")) != NULL; i++, others++) {
        snprintf(text, sizeof text, "%u", i);
        option_cache_keep(&sets, slice_str(text), &o, &o);
        assert_non_null(option_cache_find(&sets, slice_str(text)));
    }
    assert_true(others < OTHER_SLOTS); /* one of them took its place */
    option_cache_fini(&sets);
}

/* A key whose set takes the place of `of`. */
static void key_beside(const char *of, char ret[16]) {
    uint64_t slot = hash64(of, strlen(of), 0) % OPTION_CACHE_MAX;
    uint32_t i = 0;
    do snprintf(ret, 16, "%u", i++);
    while (hash64(ret, strlen(ret), 0) % OPTION_CACHE_MAX != slot);
}

/* A set that loses its place to another one of the same submit is used by that submit all the same. */
static void a_set_is_there_as_long_as_its_command(void **state) {
    struct fixture *r = *state;
    struct options rich = rich_options(), plain = fixture_options();
    char other[16];
    key_beside("K", other);
    learn(r, "K", &rich);
    struct slice bytes = recorded(r, r->reply.flow.v)->raw;
    assert_ok(submit(r, "acme", other, &plain));
    const struct options *known = engine_set(r->engine, SLICE("K"));
    const struct options sets[] = {*known, plain, *known};
    const struct slice keys[] = {SLICE("K"), slice_str(other), SLICE("K")};
    const struct job_spec jobs[] = {
        {.name = SLICE("a")}, {.name = SLICE("b"), .profile = 1}, {.name = SLICE("c"), .profile = 2}};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){sets, 3, jobs, 3, false};
    cmd.as.submit.set_keys = keys;
    assert_ok(fixture_command(r, &cmd));
    assert_non_null(engine_set(r->engine, slice_str(other)));
    assert_true(slice_eq(recorded(r, r->reply.flow.v)->raw, bytes));
    fixture_check_digests(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_set_that_comes_twice_is_known_and_recorded_the_same),
        FIXTURE_TEST(limits_of_two_tenants_bind_the_same_set),
        FIXTURE_TEST(jobs_of_a_known_set_are_checked),
        FIXTURE_TEST(times_are_never_known),
        FIXTURE_TEST(questions_are_never_known),
        FIXTURE_TEST(a_refused_set_is_not_known),
        FIXTURE_TEST(a_restart_and_a_snapshot_know_nothing),
        FIXTURE_TEST(a_compensation_has_options_of_its_own),
        FIXTURE_TEST(a_set_is_there_as_long_as_its_command),
        cmocka_unit_test(keys_are_compared_and_slots_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
