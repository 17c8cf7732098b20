/* console_test.c: the web console in the built program: its files as browsers ask for them, who is let in by which door,
 * and what a page of someone else cannot do. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "realserver.h"
#include "webclient.h"

static struct realserver server;

static int group_setup(void **state) {
    (void)state;
    realserver_make(&server);
    realserver_start(&server);
    return 0;
}

static int group_teardown(void **state) {
    (void)state;
    realserver_remove(&server);
    return 0;
}

/* One request on a connection of its own, as a stranger. */
static struct webgot get(struct webclient *c, const char *path, const char *headers, int status) {
    char text[1024];
    snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path, headers);
    return webclient_once(c, server.address, text, status);
}

static const char *header_of(struct webclient *c, const struct webgot *got, const char *name) {
    char mark[64];
    snprintf(mark, sizeof mark, "\r\n%s: ", name);
    const char *at = strstr(got->head, mark);
    if (at == NULL) fail_msg("no %s in %s", name, got->head);
    at += strlen(mark);
    size_t len = strcspn(at, "\r");
    char *text = arena_alloc(&c->arena, len + 1);
    memcpy(text, at, len);
    return text;
}

/* ---- files ---- */

static const char *unpacked(struct webclient *c, const struct webgot *got) {
    char path[96], command[128];
    char *text = arena_alloc(&c->arena, 65536);
    snprintf(path, sizeof path, "%s/page.gz", server.data);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(got->body, 1, got->bytes, f), got->bytes);
    fclose(f);
    snprintf(command, sizeof command, "gzip -dc %s", path);
    f = popen(command, "re");
    assert_non_null(f);
    assert_true(fread(text, 1, 65535, f) > 0);
    assert_int_equal(pclose(f), 0);
    return text;
}

static void the_console_is_in_the_program(void **state) {
    (void)state;
    struct webclient c, d;
    struct webgot got = get(&c, "/", "Accept-Encoding: gzip\r\n", 200);
    assert_string_equal(header_of(&c, &got, "Content-Type"), "text/html; charset=utf-8");
    assert_string_equal(header_of(&c, &got, "Content-Encoding"), "gzip");
    assert_string_equal(header_of(&c, &got, "Cache-Control"), "no-cache");
    assert_string_equal(header_of(&c, &got, "X-Content-Type-Options"), "nosniff");
    assert_string_equal(header_of(&c, &got, "Referrer-Policy"), "no-referrer");
    assert_string_equal(header_of(&c, &got, "Cross-Origin-Opener-Policy"), "same-origin");
    assert_string_equal(header_of(&c, &got, "Cross-Origin-Resource-Policy"), "same-origin");
    const char *policy = header_of(&c, &got, "Content-Security-Policy");
    assert_has(policy, "default-src 'none'; script-src 'self';");
    assert_has(policy, "frame-ancestors 'none'");
    assert_has_not(policy, "unsafe");
    const char *page = unpacked(&c, &got), *script = strstr(page, "src=\"/assets/");
    assert_non_null(script);
    assert_null(strstr(page, "<script>")); /* nothing is written into the page, and nothing comes from elsewhere */
    assert_null(strstr(page, "http://"));
    assert_null(strstr(page, "https://"));
    char path[128];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(script + 5, "\""), script + 5);
    got = get(&d, path, "", 200);
    assert_string_equal(header_of(&d, &got, "Content-Type"), "text/javascript; charset=utf-8");
    assert_string_equal(header_of(&d, &got, "Cache-Control"), "public, max-age=31536000, immutable");
    assert_true(got.bytes > 1000);
    webclient_close(&c);
    webclient_close(&d);
}

static void every_page_is_the_index(void **state) {
    (void)state;
    static const char *const pages[] = {
        "/flows", "/flows/f3k9a", "/jobs/f3k9a/train", "/approvals", "/new",    "/workers",    "/services",
        "/dead",  "/schedules",   "/store?prefix=a",   "/audit",     "/agents", "/playground", "/login"};
    struct webclient c, d;
    struct webgot got = get(&c, "/", "", 200);
    const char *etag = header_of(&c, &got, "ETag");
    char headers[128];
    snprintf(headers, sizeof headers, "If-None-Match: %s\r\n", etag);
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        got = get(&d, pages[i], "", 200);
        assert_string_equal(header_of(&d, &got, "ETag"), etag);
        webclient_close(&d);
        got = get(&d, pages[i], headers, 304);
        assert_has_not(got.head, "Content-Length");
        webclient_close(&d);
    }
    webclient_open(&d, server.address, NULL);
    webclient_send(&d, "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    got = webclient_next_head(&d);
    assert_int_equal(got.status, 200);
    assert_string_equal(header_of(&d, &got, "ETag"), etag);
    assert_true(webclient_is_closed(&d)); /* and no body came */
    webclient_close(&d);
    get(&d, "/", "Accept-Encoding: identity\r\n", 406);
    webclient_close(&d);
    webclient_close(&c);
}

/* What is not in the table does not exist, however it is spelled; who has no token learns no more than that. */
static void no_path_leads_out(void **state) {
    (void)state;
    static const char *const paths[] = {"/assets/../index.html",
                                        "/assets/..%2findex.html",
                                        "/assets/%2e%2e/%2e%2e/etc/passwd",
                                        "/../../../etc/passwd",
                                        "/assets/",
                                        "/assets",
                                        "//etc/passwd",
                                        "/.reeve/admin.token",
                                        "/admin.token",
                                        "/assets/admin.token",
                                        "/index.html/../admin.token",
                                        "/assets\\..\\admin.token"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct webclient c;
        struct webgot got = get(&c, paths[i], "", 401);
        assert_has_not(got.body, "rv_");
        webclient_close(&c);
        char headers[160];
        snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", server.admin);
        (void)get(&c, paths[i], headers, 404);
        webclient_close(&c);
    }
    struct webclient c; /* the name that we are called by counts here too */
    (void)webclient_once(&c, server.address, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421);
    webclient_close(&c);
    (void)webclient_once(&c, server.address, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 401);
    webclient_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_console_is_in_the_program),
        cmocka_unit_test(every_page_is_the_index),
        cmocka_unit_test(no_path_leads_out),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
