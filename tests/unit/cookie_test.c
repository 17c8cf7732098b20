/* cookie_test.c: sessions of browsers, and the tickets that begin them. */
#include "test.h"

#include <stdio.h>

#include "login_ticket.h"
#include "osclock.h"
#include "osdigest.h"
#include "session_revocation.h"
#include "tmpdisk.h"

static struct tmpdisk disk;
static struct auth auth;
static struct why why;
static const wall_time now = {1000000};

static int setup(void **state) {
    (void)state;
    bool first = false;
    tmpdisk_make(&disk);
    return auth_open(&auth, disk.disk, osclock(), osdigest(), &first, &why) == ERR_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    auth_close(&auth);
    tmpdisk_remove(&disk);
    return 0;
}

static void a_cookie_says_who_and_until_when(void **state) {
    (void)state;
    struct cookie c = {.who = "0123456789a", .expires_ms = now.ms + 5, .number = 99}, got;
    char text[COOKIE_BYTES];
    cookie_make(&auth, &c, text);
    assert_int_equal(cookie_read(&auth, slice_str(text), now, &got, &why), ERR_OK);
    assert_string_equal(got.who, c.who);
    assert_int_equal(got.expires_ms, c.expires_ms);
    assert_int_equal(got.number, 99);
    assert_int_equal(cookie_read(&auth, slice_str(text), (wall_time){now.ms + 5}, &got, &why), ERR_UNAUTHENTICATED);
    assert_int_equal(cookie_read(&auth, (struct slice){0}, now, &got, &why), ERR_UNAUTHENTICATED);
    for (size_t i = 0; text[i] != 0; i++) {
        char bad[COOKIE_BYTES];
        memcpy(bad, text, sizeof bad);
        bad[i] ^= 1;
        assert_int_equal(cookie_read(&auth, slice_str(bad), now, &got, &why), ERR_UNAUTHENTICATED);
        assert_int_equal(cookie_read(&auth, slice_of(text, i), now, &got, &why), ERR_UNAUTHENTICATED);
    }
}

static void what_pages_show_is_another_text(void **state) {
    (void)state;
    struct cookie a = {.who = "a", .expires_ms = 5, .number = 1}, b = {.who = "a", .expires_ms = 5, .number = 2};
    char one[COOKIE_CSRF_BYTES], two[COOKIE_CSRF_BYTES], text[COOKIE_BYTES];
    cookie_csrf(&auth, &a, one);
    cookie_csrf(&auth, &b, two);
    assert_string_not_equal(one, two);
    cookie_make(&auth, &a, text);
    assert_null(strstr(text, one)); /* who has seen the one does not know the other */
    struct http_header header = {SLICE("Reeve-CSRF"), slice_str(one)};
    struct http_request r = {.headers = &header, .header_count = 1, .names = UINT64_MAX};
    assert_true(cookie_csrf_is_shown(&auth, &a, &r));
    assert_false(cookie_csrf_is_shown(&auth, &b, &r));
    r.header_count = 0;
    assert_false(cookie_csrf_is_shown(&auth, &a, &r));
    char list[200]; /* of a WebSocket */
    static const char *const lists[][2] = {
        {"reeve, csrf.", ""}, {"csrf.", ",reeve"}, {"csrf.", ""}, {"reeve,  csrf.", ""}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        snprintf(list, sizeof list, "%s%s%s", lists[i][0], one, lists[i][1]);
        struct http_header protocol = {SLICE("Sec-WebSocket-Protocol"), slice_str(list)};
        struct http_request w = {.headers = &protocol, .header_count = 1, .names = UINT64_MAX};
        assert_true(cookie_csrf_is_shown(&auth, &a, &w));
        assert_false(cookie_csrf_is_shown(&auth, &b, &w));
    }
}

