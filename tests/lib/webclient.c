/* webclient.c: see webclient.h. */
#include "webclient.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "json_tree.h"
#include "limit.h"
#include "test.h"

#define BYTES_MAX ((size_t)256 << 20)

void webclient_open(struct webclient *c, const char *address, const char *token) {
    *c = (struct webclient){.fd = -1, .token = token};
    buf_init(&c->in, BYTES_MAX);
    arena_init(&c->arena, 65536, BYTES_MAX);
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in inet = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bool is_local = strncmp(address, "unix:", 5) == 0;
    if (is_local)
        snprintf(local.sun_path, sizeof local.sun_path, "%s", address + 5);
    else
        inet.sin_port = htons((uint16_t)strtol(strrchr(address, ':') + 1, NULL, 10));
    char host[64];
    snprintf(host, sizeof host, "%.*s", (int)strcspn(address, ":"), address);
    if (!is_local) (void)inet_pton(AF_INET, host, &inet.sin_addr); /* a name is this machine's */
    c->fd = socket(is_local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr *to = is_local ? (const struct sockaddr *)&local : (const struct sockaddr *)&inet;
    assert_int_equal(connect(c->fd, to, is_local ? sizeof local : sizeof inet), 0);
    int on = 1; /* head and body go by two calls: the second must not wait for the first to be acknowledged */
    if (!is_local) assert_int_equal(setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
}

void webclient_close(struct webclient *c) {
    close(c->fd);
    buf_fini(&c->in);
    arena_fini(&c->arena);
}

void webclient_send_bytes(struct webclient *c, struct slice bytes) {
    while (bytes.len > 0) {
        ssize_t n = send(c->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        bytes = slice_of(bytes.ptr + n, bytes.len - (size_t)n);
    }
}

void webclient_send(struct webclient *c, const char *text) {
    webclient_send_bytes(c, slice_str(text));
}

/* False: the peer closed, or nothing came in time. */
static bool read_more(struct webclient *c) {
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    char bytes[65536];
    if (poll(&p, 1, WEBCLIENT_WAIT_MS) <= 0) fail_msg("nothing came in %d ms", WEBCLIENT_WAIT_MS);
    ssize_t got = recv(c->fd, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    buf_put(&c->in, bytes, (size_t)got);
    return true;
}

const char *webclient_until(struct webclient *c, const char *text) {
    for (;;) {
        char *all = arena_alloc(&c->arena, c->in.len + 1);
        for (size_t i = 0; i < c->in.len; i++) /* the head of a frame has zeros */
            all[i] = c->in.at[i] != 0 ? (char)c->in.at[i] : ' ';
        all[c->in.len] = 0;
        if (strstr(all, text) != NULL) return all;
        if (!read_more(c)) fail_msg("%s never came: %s", text, all);
    }
}

bool webclient_is_closed(struct webclient *c) {
    return !read_more(c);
}

static char *take(struct webclient *c, size_t bytes) {
    char *text = arena_alloc(&c->arena, bytes + 1);
    if (bytes > 0) memcpy(text, c->in.at, bytes);
    memmove(c->in.at, c->in.at + bytes, c->in.len - bytes);
    buf_cut(&c->in, c->in.len - bytes);
    return text;
}

/* Up to and with the mark. */
static char *take_until(struct webclient *c, const char *mark) {
    for (;;) {
        char *at = c->in.len > 0 ? memmem(c->in.at, c->in.len, mark, strlen(mark)) : NULL;
        if (at != NULL) return take(c, (size_t)(at - (char *)c->in.at) + strlen(mark));
        if (!read_more(c)) return NULL;
    }
}

static char *take_bytes(struct webclient *c, size_t bytes) {
    while (c->in.len < bytes)
        if (!read_more(c)) fail_msg("the answer is cut: %zu of %zu bytes", c->in.len, bytes);
    return take(c, bytes);
}

static void take_chunks(struct webclient *c, struct webgot *ret) {
    struct buf all;
    buf_init(&all, BYTES_MAX);
    for (;;) {
        char *line = take_until(c, "\r\n");
        assert_non_null(line);
        size_t bytes = strtoul(line, NULL, 16);
        char *data = take_bytes(c, bytes + 2);
        assert_memory_equal(data + bytes, "\r\n", 2);
        if (bytes == 0) break;
        buf_put(&all, data, bytes);
    }
    buf_put_u8(&all, 0);
    ret->bytes = all.len - 1;
    ret->body = arena_copy(&c->arena, all.at, all.len);
    buf_fini(&all);
}

struct webgot webclient_next_head(struct webclient *c) {
    struct webgot got = {.head = take_until(c, "\r\n\r\n"), .body = ""};
    if (got.head == NULL) return got;
    assert_memory_equal(got.head, "HTTP/1.1 ", 9);
    got.status = (int)strtol(got.head + 9, NULL, 10);
    return got;
}

struct webgot webclient_next(struct webclient *c) {
    struct webgot got = webclient_next_head(c);
    if (got.status <= 101 || got.status == 204 || got.status == 304) return got;
    const char *length = strcasestr(got.head, "\r\nContent-Length: ");
    if (length != NULL) {
        got.bytes = strtoul(length + 18, NULL, 10);
        got.body = take_bytes(c, got.bytes);
    } else if (strcasestr(got.head, "\r\nTransfer-Encoding: chunked") != NULL) {
        take_chunks(c, &got);
    } else {
        while (read_more(c)) {
        }
        got.bytes = c->in.len;
        got.body = take(c, got.bytes);
    }
    return got;
}

void webclient_ask_only(struct webclient *c, const char *verb, const char *path, const char *body) {
    char head[2048];
    int len = snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: localhost\r\n", verb, path);
    if (c->token != NULL)
        len += snprintf(head + len, sizeof head - (size_t)len, "Authorization: Bearer %s\r\n", c->token);
    if (body != NULL)
        len += snprintf(head + len, sizeof head - (size_t)len,
                        "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    snprintf(head + len, sizeof head - (size_t)len, "\r\n");
    webclient_send(c, head);
    if (body != NULL) webclient_send(c, body);
}

struct webgot webclient_ask(struct webclient *c, const char *verb, const char *path, const char *body) {
    webclient_ask_only(c, verb, path, body);
    return webclient_next(c);
}

struct webgot webclient_once(struct webclient *c, const char *address, const char *text, int status) {
    webclient_open(c, address, NULL);
    webclient_send(c, text);
    struct webgot got = webclient_next(c);
    if (got.status != status) fail_msg("%d, not %d: %s\n%s", got.status, status, text, got.body);
    return got;
}

const char *webgot_text(struct webclient *c, const struct webgot *got, const char *key) {
    struct limits limits;
    struct why why;
    const struct json_node *root;
    limits_default(&limits);
    if (json_tree_read(slice_of(got->body, got->bytes), &limits, &c->arena, &root, &why) != ERR_OK)
        fail_msg("%s: %s", why.text, got->body);
    const struct json_node *node = json_tree_get(root, slice_str(key));
    if (node == NULL) fail_msg("no `%s` in %s", key, got->body);
    char *text = arena_alloc(&c->arena, node->text.len + 1);
    if (node->text.len > 0) memcpy(text, node->text.ptr, node->text.len);
    return text;
}

bool webclient_is_served(const char *address, const char *token) {
    struct webclient c;
    webclient_open(&c, address, token);
    struct webgot got = webclient_ask(&c, "POST", "/api/v1/flows", "{\"jobs\": {\"a\": {\"noop\": true}}}");
    webclient_close(&c);
    return got.status == 201;
}
