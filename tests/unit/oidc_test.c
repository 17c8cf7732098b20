/* oidc_test.c: the document of identity providers and its mistakes; key sets; the keys of an issuer over time. */
#include "test.h"

#include <stdio.h>

#include "authlab.h"
#include "base64url.h"
#include "bearer.h"
#include "jwtlab.h"
#include "limit.h"
#include "login_state.h"
#include "osclock.h"
#include "osdigest.h"
#include "wtime.h"

static struct limits limits;
static struct arena arena;
static struct why why;

static int setup(void **state) {
    (void)state;
    limits_default(&limits);
    arena_init(&arena, 65536, (size_t)16 << 20);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_fini(&arena);
    return 0;
}

/* ---- the document ---- */

static enum err document_read(const char *text, struct issuers **ret) {
    const struct json_node *tree = NULL;
    arena_reset(&arena);
    why.text[0] = 0;
    assert_int_equal(json_tree_read(slice_str(text), &limits, &arena, &tree, &why), ERR_OK);
    return issuers_read(tree, role_by_word, ret, &why);
}

#define RULE "{\"when\":{\"sub\":\"*\"},\"roles\":[\"viewer\"],\"tenant\":\"acme\"}"
#define ISSUER(more) "{\"issuers\":[{\"name\":\"corp\",\"issuer\":\"https://a.example\",\"map\":[" RULE "]" more "}]}"
#define RULED(rule) \
    "{\"issuers\":[{\"name\":\"corp\",\"issuer\":\"https://a.example\",\"audience\":\"x\",\"map\":[" rule "]}]}"

static void a_document_has_all_that_it_says(void **state) {
    (void)state;
    struct issuers *s = NULL;
    assert_int_equal(
        document_read(ISSUER(",\"audience\":[\"a\",\"b\"],\"algorithms\":\"ES256\",\"title\":\"Corp & Co\","
                             "\"clock_margin\":5,\"session\":3600,\"scopes\":[\"openid\",\"groups\"],"
                             "\"client_id\":\"c\",\"cli_client_id\":\"d\",\"client_secret_file\":\"s\""),
                      &s),
        ERR_OK);
    const struct issuer *is = issuers_by_name(s, SLICE("corp"));
    assert_non_null(is);
    assert_ptr_equal(is, issuers_by_url(s, SLICE("https://a.example")));
    assert_null(issuers_by_url(s, SLICE("https://a.example/")));
    assert_int_equal(is->audience_count, 2);
    assert_int_equal(is->algs, SIGNATURE_BIT(SIGNATURE_ES256));
    assert_int_equal(is->margin_ms, 5000);
    assert_int_equal(is->session_ms, 3600000);
    assert_true(slice_eq(is->scopes, SLICE("openid groups")));
    assert_true(slice_eq(is->title, SLICE("Corp & Co")));
    assert_int_equal(is->rule_count, 1);
    assert_int_equal(is->rules[0].roles, ROLE_BIT(ROLE_VIEWER));
    issuers_free(s);
}