static void half_of_a_session_is_none(void **state) {
    (void)state;
    struct cookie a = {.who = "uid:0", .expires_ms = now.ms + 5, .number = 1}, got = {0};
    char csrf[COOKIE_CSRF_BYTES], text[COOKIE_BYTES];
    cookie_csrf(&auth, &a, csrf);
    cookie_make(&auth, &a, text);
    struct http_header header = {SLICE("Reeve-CSRF"), slice_str(csrf)};
    struct http_request r = {.headers = &header, .header_count = 0, .names = UINT64_MAX};
    assert_int_equal(cookie_check(&auth, slice_str(text), &r, now, &got, &why), ERR_UNAUTHENTICATED);
    assert_int_equal(got.number, 0);
    r.header_count = 1;
    assert_int_equal(cookie_check(&auth, slice_str(text), &r, now, &got, &why), ERR_OK);
    assert_int_equal(got.number, 1);
    header.value = slice_str(text);
    assert_int_equal(cookie_check(&auth, slice_str(text), &r, now, &got, &why), ERR_UNAUTHENTICATED);
}

static void callers_that_can_be_found_again_may_have_a_cookie(void **state) {
    (void)state;
    char who[COOKIE_WHO_BYTES];
    struct caller token = {.id = "0123456789a", .name = "uid:0", .roles = ROLE_BIT(ROLE_VIEWER)}, got;
    assert_true(cookie_who(&token, who));
    assert_string_equal(who, "0123456789a");
    struct caller socket = {.name = "uid:1000", .roles = ROLE_BIT(ROLE_ADMIN)};
    assert_true(cookie_who(&socket, who));
    assert_int_equal(cookie_caller(&auth, who, now, &got, &why), ERR_OK);
    assert_string_equal(got.name, "uid:1000");
    assert_int_equal(got.roles, ROLE_BIT(ROLE_ADMIN));
    struct caller others[] = {{.name = "uid:0", .roles = ROLE_BIT(ROLE_WORKER)}, /* by its certificate */
                              {.name = "job:f1/a#1", .roles = ROLE_BIT(ROLE_JOB)},
                              {.name = "callback", .roles = ROLE_BIT(ROLE_CALLBACK)},
                              {.name = "admin", .roles = ROLE_BIT(ROLE_ADMIN)}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) assert_false(cookie_who(&others[i], who));
    char id[AUTH_ID_BYTES], text[AUTH_TOKEN_BYTES];
    struct caller ann = {.name = "ann", .roles = ROLE_BIT(ROLE_VIEWER), .expires_ms = now.ms + 10};
    assert_int_equal(auth_add(&auth, &ann, now, id, text, &why), ERR_OK);
    assert_int_equal(cookie_caller(&auth, id, now, &got, &why), ERR_OK);
    assert_string_equal(got.id, id);
    assert_int_equal(cookie_caller(&auth, id, (wall_time){now.ms + 10}, &got, &why), ERR_UNAUTHENTICATED);
    assert_int_equal(auth_revoke(&auth, slice_str(id), &why), ERR_OK);
    assert_int_equal(cookie_caller(&auth, id, now, &got, &why), ERR_UNAUTHENTICATED);
}

/* Who logs out is out, also of a server that is started later; others stay in. */
static void a_revoked_cookie_stays_refused(void **state) {
    (void)state;
    struct cookie a = {.who = "uid:0", .expires_ms = now.ms + 50, .number = 1}, b = a, got;
    char one[COOKIE_BYTES], two[COOKIE_BYTES];
    bool first = false;
    b.number = 2;
    cookie_make(&auth, &a, one);
    cookie_make(&auth, &b, two);
    assert_int_equal(session_revocation_add(&auth, &a, now, &why), ERR_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cookie_read(&auth, slice_str(one), now, &got, &why), ERR_UNAUTHENTICATED);
        assert_int_equal(cookie_read(&auth, slice_str(two), now, &got, &why), ERR_OK);
        auth_close(&auth);
        assert_int_equal(auth_open(&auth, disk.disk, osclock(), osdigest(), &first, &why), ERR_OK);
        assert_false(first);
    }
    /* what would be over by itself is not kept, nor what is of a token that is gone */
    struct cookie c = {.who = "uid:0", .expires_ms = now.ms + 500, .number = 3};
    struct cookie gone = {.who = "0123456789a", .expires_ms = now.ms + 500, .number = 4};
    assert_int_equal(session_revocation_add(&auth, &gone, now, &why), ERR_OK);
    assert_int_equal(auth.ended.count, 2);
    assert_int_equal(session_revocation_add(&auth, &c, (wall_time){now.ms + 60}, &why), ERR_OK);
    assert_int_equal(auth.ended.count, 1);
}

