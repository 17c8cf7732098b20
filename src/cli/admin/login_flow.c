/* login_flow.c: see login_flow.h. */
#include "login_flow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base64url.h"
#include "browser.h"
#include "hex.h"
#include "issuers.h"
#include "keyring.h"
#include "out.h"
#include "uri.h"

#define WAIT_MS (5 * 60 * 1000)
#define TIMEOUT_MS 15000
#define ANSWER_BYTES_MAX 262144u
#define SECRET_BYTES 65u /* with the zero */
#define HEAD_BYTES_MAX 8192u
#define INTERVAL_S 5
#define SLOWER_S 5

static int64_t now_ms(struct cli *c) {
    return c->world->clock->mono(c->world->clock).ms;
}

static struct slice kept(struct cli *c, const char *text) {
    return issuer_url_is_safe(slice_str(text)) ? slice_str(arena_copy(&c->arena, text, strlen(text) + 1))
                                               : (struct slice){0};
}

static enum err ask(struct cli *c, const struct login_issuer *is, struct slice url, struct slice form,
                    struct fetched *ret) {
    struct fetch_spec spec = {
        .url = url, .form = form, .ca = is->ca, .timeout_ms = TIMEOUT_MS, .bytes_max = ANSWER_BYTES_MAX};
    enum err e = c->world->login->fetch(&spec, &c->arena, ret, c->why);
    if (e != ERR_OK || ret->status != 0) return e;
    return cli_refuse(c, ERR_UNKNOWN, "%.*s: %.*s", SLICE_FMT(url), SLICE_FMT(ret->problem));
}

enum err login_flow_places(struct cli *c, struct login_issuer *is) {
    struct issuer named = {.name = is->name, .url = is->url};
    struct keyring *k = ARENA_NEW(&c->arena, struct keyring);
    char url[ISSUER_URL_MAX + 64];
    struct fetched got = {0};
    struct limits limits;
    limits_default(&limits);
    if (!issuer_url_is_safe(is->url))
        return cli_refuse(c, ERR_FORBIDDEN, "the server names an identity provider without https: %.*s",
                          SLICE_FMT(is->url));
    keyring_init(k, &named);
    (void)keyring_begin(k, 0, url);
    enum err e = ask(c, is, slice_str(url), (struct slice){0}, &got);
    if (e == ERR_OK && got.status != 200) e = cli_refuse(c, ERR_UNKNOWN, "%s answers with status %u", url, got.status);
    if (e == ERR_OK) e = keyring_came(k, 0, got.body, -1, &limits, c->why);
    if (e == ERR_OK) {
        is->authorization_url = kept(c, k->places.authorization);
        is->token_url = kept(c, k->places.token);
        is->device_url = kept(c, k->places.device);
    }
    keyring_fini(k);
    if (e == ERR_OK && is->token_url.len == 0) e = cli_refuse(c, ERR_UNSUPPORTED, "the provider gives no tokens");
    return e;
}

/* What the provider says against it. */
static enum err judge(struct cli *c, const struct login_token *t) {
    if (t->error.len == 0) return ERR_OK;
    return cli_refuse(c, ERR_UNAUTHENTICATED, "the provider refused the login: %.*s%s%.*s", SLICE_FMT(t->error),
                      t->error_text.len > 0 ? ", " : "", SLICE_FMT(t->error_text));
}

/* ---- by a browser of this machine ---- */

static int listen_here(uint16_t *ret_port) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 8) == 0 &&
        getsockname(fd, (struct sockaddr *)&a, &len) == 0) {
        *ret_port = ntohs(a.sin_port);
        return fd;
    }
    if (fd >= 0) close(fd);
    return -1;
}

static void secret_make(struct cli *c, char ret[SECRET_BYTES]) {
    uint8_t bytes[32];
    for (size_t i = 0; i < sizeof bytes; i += 8) {
        uint64_t word = c->world->clock->random(c->world->clock);
        memcpy(bytes + i, &word, sizeof word);
    }
    hex_write(slice_of(bytes, sizeof bytes), ret);
}

static void challenge_put(struct cli *c, const char *verifier, struct buf *out) {
    uint8_t hash[DIGEST_BYTES];
    c->world->hasher->whole(c->world->hasher, slice_str(verifier), hash);
    buf_put_slice(out, SLICE("&code_challenge_method=S256&code_challenge="));
    base64url_put(out, slice_of(hash, sizeof hash));
}

/* A page for the person; it has nothing in it that came from elsewhere. */
static void say_page(int fd, const char *text) {
    char page[512], head[256];
    int len = snprintf(page, sizeof page,
                       "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Reeve</title><h1>Reeve</h1>"
                       "<p>%s</p></html>\n",
                       text);
    int head_len = snprintf(head, sizeof head,
                            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n"
                            "Content-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n",
                            len);
    if (send(fd, head, (size_t)head_len, MSG_NOSIGNAL) > 0) (void)!send(fd, page, (size_t)len, MSG_NOSIGNAL);
}