static void a_mistake_in_a_document_is_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"[]", "expected issuers"},
        {"{}", "issuers is missing"},
        {"{\"issuers\":[]}", "expected a list of 1 to 16"},
        {"{\"isuers\":[]}", "did you mean `issuers`?"},
        {ISSUER(""), "it needs an audience"},
        {ISSUER(",\"audiance\":\"x\""), "there is no key `audiance`; did you mean `audience`?"},
        {ISSUER(",\"quite_another\":\"x\""), "there is no key `quite_another`; there are name, issuer"},
        {ISSUER(",\"audience\":[]"), "audience: expected 1 to 16 texts"},
        {ISSUER(",\"audience\":7"), "audience: expected a text"},
        {ISSUER(",\"audience\":\"x\",\"algorithms\":[\"HS256\"]"), "algorithms: `HS256` is not among"},
        {ISSUER(",\"audience\":\"x\",\"algorithms\":[\"none\"]"), "algorithms: `none` is not among"},
        {ISSUER(",\"audience\":\"x\",\"clock_margin\":601"),
         "clock_margin: expected a number of seconds from 0 to 600"},
        {ISSUER(",\"audience\":\"x\",\"session\":\"8h\""), "session: expected a number of seconds"},
        {ISSUER(",\"audience\":\"x\",\"scopes\":[\"email\"]"), "scopes: `openid` is missing"},
        {ISSUER(",\"audience\":\"x\",\"client_secret_file\":\"s\""), "client_secret_file needs a client_id"},
        {"{\"issuers\":[{\"name\":\"Corp\",\"issuer\":\"https://a\",\"map\":[" RULE "]}]}",
         "name: expected up to 32 small"},
        {"{\"issuers\":[{\"name\":\"c\",\"issuer\":\"http://a.example\",\"map\":[" RULE "]}]}", "begins with https://"},
        {"{\"issuers\":[{\"name\":\"c\",\"issuer\":\"https://u@a.example\",\"map\":[" RULE "]}]}",
         "begins with https://"},
        {"{\"issuers\":[{\"name\":\"c\",\"issuer\":\"http://localhost.evil.com\",\"map\":[" RULE "]}]}",
         "begins with https://"},
        {"{\"issuers\":[{\"name\":\"c\",\"issuer\":\"https://a?x=1\",\"audience\":\"x\",\"map\":[" RULE "]}]}",
         "without `?`"},
        {"{\"issuers\":[{\"name\":\"c\",\"issuer\":\"https://a\",\"audience\":\"x\"}]}", "issuer c: map is missing"},
        {"{\"issuers\":[{\"name\":\"c\",\"issuer\":\"https://a\",\"audience\":\"x\",\"map\":[" RULE "]},"
         "{\"name\":\"c\",\"issuer\":\"https://b\",\"audience\":\"x\",\"map\":[" RULE "]}]}",
         "the name is used twice"},
        {"{\"issuers\":[{\"name\":\"c\",\"issuer\":\"https://a\",\"audience\":\"x\",\"map\":[" RULE "]},"
         "{\"name\":\"d\",\"issuer\":\"https://a\",\"audience\":\"x\",\"map\":[" RULE "]}]}",
         "the URL is used twice"},
        {RULED("{}"), "issuer corp, rule 1 of map: when is missing"},
        {RULED("{\"when\":{},\"roles\":[\"viewer\"],\"tenant\":\"a\"}"), "when: expected 1 to 16 claims"},
        {RULED("{\"when\":{\"sub\":\"*\"},\"tenant\":\"a\"}"), "roles is missing"},
        {RULED("{\"when\":{\"sub\":\"*\"},\"roles\":[\"viewer\"]}"), "tenant is missing"},
        {RULED("{\"when\":{\"sub\":\"*\"},\"roles\":[\"root\"],\"tenant\":\"a\"}"), "there is no role `root`"},
        {RULED("{\"when\":{\"sub\":\"*\"},\"role\":[\"viewer\"],\"tenant\":\"a\"}"), "did you mean `roles`?"},
        {RULED("{\"when\":{\"sub\":\"*\"},\"roles\":[\"viewer\"],\"tenant\":\"{\"}"),
         "tenant: expected text with {CLAIM}"},
        {RULED("{\"when\":{\"sub\":\"*\"},\"roles\":[\"viewer\"],\"tenant\":\"a\",\"account\":\"{}\"}"),
         "account: expected"},
        {RULED("{\"when\":{\"sub\":\"*\"},\"roles\":[\"viewer\"],\"tenant\":\"a\",\"kind\":\"agent\"}"),
         "kind: expected"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct issuers *s = NULL;
        if (document_read(bad[i].text, &s) == ERR_OK) fail_msg("taken: %s", bad[i].text);
        assert_null(s);
        assert_has(why.text, bad[i].words);
    }
}