/* There is room for so many. Then all sessions of the one who logs out end together, and nobody else's. */
static void many_that_log_out_are_kept_as_one(void **state) {
    (void)state;
    struct cookie c = {.who = "uid:0", .expires_ms = now.ms + 50}, other = {.who = "uid:7", .expires_ms = now.ms + 50};
    other.number = 1;
    for (c.number = 1; c.number <= SESSION_REVOCATIONS_MAX; c.number++) *(struct cookie *)vec_push(&auth.ended) = c;
    assert_false(session_revocation_has(&auth, &c)); /* one that did not log out */
    struct cookie late = c;
    late.expires_ms += 100;
    assert_int_equal(session_revocation_add(&auth, &late, now, &why), ERR_OK);
    assert_int_equal(auth.ended.count, 1);
    assert_true(session_revocation_has(&auth, &c) && session_revocation_has(&auth, &late));
    assert_false(session_revocation_has(&auth, &other));
    late.expires_ms++; /* came in later */
    assert_false(session_revocation_has(&auth, &late));
}

static void a_damaged_file_of_sessions_is_refused(void **state) {
    (void)state;
    struct cookie a = {.who = "uid:0", .expires_ms = now.ms + 50, .number = 1};
    bool first = false;
    disk_file f;
    assert_int_equal(session_revocation_add(&auth, &a, now, &why), ERR_OK);
    auth_close(&auth);
    assert_int_equal(disk.disk->ops->open(disk.disk, "sessions", DISK_WRITE, &f, &why), ERR_OK);
    size_t written = 0;
    assert_int_equal(disk.disk->ops->write(disk.disk, f, 14, "x", 1, &written, &why), ERR_OK);
    disk.disk->ops->close(disk.disk, f);
    assert_int_equal(auth_open(&auth, disk.disk, osclock(), osdigest(), &first, &why), ERR_CORRUPT);
    assert_non_null(strstr(why.text, "sessions"));
    assert_int_equal(disk.disk->ops->remove(disk.disk, "sessions", &why), ERR_OK);
    assert_int_equal(auth_open(&auth, disk.disk, osclock(), osdigest(), &first, &why), ERR_OK);
}

