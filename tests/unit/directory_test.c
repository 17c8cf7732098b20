/* directory_test.c: tokens, ended sessions and login links as the engine keeps them: what it refuses, what it makes
 * room for, and that a restart and a snapshot change nothing. */
#include <stdio.h>

#include "authlab.h"
#include "view_directory.h"

static const uint8_t hash_a[32] = {1}, hash_b[32] = {2}, hash_c[32] = {3};
static const uint8_t sealed[60] = {9};

static enum err ask(struct fixture *r, const struct cmd_identity *what) {
    struct command cmd = {.kind = CMD_IDENTITY};
    cmd.as.identity = *what;
    return fixture_command(r, &cmd);
}

static enum err begin(struct fixture *r) {
    static const struct rec_secret secrets[] = {{1, SECRET_DATA_KEY, {sealed, sizeof sealed}},
                                                {2, SECRET_HMAC, {sealed, sizeof sealed}}};
    struct cmd_identity c = {.op = IDENTITY_BEGIN, .log = 77, .secrets = secrets, .secret_count = 2};
    return ask(r, &c);
}

static struct rec_token_info info(const char *id, const uint8_t hash[32]) {
    return (struct rec_token_info){.id = slice_str(id),
                                   .hash = slice_of(hash, 32),
                                   .name = SLICE("ann"),
                                   .roles = 4,
                                   .kind = KIND_PERSON,
                                   .created_ms = 1};
}

static enum err set_token(struct fixture *r, struct rec_token_info t) {
    return ask(r, &(struct cmd_identity){.op = IDENTITY_TOKEN_SET, .tokens = &t, .token_count = 1});
}

static enum err add_ticket(struct fixture *r, uint32_t n, const char *who, int64_t expires_ms) {
    uint8_t hash[32] = {0};
    memcpy(hash, &n, sizeof n);
    return ask(
        r, &(struct cmd_identity){
               .op = IDENTITY_TICKET_ADD, .hash = slice_of(hash, 32), .who = slice_str(who), .expires_ms = expires_ms});
}

static enum err use_ticket(struct fixture *r, uint32_t n) {
    uint8_t hash[32] = {0};
    memcpy(hash, &n, sizeof n);
    return ask(r, &(struct cmd_identity){.op = IDENTITY_TICKET_USE, .hash = slice_of(hash, 32)});
}

static enum err log_out(struct fixture *r, const char *who, uint64_t number, int64_t expires_ms) {
    struct rec_session x = {slice_str(who), number, expires_ms};
    return ask(r, &(struct cmd_identity){.op = IDENTITY_SESSION_END, .sessions = &x, .session_count = 1});
}

static bool is_out(const struct fixture *r, const char *who, uint64_t number, int64_t expires_ms) {
    return view_session_has_ended(engine_state(r->engine), slice_str(who), number, expires_ms);
}

static void identity_begins_once(void **state) {
    struct fixture *r = *state;
    assert_refused(r, set_token(r, info("a", hash_a)), ERR_STATE, "has not begun");
    assert_ok(begin(r));
    assert_int_equal(view_log(engine_state(r->engine)), 77);
    assert_refused(r, begin(r), ERR_STATE, "has begun");
    fixture_crash(r);
    assert_refused(r, begin(r), ERR_STATE, "has begun");
}

static void a_token_is_found_by_hash_and_id(void **state) {
    struct fixture *r = *state;
    struct token_view t;
    assert_ok(begin(r));
    assert_ok(set_token(r, info("a", hash_a)));
    assert_refused(r, set_token(r, info("b", hash_a)), ERR_CONFLICT, "already");
    assert_true(view_token_by_hash(engine_state(r->engine), slice_of(hash_a, 32), &t));
    assert_true(slice_eq(t.id, SLICE("a")) && t.kind == KIND_PERSON && t.roles == 4);
    assert_ok(set_token(r, info("a", hash_b))); /* another text, the same token */
    fixture_crash(r);
    assert_false(view_token_by_hash(engine_state(r->engine), slice_of(hash_a, 32), &t));
    assert_true(view_token_by_hash(engine_state(r->engine), slice_of(hash_b, 32), &t));
    assert_true(view_token(engine_state(r->engine), SLICE("a"), &t));
    assert_int_equal(view_token_count(engine_state(r->engine)), 1);
    struct rec_token_info bad = info("c", hash_c);
    bad.kind = KIND_JOB;
    assert_refused(r, set_token(r, bad), ERR_INVALID, "a person, a service");
    bad = info("c", hash_c);
    bad.name = (struct slice){0};
    assert_refused(r, set_token(r, bad), ERR_INVALID, "must have a name");
}