static void only_addresses_that_keep_a_secret_are_safe(void **state) {
    (void)state;
    static const char *const safe[] = {"https://a", "https://a:8443/x?y=1", "http://127.0.0.1:9", "http://localhost/x",
                                       "http://[::1]:80/"};
    static const char *const unsafe[] = {"",
                                         "https://",
                                         "https:///x",
                                         "http://a",
                                         "http://127.0.0.1.evil.com",
                                         "http://localhost@evil.com",
                                         "ftp://a",
                                         "https://a b",
                                         "https://a#b",
                                         "https://a\\b",
                                         "javascript:alert(1)"};
    for (size_t i = 0; i < sizeof safe / sizeof safe[0]; i++) assert_true(issuer_url_is_safe(slice_str(safe[i])));
    for (size_t i = 0; i < sizeof unsafe / sizeof unsafe[0]; i++)
        assert_false(issuer_url_is_safe(slice_str(unsafe[i])));
}

static void base64url_has_one_text_for_one_value(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int bytes; /* -1: refused */
    } texts[] = {{"", 0},    {"AA", 1},   {"AAA", 2},   {"AAAA", 3},  {"-_-_", 3},  {"A", -1},   {"AAAAA", -1},
                 {"AB", -1}, {"AAB", -1}, {"AA==", -1}, {"A+A/", -1}, {"AA A", -1}, {"AA\n", -1}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct slice got = {0};
        struct buf again;
        arena_reset(&arena);
        bool good = base64url_read(slice_str(texts[i].text), &arena, &got);
        assert_int_equal(good, texts[i].bytes >= 0);
        if (!good) continue;
        assert_int_equal(got.len, texts[i].bytes);
        buf_init(&again, 64);
        base64url_put(&again, got);
        assert_true(slice_eq(buf_slice(&again), slice_str(texts[i].text)));
        buf_fini(&again);
    }
}

/* ---- keys over time ---- */

#define URL "https://a.example"
#define PLACES "{\"issuer\":\"" URL "\",\"jwks_uri\":\"" URL "/keys\",\"token_endpoint\":\"" URL "/t\"}"

static struct keyring ring;
static struct issuers *book;
static struct jwtlab_key *first, *second;
static struct buf set_one, set_two;

static int keyring_setup(void **state) {
    if (setup(state) != 0) return -1;
    assert_int_equal(document_read(ISSUER(",\"audience\":\"x\""), &book), ERR_OK);
    keyring_init(&ring, &book->all[0]);
    first = jwtlab_key_new(JWTLAB_P256);
    second = jwtlab_key_new(JWTLAB_P256);
    buf_init(&set_one, 4096);
    buf_init(&set_two, 4096);
    buf_put_slice(&set_one, SLICE("{\"keys\":["));
    jwtlab_jwk(first, "one", "", &set_one);
    buf_put_slice(&set_one, SLICE("]}"));
    buf_put_slice(&set_two, SLICE("{\"keys\":["));
    jwtlab_jwk(second, "two", "", &set_two);
    buf_put_slice(&set_two, SLICE("]}"));
    return 0;
}

static int keyring_teardown(void **state) {
    keyring_fini(&ring);
    issuers_free(book);
    jwtlab_key_free(first);
    jwtlab_key_free(second);
    buf_fini(&set_one);
    buf_fini(&set_two);
    return teardown(state);
}

static void fetch_both(int64_t now_ms, struct slice keys, int64_t max_age_s) {
    char url[ISSUER_URL_MAX + 64];
    if (keyring_begin(&ring, now_ms, url) == KEYRING_DISCOVERY) {
        assert_string_equal(url, URL "/.well-known/openid-configuration");
        assert_int_equal(keyring_came(&ring, now_ms, SLICE(PLACES), -1, &limits, &why), ERR_OK);
        assert_int_equal(keyring_begin(&ring, now_ms, url), KEYRING_KEYS);
    }
    assert_string_equal(url, URL "/keys");
    assert_int_equal(keyring_came(&ring, now_ms, keys, max_age_s, &limits, &why), ERR_OK);
}

static enum err find(int64_t now_ms, const char *kid) {
    const struct public_key *key = NULL;
    return keyring_find(&ring, now_ms, slice_str(kid), SIGNATURE_ES256, &key, &why);
}