/* Browsers keep cookies by host: the port is in the name. */
static void servers_on_one_host_have_cookies_of_their_own(void **state) {
    (void)state;
    static const struct {
        const char *host, *name;
    } cases[] = {{"localhost:7070", "reeve_session_7070"},
                 {"[::1]:80", "reeve_session_80"},
                 {"localhost", "reeve_session"},
                 {"[::1]", "reeve_session"},
                 {"reeve.example.org", "reeve_session"},
                 {"a:", "reeve_session"},
                 {"a:123456", "reeve_session"},
                 {"", "reeve_session"},
                 {"7070", "reeve_session"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct http_header headers[] = {{SLICE("Host"), slice_str(cases[i].host)},
                                        {SLICE("Cookie"), SLICE("reeve_session=a; reeve_session_7070=b")}};
        struct http_request r = {.headers = headers, .header_count = 2, .names = UINT64_MAX};
        char name[COOKIE_NAME_BYTES];
        struct slice v = {0};
        cookie_name(&r, name);
        assert_string_equal(name, cases[i].name);
        bool has = cookie_find(&r, &v);
        assert_int_equal(has, strcmp(name, "reeve_session_80") != 0);
        if (has) assert_true(slice_eq(v, strcmp(name, "reeve_session") == 0 ? SLICE("a") : SLICE("b")));
    }
}

static bool found(const char *value, struct slice *ret) {
    struct http_header header = {SLICE("Cookie"), slice_str(value)};
    struct http_request r = {.headers = &header, .header_count = 1, .names = UINT64_MAX};
    return cookie_find(&r, ret);
}

static void a_cookie_is_found_among_others(void **state) {
    (void)state;
    struct slice v;
    static const char *const good[] = {"reeve_session=x", "a=b; reeve_session=x", "reeve_session=x; a=b",
                                       "a;  reeve_session=x;", "reeve_session=; reeve_session=x"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(found(good[i], &v));
        assert_true(slice_eq(v, SLICE("x")));
    }
    static const char *const bad[] = {"",
                                      ";",
                                      "reeve_session",
                                      "reeve_session=",
                                      "reeve_sessionx=x",
                                      "xreeve_session=x",
                                      "a=reeve_session=x",
                                      "reeve_session=x; reeve_session=y"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_false(found(bad[i], &v));
}

static void a_ticket_is_good_once_and_soon(void **state) {
    (void)state;
    static struct login_tickets t;
    char text[LOGIN_TICKET_BYTES], who[COOKIE_WHO_BYTES];
    login_ticket_make(&t, &auth, "abc", 0, 100, text);
    assert_int_equal(strlen(text), 32);
    assert_false(login_ticket_use(&t, &auth, SLICE(""), 50, who));
    assert_false(login_ticket_use(&t, &auth, slice_of(text, 31), 50, who));
    assert_true(login_ticket_use(&t, &auth, slice_str(text), 99, who));
    assert_string_equal(who, "abc");
    assert_false(login_ticket_use(&t, &auth, slice_str(text), 99, who));
    login_ticket_make(&t, &auth, "abc", 0, 100, text);
    assert_false(login_ticket_use(&t, &auth, slice_str(text), 100, who)); /* too late */
}

/* Who asks for many links voids its own. */
static void each_has_a_share_of_tickets(void **state) {
    (void)state;
    static struct login_tickets t;
    char admin[LOGIN_TICKET_BYTES], made[LOGIN_TICKETS_EACH + 1][LOGIN_TICKET_BYTES], text[LOGIN_TICKET_BYTES],
        who[COOKIE_WHO_BYTES];
    login_ticket_make(&t, &auth, "admin", 0, 100, admin);
    for (uint32_t i = 0; i < 2 * LOGIN_TICKETS_MAX; i++) login_ticket_make(&t, &auth, "viewer", 0, 100, text);
    for (uint32_t i = 0; i <= LOGIN_TICKETS_EACH; i++) login_ticket_make(&t, &auth, "viewer", 0, 100, made[i]);
    assert_false(login_ticket_use(&t, &auth, slice_str(text), 50, who));
    assert_false(login_ticket_use(&t, &auth, slice_str(made[0]), 50, who)); /* its oldest made room */
    for (uint32_t i = 1; i <= LOGIN_TICKETS_EACH; i++)
        assert_true(login_ticket_use(&t, &auth, slice_str(made[i]), 50, who));
    assert_true(login_ticket_use(&t, &auth, slice_str(admin), 50, who));
    assert_string_equal(who, "admin");
    /* all places taken by others: the oldest of all goes, and those that are over before it */
    for (uint32_t i = 0; i < LOGIN_TICKETS_MAX; i++) {
        snprintf(who, sizeof who, "u%u", i);
        login_ticket_make(&t, &auth, who, 100, 200 + (i == 7), made[i == 0 ? 0 : 1]);
    }
    login_ticket_make(&t, &auth, "late", 150, 300, text);
    assert_false(login_ticket_use(&t, &auth, slice_str(made[0]), 150, who));
    assert_true(login_ticket_use(&t, &auth, slice_str(text), 150, who));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_cookie_says_who_and_until_when),
        TEST(what_pages_show_is_another_text),
        TEST(half_of_a_session_is_none),
        TEST(callers_that_can_be_found_again_may_have_a_cookie),
        TEST(a_cookie_is_found_among_others),
        TEST(a_ticket_is_good_once_and_soon),
        TEST(each_has_a_share_of_tickets),
        TEST(a_revoked_cookie_stays_refused),
        TEST(many_that_log_out_are_kept_as_one),
        TEST(a_damaged_file_of_sessions_is_refused),
        TEST(servers_on_one_host_have_cookies_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