static void a_login_link_is_good_once_and_soon(void **state) {
    struct fixture *r = *state;
    struct slice who;
    uint8_t hash[32] = {0};
    int64_t now = r->in.wall.ms;
    assert_ok(begin(r));
    assert_ok(add_ticket(r, 1, "ann", now + 100));
    memcpy(hash, &(uint32_t){1}, 4);
    assert_true(view_ticket(engine_state(r->engine), r->in.wall, slice_of(hash, 32), &who));
    assert_true(slice_eq(who, SLICE("ann")));
    fixture_crash(r);
    assert_ok(use_ticket(r, 1));
    assert_refused(r, use_ticket(r, 1), ERR_UNAUTHENTICATED, "already used");
    fixture_crash(r);
    assert_refused(r, use_ticket(r, 1), ERR_UNAUTHENTICATED, "already used");
    assert_ok(add_ticket(r, 2, "ann", r->in.wall.ms + 100));
    fixture_tick(r, 100);
    assert_refused(r, use_ticket(r, 2), ERR_UNAUTHENTICATED, "expired");
}

/* Who asks for many links voids its own. */
static void each_has_a_share_of_login_links(void **state) {
    struct fixture *r = *state;
    int64_t until = r->in.wall.ms + 1000000;
    uint32_t each = (uint32_t)r->limits.login_links_each, most = (uint32_t)r->limits.login_links_max;
    assert_ok(begin(r));
    assert_ok(add_ticket(r, 1, "admin", until));
    for (uint32_t i = 0; i < each + 1; i++) assert_ok(add_ticket(r, 100 + i, "viewer", until));
    assert_refused(r, use_ticket(r, 100), ERR_UNAUTHENTICATED, "already used"); /* its oldest made room */
    for (uint32_t i = 1; i <= each; i++) assert_ok(use_ticket(r, 100 + i));
    for (uint32_t i = 0; i < most; i++) { /* all places taken by others: the oldest of all goes */
        char who[16];
        snprintf(who, sizeof who, "u%u", i);
        assert_ok(add_ticket(r, 1000 + i, who, until));
    }
    assert_refused(r, use_ticket(r, 1), ERR_UNAUTHENTICATED, "already used");
    assert_ok(use_ticket(r, 1000));
}

/* There is room for so many. Then all sessions of the one who logs out end together, and nobody else's. */
static void many_that_log_out_are_kept_as_one(void **state) {
    struct fixture *r = *state;
    int64_t until = r->in.wall.ms + 1000000;
    uint64_t most = (uint64_t)r->limits.ended_sessions_max;
    assert_ok(begin(r));
    for (uint64_t i = 1; i <= most; i++) assert_ok(log_out(r, "uid:0", i, until));
    assert_false(is_out(r, "uid:0", most + 1, until));
    assert_refused(r, log_out(r, "uid:9", 1, until), ERR_LIMIT, "ended_sessions_max");
    assert_ok(log_out(r, "uid:0", most + 1, until + 100));
    assert_true(is_out(r, "uid:0", most + 2, until + 100));
    assert_false(is_out(r, "uid:0", 1, until + 101)); /* came in later */
    assert_false(is_out(r, "uid:7", 1, until));
    fixture_crash(r);
    assert_true(is_out(r, "uid:0", 5, until));
    fixture_tick(r, 2000000); /* what would be over by itself is kept no longer than to the next logout */
    assert_ok(log_out(r, "uid:1", 1, r->in.wall.ms + 5));
    assert_false(is_out(r, "uid:0", 5, until));
}

static void approval_is_for_people(void **state) {
    struct fixture *r = *state;
    const char *const jobs[] = {"only"};
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_APPROVAL);
    assert_ok(fixture_submit(r, &o, jobs, 1));
    struct job_ref job = {r->reply.flow, 0};
    for (uint8_t kind = KIND_SERVICE; kind < KIND_COUNT; kind++) {
        struct command cmd = {.kind = CMD_VERDICT, .tenant = slice_str(r->tenant), .caller = {.kind = kind}};
        cmd.as.verdict = fixture_answer(r, job, VERDICT_ALLOW);
        assert_refused(r, fixture_command(r, &cmd), ERR_FORBIDDEN, "only a person can approve");
    }
    struct command cmd = {.kind = CMD_VERDICT, .tenant = slice_str(r->tenant), .caller = {.kind = KIND_PERSON}};
    cmd.as.verdict = fixture_answer(r, job, VERDICT_ALLOW);
    assert_ok(fixture_command(r, &cmd));
    assert_ok(fixture_submit(r, &o, jobs, 1)); /* no is said by anyone with the role */
    job = (struct job_ref){r->reply.flow, 0};
    cmd = (struct command){.kind = CMD_VERDICT, .tenant = slice_str(r->tenant), .caller = {.kind = KIND_AGENT}};
    cmd.as.verdict = fixture_answer(r, job, VERDICT_DENY);
    assert_ok(fixture_command(r, &cmd));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(identity_begins_once),
        FIXTURE_TEST(a_token_is_found_by_hash_and_id),
        FIXTURE_TEST(a_login_link_is_good_once_and_soon),
        FIXTURE_TEST(each_has_a_share_of_login_links),
        FIXTURE_TEST(many_that_log_out_are_kept_as_one),
        FIXTURE_TEST(approval_is_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