static void keys_are_fetched_in_two_steps_and_kept_as_long_as_they_say(void **state) {
    (void)state;
    assert_int_equal(find(0, "one"), ERR_BUSY);
    assert_int_equal(keyring_due(&ring), 0);
    fetch_both(0, buf_slice(&set_one), 3600);
    assert_int_equal(find(1, "one"), ERR_OK);
    assert_int_equal(keyring_due(&ring), 3600 * 1000);
    fetch_both(3600 * 1000, buf_slice(&set_one), 1); /* less than we ask at least */
    assert_int_equal(keyring_due(&ring), 3600 * 1000 + KEYRING_FRESH_MS_MIN);
    fetch_both(keyring_due(&ring), buf_slice(&set_one), INT64_C(1) << 40); /* more than we believe at most */
    assert_int_equal(keyring_due(&ring), 3600 * 1000 + KEYRING_FRESH_MS_MIN + KEYRING_FRESH_MS_MAX);
}

static void an_issuer_that_is_down_is_asked_ever_more_seldom_and_its_keys_are_kept(void **state) {
    (void)state;
    char url[ISSUER_URL_MAX + 64];
    struct why down = {"it is down"};
    fetch_both(0, buf_slice(&set_one), 600);
    int64_t now = 600 * 1000, wait = 0;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(keyring_due(&ring), now);
        (void)keyring_begin(&ring, now, url);
        assert_int_equal(keyring_due(&ring), TIME_NEVER);
        keyring_failed(&ring, now, &down);
        wait = keyring_due(&ring) - now;
        assert_true(wait >= KEYRING_WAIT_MS && wait <= KEYRING_WAIT_MS_MAX);
        now += wait;
        assert_int_equal(find(now, "one"), ERR_OK);
    }
    assert_int_equal(wait, KEYRING_WAIT_MS_MAX);
    assert_int_equal(find(600 * 1000 + KEYRING_STALE_MS, "one"), ERR_BUSY);
    assert_has(why.text, "it is down");
    fetch_both(now, buf_slice(&set_one), 600);
    assert_int_equal(find(now, "one"), ERR_OK);
}

static void an_unknown_key_is_asked_for_once_a_minute(void **state) {
    (void)state;
    fetch_both(0, buf_slice(&set_one), 3600);
    assert_int_equal(find(5000, "two"), ERR_BUSY);
    assert_true(keyring_due(&ring) <= 5000);
    fetch_both(5000, buf_slice(&set_one), 3600); /* there is none */
    for (int64_t now = 5001; now < 65000; now += 1000) assert_int_equal(find(now, "two"), ERR_UNAUTHENTICATED);
    assert_true(keyring_due(&ring) > 65000);
    assert_int_equal(find(65000, "two"), ERR_BUSY);
    fetch_both(65000, buf_slice(&set_two), 3600); /* it has changed its keys */
    assert_int_equal(find(65001, "two"), ERR_OK);
    assert_int_equal(find(65001, "one"), ERR_UNAUTHENTICATED); /* and the old one is gone: asked for a minute ago */
}

static void an_issuer_that_says_it_is_another_is_not_believed(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {{"{\"issuer\":\"https://evil.example\",\"jwks_uri\":\"" URL "/keys\"}", "it says that it is issuer"},
               {"{\"issuer\":\"" URL "/\",\"jwks_uri\":\"" URL "/keys\"}", "it says that it is issuer"},
               {"{\"jwks_uri\":\"" URL "/keys\"}", "it says that it is issuer"},
               {"{\"issuer\":\"" URL "\"}", "`jwks_uri` is no https URL"},
               {"{\"issuer\":\"" URL "\",\"jwks_uri\":\"http://a.example/keys\"}", "`jwks_uri` is no https URL"},
               {"{\"issuer\":\"" URL "\",\"jwks_uri\":\"file:///etc/passwd\"}", "`jwks_uri` is no https URL"},
               {"{\"issuer\":\"" URL "\",\"jwks_uri\":\"" URL "/k\",\"token_endpoint\":7}", "`token_endpoint`"},
               {"[]", "it says that it is issuer"},
               {"not json", "discovery document"}};
    char url[ISSUER_URL_MAX + 64];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t now = keyring_due(&ring);
        assert_int_equal(keyring_begin(&ring, now, url), KEYRING_DISCOVERY);
        assert_int_equal(keyring_came(&ring, now, slice_str(bad[i].text), -1, &limits, &why), ERR_INVALID);
        assert_has(why.text, bad[i].words);
        assert_false(ring.has_places);
    }
}

