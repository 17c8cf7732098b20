/* cookie_test.c: sessions of browsers. */
#include "test.h"

#include <stdio.h>

#include "authlab.h"
#include "cookie.h"
#include "osclock.h"

static struct authlab lab;
#define auth lab.auth
static struct why why;
static wall_time now;

static int setup(void **state) {
    (void)state;
    authlab_init(&lab);
    now = lab.r.in.wall;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    authlab_fini(&lab);
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
    struct minted_token t;
    struct caller ann = {.name = "ann", .roles = ROLE_BIT(ROLE_VIEWER), .expires_ms = now.ms + 10};
    assert_ok(authlab_token(&lab, &ann, now, &t));
    assert_int_equal(cookie_caller(&auth, t.id, now, &got, &why), ERR_OK);
    assert_string_equal(got.id, t.id);
    assert_int_equal(cookie_caller(&auth, t.id, (wall_time){now.ms + 10}, &got, &why), ERR_UNAUTHENTICATED);
    assert_ok(authlab_revoke(&lab, t.id));
    assert_int_equal(cookie_caller(&auth, t.id, now, &got, &why), ERR_UNAUTHENTICATED);
}

/* Who logs out is out, also of a server that is started later; others stay in. */
static void a_revoked_cookie_stays_refused(void **state) {
    (void)state;
    struct cookie a = {.who = "uid:0", .expires_ms = now.ms + 50, .number = 1}, b = a, got;
    char one[COOKIE_BYTES], two[COOKIE_BYTES];
    b.number = 2;
    cookie_make(&auth, &a, one);
    cookie_make(&auth, &b, two);
    assert_ok(authlab_logout(&lab, a.who, a.number, a.expires_ms));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cookie_read(&auth, slice_str(one), now, &got, &why), ERR_UNAUTHENTICATED);
        assert_int_equal(cookie_read(&auth, slice_str(two), now, &got, &why), ERR_OK);
        assert_ok(authlab_restart(&lab, &why));
    }
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_cookie_says_who_and_until_when),
        TEST(what_pages_show_is_another_text),
        TEST(half_of_a_session_is_none),
        TEST(callers_that_can_be_found_again_may_have_a_cookie),
        TEST(a_cookie_is_found_among_others),
        TEST(a_revoked_cookie_stays_refused),
        TEST(servers_on_one_host_have_cookies_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