struct answer_of_browser {
    struct slice code, state, error;
};

/* "GET /callback?code=…&state=… HTTP/1.1" */
static bool answer_read(struct cli *c, struct slice head, struct answer_of_browser *ret) {
    struct slice front = SLICE("GET /callback?"), query, key, value;
    const uint8_t *end = head.len > 0 ? memchr(head.ptr, '\r', head.len) : NULL;
    if (!slice_begins(head, front) || end == NULL) return false;
    query = slice_of(head.ptr + front.len, (size_t)(end - head.ptr) - front.len);
    const uint8_t *blank = query.len > 0 ? memchr(query.ptr, ' ', query.len) : NULL;
    if (blank != NULL) query.len = (size_t)(blank - query.ptr);
    *ret = (struct answer_of_browser){.code = {0}};
    while (uri_pair_next(&query, &key, &value)) {
        struct slice *to = slice_eq(key, SLICE("code"))    ? &ret->code
                           : slice_eq(key, SLICE("state")) ? &ret->state
                           : slice_eq(key, SLICE("error")) ? &ret->error
                                                           : NULL;
        if (to != NULL && uri_decode(value, true, &c->arena, to, c->why) != ERR_OK) return false;
    }
    return ret->code.len > 0 || ret->error.len > 0;
}

/* Browsers also ask for an icon, and other programs of this machine may knock: only an answer with our state counts. */
static enum err wait_for_answer(struct cli *c, int listener, const char *state, struct slice *ret_code) {
    int64_t until = now_ms(c) + WAIT_MS;
    for (int64_t left = WAIT_MS; left > 0; left = until - now_ms(c)) {
        struct pollfd p = {.fd = listener, .events = POLLIN};
        struct timeval patience = {.tv_sec = 5};
        struct answer_of_browser got;
        char head[HEAD_BYTES_MAX];
        if (poll(&p, 1, (int)left) <= 0) continue;
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) continue;
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ssize_t n = recv(fd, head, sizeof head, 0);
        bool is_ours =
            n > 0 && answer_read(c, slice_of(head, (size_t)n), &got) && slice_eq(got.state, slice_str(state));
        say_page(fd, !is_ours            ? "This is not the login that `reeve login` waits for."
                     : got.error.len > 0 ? "The login was refused. You can close this page."
                                         : "You are logged in. You can close this page.");
        close(fd);
        if (!is_ours) continue;
        if (got.error.len > 0)
            return cli_refuse(c, ERR_UNAUTHENTICATED, "the provider refused the login: %.*s", SLICE_FMT(got.error));
        *ret_code = got.code;
        return ERR_OK;
    }
    return cli_refuse(c, ERR_STATE, "no login came within five minutes; `reeve login --device` needs no browser here");
}

static void address_put(struct cli *c, const struct login_issuer *is, const char *back, const char *state,
                        const char *verifier, struct buf *out) {
    struct buf query;
    buf_init(&query, HEAD_BYTES_MAX);
    login_form_put(&query, "response_type", SLICE("code"));
    login_form_put(&query, "client_id", is->client_id);
    login_form_put(&query, "redirect_uri", slice_str(back));
    login_form_put(&query, "scope", is->scopes);
    login_form_put(&query, "state", slice_str(state));
    challenge_put(c, verifier, &query);
    bool has_query = memchr(is->authorization_url.ptr, '?', is->authorization_url.len) != NULL;
    buf_printf(out, "%.*s%c%.*s", SLICE_FMT(is->authorization_url), has_query ? '&' : '?',
               SLICE_FMT(buf_slice(&query)));
    buf_put_u8(out, 0);
    buf_fini(&query);
}

static enum err code_change(struct cli *c, const struct login_issuer *is, struct slice code, const char *back,
                            const char *verifier, struct login_token *ret) {
    struct buf form;
    buf_init(&form, HEAD_BYTES_MAX * 4);
    login_form_put(&form, "grant_type", SLICE("authorization_code"));
    login_form_put(&form, "code", code);
    login_form_put(&form, "redirect_uri", slice_str(back));
    login_form_put(&form, "client_id", is->client_id);
    login_form_put(&form, "code_verifier", slice_str(verifier));
    enum err e = login_token_ask(c->world->login, is->token_url, buf_slice(&form), is->ca, &c->arena, ret, c->why);
    buf_fini(&form);
    return e == ERR_OK ? judge(c, ret) : e;
}