static void a_key_set_without_a_usable_key_changes_nothing(void **state) {
    (void)state;
    static const char *const bad[] = {"{\"keys\":[]}",
                                      "{}",
                                      "[]",
                                      "x",
                                      "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\"}]}",
                                      "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",
                                      "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AAAA\",\"y\":\"AAAA\"}]}",
                                      "{\"keys\":[7,null,\"x\"]}"};
    char url[ISSUER_URL_MAX + 64];
    fetch_both(0, buf_slice(&set_one), 600);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t now = keyring_due(&ring);
        if (keyring_begin(&ring, now, url) == KEYRING_DISCOVERY) {
            assert_int_equal(keyring_came(&ring, now, SLICE(PLACES), -1, &limits, &why), ERR_OK);
            assert_int_equal(keyring_begin(&ring, now, url), KEYRING_KEYS);
        }
        assert_int_not_equal(keyring_came(&ring, now, slice_str(bad[i]), -1, &limits, &why), ERR_OK);
        assert_int_equal(find(now, "one"), ERR_OK);
    }
    assert_int_equal(ring.failed_count, sizeof bad / sizeof bad[0]);
}

/* ---- the cookie of a login ---- */

static void a_login_is_bound_to_its_browser(void **state) {
    (void)state;
    struct authlab lab;
    struct login_state l = {.issuer = "corp.2", .expires_ms = 1000, .number = 7}, got = {.number = 0};
    char text[LOGIN_STATE_BYTES], one[LOGIN_STATE_TEXT_BYTES], two[LOGIN_STATE_TEXT_BYTES];
    authlab_init(&lab);
    login_state_make(&lab.auth, &l, text);
    assert_int_equal(login_state_read(&lab.auth, slice_str(text), (wall_time){999}, &got, &why), ERR_OK);
    assert_string_equal(got.issuer, "corp.2");
    assert_int_equal(got.number, 7);
    assert_int_equal(login_state_read(&lab.auth, slice_str(text), (wall_time){1000}, &got, &why), ERR_UNAUTHENTICATED);
    for (size_t i = 0; text[i] != 0; i++) {
        char bad[LOGIN_STATE_BYTES];
        memcpy(bad, text, sizeof bad);
        bad[i] ^= 1;
        assert_int_equal(login_state_read(&lab.auth, slice_str(bad), (wall_time){1}, &got, &why), ERR_UNAUTHENTICATED);
        assert_int_equal(login_state_read(&lab.auth, slice_of(text, i), (wall_time){1}, &got, &why),
                         ERR_UNAUTHENTICATED);
    }
    for (int i = LOGIN_STATE_STATE; i <= LOGIN_STATE_VERIFIER; i++) {
        login_state_text(&lab.auth, &l, (enum login_state_text)i, one);
        assert_null(strstr(text, one)); /* the cookie tells none of them */
        login_state_text(&lab.auth, &l, (enum login_state_text)((i + 1) % 3), two);
        assert_string_not_equal(one, two);
        struct login_state other = l;
        other.number++;
        login_state_text(&lab.auth, &other, (enum login_state_text)i, two);
        assert_string_not_equal(one, two);
    }
    authlab_fini(&lab);
}

int main(void) {
#define KEYS(test) cmocka_unit_test_setup_teardown(test, keyring_setup, keyring_teardown)
#define PLAIN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        PLAIN(a_document_has_all_that_it_says),
        PLAIN(a_mistake_in_a_document_is_named),
        PLAIN(only_addresses_that_keep_a_secret_are_safe),
        PLAIN(base64url_has_one_text_for_one_value),
        KEYS(keys_are_fetched_in_two_steps_and_kept_as_long_as_they_say),
        KEYS(an_issuer_that_is_down_is_asked_ever_more_seldom_and_its_keys_are_kept),
        KEYS(an_unknown_key_is_asked_for_once_a_minute),
        KEYS(an_issuer_that_says_it_is_another_is_not_believed),
        KEYS(a_key_set_without_a_usable_key_changes_nothing),
        PLAIN(a_login_is_bound_to_its_browser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
