/* asset_test.c: the console's files by path, and the heads that they are answered with. */
#include "test.h"

#include "asset.h"

static const struct asset all[] = {
    {"/assets/index-1a2b.js", "text/javascript", "\"e1\"", {(const uint8_t *)"js", 2}},
    {"/icon.svg", "image/svg+xml", "\"e2\"", {(const uint8_t *)"svg", 3}},
    {"/index.html", "text/html", "\"e3\"", {(const uint8_t *)"html", 4}},
};
static const struct assets assets = {all, 3};

static const char *found(const char *path) {
    const struct asset *a = asset_find(&assets, slice_str(path));
    return a != NULL ? a->path : "none";
}

static void paths_name_files(void **state) {
    (void)state;
    assert_string_equal(found("/assets/index-1a2b.js"), "/assets/index-1a2b.js");
    assert_string_equal(found("/icon.svg"), "/icon.svg");
    assert_string_equal(found("/index.html"), "/index.html");
    static const char *const others[] = {"",
                                         "x",
                                         "/assets",
                                         "/assets/",
                                         "/assets/index-1a2b",
                                         "//",
                                         "/ICON.svg",
                                         "/assets/../icon.svg",
                                         "/icon%2esvg",
                                         "/.",
                                         "/..",
                                         "/api/v1/flows",
                                         "/metrics",
                                         "/healthz",
                                         "flows",
                                         "/flowsx",
                                         "/icon.svg/"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) assert_string_equal(found(others[i]), "none");
    assert_null(asset_find(NULL, SLICE("/")));
    const struct assets none = {NULL, 0};
    assert_null(asset_find(&none, SLICE("/")));
}

static void pages_are_the_index(void **state) {
    (void)state;
    static const char *const pages[] = {"/",          "/flows",      "/flows/f3k9a", "/jobs/f3k9a/train",
                                        "/approvals", "/new",        "/workers",     "/services",
                                        "/dead",      "/schedules",  "/store",       "/audit",
                                        "/agents",    "/playground", "/login"};
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) assert_string_equal(found(pages[i]), "/index.html");
}

static struct http_head head_for(const struct asset *a, const char *name, const char *value) {
    struct http_header header = {slice_str(name), slice_str(value)};
    struct http_request r = {.headers = &header, .header_count = 1, .names = UINT64_MAX};
    struct http_head h;
    asset_head(a, &r, &h);
    return h;
}

static void hashed_names_are_kept_for_ever(void **state) {
    (void)state;
    struct http_head h = head_for(&all[0], "accept", "*/*");
    assert_int_equal(h.status, 200);
    assert_int_equal(h.length, 2);
    assert_string_equal(h.type, "text/javascript");
    assert_string_equal(h.encoding, "gzip");
    assert_string_equal(h.cache, "public, max-age=31536000, immutable");
    assert_non_null(strstr(h.policy, "default-src 'none'; script-src 'self';"));
    assert_null(strstr(h.policy, "unsafe"));
    h = head_for(&all[2], "accept", "*/*");
    assert_string_equal(h.cache, "no-cache");
    assert_string_equal(h.etag, "\"e3\"");
}

static void a_known_etag_is_answered_without_a_body(void **state) {
    (void)state;
    static const char *const known[] = {"\"e3\"", "\"a\", \"e3\"", "*"};
    for (size_t i = 0; i < 3; i++) {
        struct http_head h = head_for(&all[2], "if-none-match", known[i]);
        assert_int_equal(h.status, 304);
        assert_int_equal(h.length, HTTP_NO_BODY);
        assert_null(h.type);
        assert_string_equal(h.etag, "\"e3\"");
    }
    assert_int_equal(head_for(&all[2], "if-none-match", "\"e\"").status, 200);
    assert_int_equal(head_for(&all[2], "if-none-match", "").status, 200);
}

static void a_client_without_gzip_is_refused(void **state) {
    (void)state;
    assert_int_equal(head_for(&all[0], "accept-encoding", "br, gzip;q=0.5").status, 200);
    assert_int_equal(head_for(&all[0], "accept-encoding", "*").status, 200);
    assert_int_equal(head_for(&all[0], "accept-encoding", "identity").status, 406);
    assert_int_equal(head_for(&all[0], "accept-encoding", "xgzip").status, 406);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_name_files),
        cmocka_unit_test(pages_are_the_index),
        cmocka_unit_test(hashed_names_are_kept_for_ever),
        cmocka_unit_test(a_known_etag_is_answered_without_a_body),
        cmocka_unit_test(a_client_without_gzip_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