enum err login_flow_browser(struct cli *c, const struct login_issuer *is, struct login_token *ret) {
    char state[SECRET_BYTES], verifier[SECRET_BYTES], back[64];
    uint16_t port = 0;
    struct slice code = {0};
    struct buf url;
    struct why ignored = *c->why;
    if (is->authorization_url.len == 0) return cli_refuse(c, ERR_UNSUPPORTED, "the provider has no login page");
    int fd = listen_here(&port);
    if (fd < 0) return cli_refuse(c, ERR_IO, "no port for the browser to come back to: %s", strerrordesc_np(errno));
    secret_make(c, state);
    secret_make(c, verifier);
    snprintf(back, sizeof back, "http://127.0.0.1:%u/callback", port);
    buf_init(&url, HEAD_BYTES_MAX * 2);
    address_put(c, is, back, state, verifier, &url);
    fprintf(stderr, "log in with your browser:\n%s\n", (const char *)url.at);
    if (browser_open(c, (const char *)url.at) != ERR_OK) *c->why = ignored; /* it is printed, too */
    enum err e = wait_for_answer(c, fd, state, &code);
    close(fd);
    buf_fini(&url);
    return e == ERR_OK ? code_change(c, is, code, back, verifier, ret) : e;
}

/* ---- by a code ---- */

struct device_code {
    struct slice code, user_code, url, url_complete;
    int64_t interval_s, expires_s;
};

static enum err device_read(struct cli *c, struct slice body, struct device_code *ret) {
    const struct json_node *root = NULL;
    struct limits limits;
    limits_default(&limits);
    if (json_tree_read(body, &limits, &c->arena, &root, c->why) != ERR_OK)
        return cli_refuse(c, ERR_UNKNOWN, "the provider's answer is not JSON");
    const struct {
        const char *key;
        struct slice *to;
    } texts[] = {{"device_code", &ret->code},
                 {"user_code", &ret->user_code},
                 {"verification_uri", &ret->url},
                 {"verification_uri_complete", &ret->url_complete}};
    *ret = (struct device_code){.interval_s = INTERVAL_S, .expires_s = WAIT_MS / 1000};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct json_node *n = json_tree_get(root, slice_str(texts[i].key));
        if (n != NULL && n->kind == JSON_TEXT) *texts[i].to = n->text;
    }
    const struct json_node *interval = json_tree_get(root, SLICE("interval"));
    int64_t seconds = 0;
    if (interval != NULL && interval->kind == JSON_NUMBER && json_number_i64(interval->text, &seconds) == ERR_OK &&
        seconds > 0 && seconds <= 60)
        ret->interval_s = seconds;
    if (ret->code.len > 0 && ret->user_code.len > 0 && issuer_url_is_safe(ret->url)) return ERR_OK;
    const struct json_node *error = json_tree_get(root, SLICE("error"));
    return cli_refuse(c, ERR_UNSUPPORTED, "the provider gave no code for this device: %.*s",
                      SLICE_FMT(error != NULL ? error->text : SLICE("no reason")));
}

static enum err device_poll(struct cli *c, const struct login_issuer *is, const struct device_code *d,
                            struct login_token *ret) {
    struct buf form;
    int64_t until = now_ms(c) + d->expires_s * 1000, interval_s = d->interval_s;
    enum err e = ERR_OK;
    buf_init(&form, HEAD_BYTES_MAX * 4);
    login_form_put(&form, "grant_type", SLICE("urn:ietf:params:oauth:grant-type:device_code"));
    login_form_put(&form, "device_code", d->code);
    login_form_put(&form, "client_id", is->client_id);
    for (bool waits = true; e == ERR_OK && waits;) {
        (void)poll(NULL, 0, (int)interval_s * 1000);
        e = login_token_ask(c->world->login, is->token_url, buf_slice(&form), is->ca, &c->arena, ret, c->why);
        bool slower = e == ERR_OK && slice_eq(ret->error, SLICE("slow_down"));
        if (slower) interval_s += SLOWER_S;
        waits = slower || (e == ERR_OK && slice_eq(ret->error, SLICE("authorization_pending")));
        if (waits && now_ms(c) > until) e = cli_refuse(c, ERR_STATE, "the code was not used in time: log in again");
    }
    buf_fini(&form);
    return e == ERR_OK ? judge(c, ret) : e;
}

enum err login_flow_device(struct cli *c, const struct login_issuer *is, struct login_token *ret) {
    struct device_code d;
    struct fetched got = {0};
    struct buf form;
    if (is->device_url.len == 0)
        return cli_refuse(c, ERR_UNSUPPORTED, "the provider has no login by a code: log in without --device");
    buf_init(&form, HEAD_BYTES_MAX);
    login_form_put(&form, "client_id", is->client_id);
    login_form_put(&form, "scope", is->scopes);
    enum err e = ask(c, is, is->device_url, buf_slice(&form), &got);
    buf_fini(&form);
    if (e == ERR_OK) e = device_read(c, got.body, &d);
    if (e != ERR_OK) return e;
    out_say(stderr, "open %.*s and enter %.*s", SLICE_FMT(d.url), SLICE_FMT(d.user_code));
    return device_poll(c, is, &d, ret);
}
