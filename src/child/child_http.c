/* child_http.c: see child_http.h. */
#include "child_http.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "address.h"
#include "answer.h"
#include "curllib.h"
#include "http_text.h"
#include "wire_http.h"

#define REQUEST_BYTES_MAX (4u << 20)
#define TEXT_BYTES_MAX (4u << 20)      /* of a text with its variables filled in */
#define BODY_BYTES_STANDARD (1u << 20) /* what other jobs can still work with as outputs */
#define SAVED_BYTES_STANDARD (1ull << 30)
#define TIMEOUT_MS_STANDARD 30000
#define REDIRECTS_MAX 20u
#define PATH_BYTES_MAX 4096u

struct child_request {
    struct wire_http http;
    const char *allowed;     /* addresses that are not public */
    const char *retry_after; /* a file; NULL = nobody wants to know */
    struct arena arena;
    struct curllib lib;
    CURL *curl;
    struct answer answer;
    struct buf url, body;
    const char *method;
    bool with_headers, with_body;
    bool is_as_written; /* the URL that the flow has holds no variable of the worker: hosts may be talked about */
    int64_t deadline_ms;
    struct why refused; /* an address that was not to be connected to */
    char *ca;           /* certificates as PEM; NULL = those of the system */
};

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int refuse(const char *what, const struct why *why) {
    fprintf(stderr, "%s: %s\n", what, why->text);
    return CHILD_HTTP_REFUSED;
}

static char *text_of(struct arena *arena, struct slice s) {
    char *text = arena_alloc(arena, s.len + 1);
    if (s.len > 0) memcpy(text, s.ptr, s.len);
    return text;
}

/* ---- what is asked for ---- */

static enum err file_read(const char *path, struct arena *arena, struct slice *ret, struct why *why) {
    struct buf b;
    FILE *f = fopen(path, "re");
    if (f == NULL) return why_set(why, ERR_IO, "%s: %s", path, strerror(errno));
    buf_init(&b, REQUEST_BYTES_MAX);
    for (uint8_t part[4096];;) {
        size_t n = fread(part, 1, sizeof part, f);
        buf_put(&b, part, n);
        if (n < sizeof part) break;
    }
    fclose(f);
    *ret = slice_str(text_of(arena, buf_slice(&b)));
    ret->len = b.len;
    buf_fini(&b);
    return ERR_OK;
}

static enum err request_read(const char *path, struct child_request *r, struct why *why) {
    struct slice bytes = {0};
    enum err e = file_read(path, &r->arena, &bytes, why);
    if (e == ERR_OK) e = tlv_decode(&wire_http_desc, bytes, TLV_SKIP_UNKNOWN, &r->arena, &r->http, why);
    if (e != ERR_OK || r->http.ca.len == 0) return e;
    r->ca = text_of(&r->arena, r->http.ca);
    if (strncmp(r->ca, "-----BEGIN", 10) == 0) return ERR_OK;
    e = file_read(r->ca, &r->arena, &bytes, why);
    if (e == ERR_OK) r->ca = text_of(&r->arena, bytes);
    return e == ERR_OK ? ERR_OK : why_wrap(why, e, "tls.ca");
}

static const char *variable(const char *name) {
    return getenv(name);
}

/* These are ours to say: a second one would tell server and proxy different things about where the request ends. */
static bool is_ours(const char *name) {
    static const char *const names[] = {
        "host", "content-length", "transfer-encoding", "connection",      "upgrade", "trailer",
        "te",   "expect",         "keep-alive",        "proxy-connection"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(names[i], name) == 0) return true;
    return false;
}

static enum err header_make(struct child_request *r, const struct wire_pair *pair, struct curl_slist **list,
                            struct why *why) {
    struct buf line;
    const char *name = text_of(&r->arena, pair->key);
    if (is_ours(name)) return why_set(why, ERR_INVALID, "the header `%s` is not the job's to set", name);
    buf_init(&line, TEXT_BYTES_MAX);
    buf_put_slice(&line, pair->key);
    size_t before = line.len;
    buf_put_slice(&line, SLICE(": "));
    enum err e = http_text_fill(HTTP_TEXT_HEADER, pair->value, variable, &line, why);
    if (e == ERR_OK && (line.full || http_text_has_control(buf_slice(&line))))
        e = why_set(why, ERR_INVALID, "the header `%s` is too long or has control characters", name);
    if (e == ERR_OK && line.len == before + 2) { /* how libcurl writes one that is empty */
        buf_cut(&line, before);
        buf_put_u8(&line, ';');
    }
    buf_put_u8(&line, 0);
    if (e == ERR_OK) *list = r->lib.slist_append(*list, (const char *)line.at);
    buf_fini(&line);
    return e;
}

static bool has_header(const struct wire_http *h, const char *name) {
    const struct wire_pair *pairs = h->headers.at;
    for (uint32_t i = 0; i < h->headers.count; i++)
        if (pairs[i].key.len == strlen(name) && strncasecmp((const char *)pairs[i].key.ptr, name, strlen(name)) == 0)
            return true;
    return false;
}

static enum err headers_make(struct child_request *r, struct curl_slist **ret, struct why *why) {
    const struct wire_pair *pairs = r->http.headers.at;
    struct curl_slist *list = r->lib.slist_append(NULL, "Expect:");
    enum err e = ERR_OK;
    for (uint32_t i = 0; r->with_headers && e == ERR_OK && i < r->http.headers.count; i++)
        e = header_make(r, &pairs[i], &list, why);
    if (r->with_body && !has_header(&r->http, "content-type"))
        list =
            r->lib.slist_append(list, r->http.is_json ? "Content-Type: application/json" : "Content-Type: text/plain");
    *ret = list;
    return e;
}

static enum err texts_make(struct child_request *r, struct why *why) {
    const struct wire_http *h = &r->http;
    buf_init(&r->url, TEXT_BYTES_MAX);
    buf_init(&r->body, TEXT_BYTES_MAX);
    enum err e = http_text_fill(HTTP_TEXT_URL, h->url, variable, &r->url, why);
    if (e == ERR_OK) e = http_text_fill(h->is_json ? HTTP_TEXT_JSON : HTTP_TEXT_BODY, h->body, variable, &r->body, why);
    if (e == ERR_OK && (r->url.full || r->body.full)) e = why_set(why, ERR_LIMIT, "the request is too long");
    if (e == ERR_OK && http_text_has_control(buf_slice(&r->url)))
        e = why_set(why, ERR_INVALID, "a URL has no control characters");
    r->is_as_written = slice_eq(buf_slice(&r->url), h->url);
    buf_put_u8(&r->url, 0);
    r->with_headers = true;
    r->with_body = h->body.len > 0;
    r->method = h->method.len > 0 ? text_of(&r->arena, h->method) : r->with_body ? "POST" : "GET";
    return e;
}

/* ---- where it goes ---- */

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *to) {
    struct child_request *r = ctx;
    char shown[NI_MAXHOST] = "?";
    (void)purpose;
    bool allowed = r->http.allow_private && address_is_listed(&to->addr, r->allowed);
    if (allowed || address_is_public(&to->addr)) return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
    if (r->is_as_written)
        (void)getnameinfo(&to->addr, to->addrlen, shown, sizeof shown, NULL, 0, NI_NUMERICHOST);
    else
        snprintf(shown, sizeof shown, "the address of the URL");
    (void)why_set(&r->refused, ERR_FORBIDDEN, "%s is not a public address%s", shown,
                  r->http.allow_private ? " and not among those that this worker allows (--http-private)"
                                        : "; the job does not say `allow_private: true`");
    return CURL_SOCKET_BAD;
}

static char *url_part(struct child_request *r, const char *url, CURLUPart part) {
    char *text = NULL;
    CURLU *u = r->lib.url();
    if (u != NULL && r->lib.url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK)
        (void)r->lib.url_get(u, part, &text, part == CURLUPART_PORT ? CURLU_DEFAULT_PORT : 0);
    r->lib.url_cleanup(u);
    return text;
}

static bool same_part(struct child_request *r, const char *a, const char *b, CURLUPart part) {
    char *of_a = url_part(r, a, part), *of_b = url_part(r, b, part);
    bool same = of_a != NULL && of_b != NULL && strcasecmp(of_a, of_b) == 0;
    r->lib.free(of_a);
    r->lib.free(of_b);
    return same;
}

/* ---- one hop ---- */

static size_t on_head(char *bytes, size_t size, size_t count, void *ctx) {
    struct child_request *r = ctx;
    return answer_head_line(&r->answer, slice_of(bytes, size * count)) ? size * count : 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx) {
    struct child_request *r = ctx;
    return answer_body(&r->answer, slice_of(bytes, size * count)) ? size * count : 0;
}

static void hop_set(struct child_request *r, struct curl_slist *headers, char error[CURL_ERROR_SIZE]) {
    CURL *c = r->curl;
    int64_t left = r->deadline_ms - now_ms();
    r->lib.easy_reset(c);
    r->lib.easy_setopt(c, CURLOPT_URL, (const char *)r->url.at);
    r->lib.easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    r->lib.easy_setopt(c, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    r->lib.easy_setopt(c, CURLOPT_PROXY, "");
    r->lib.easy_setopt(c, CURLOPT_NOPROXY, "*");
    r->lib.easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
    r->lib.easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    r->lib.easy_setopt(c, CURLOPT_OPENSOCKETDATA, r);
    r->lib.easy_setopt(c, CURLOPT_HEADERFUNCTION, on_head);
    r->lib.easy_setopt(c, CURLOPT_HEADERDATA, r);
    r->lib.easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    r->lib.easy_setopt(c, CURLOPT_WRITEDATA, r);
    r->lib.easy_setopt(c, CURLOPT_ERRORBUFFER, error);
    r->lib.easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)(left > 0 ? left : 1));
    r->lib.easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    r->lib.easy_setopt(c, CURLOPT_USERAGENT, "reeve");
    r->lib.easy_setopt(c, CURLOPT_HTTPHEADER, headers);
    r->lib.easy_setopt(c, CURLOPT_CUSTOMREQUEST, r->method);
    if (strcmp(r->method, "HEAD") == 0) r->lib.easy_setopt(c, CURLOPT_NOBODY, 1L);
    if (r->with_body || strcmp(r->method, "POST") == 0) {
        r->lib.easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(r->with_body ? r->body.len : 0));
        r->lib.easy_setopt(c, CURLOPT_POSTFIELDS, r->with_body ? slice_data(buf_slice(&r->body)) : "");
    }
    struct curl_blob ca = {.data = r->ca, .len = r->ca != NULL ? strlen(r->ca) : 0, .flags = CURL_BLOB_COPY};
    if (r->ca != NULL) r->lib.easy_setopt(c, CURLOPT_CAINFO_BLOB, &ca);
}

/* Some mistakes are the request's own: they will be made again. */
static bool is_final(CURLcode code) {
    return code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL ||
           code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE || code == CURLE_LOGIN_DENIED;
}

static int hop(struct child_request *r, long *ret_status) {
    char error[CURL_ERROR_SIZE] = {0};
    struct curl_slist *headers = NULL;
    struct why why = {{0}};
    if (headers_make(r, &headers, &why) != ERR_OK) {
        r->lib.slist_free_all(headers);
        return refuse("http", &why);
    }
    answer_again(&r->answer);
    hop_set(r, headers, error);
    CURLcode code = r->lib.easy_perform(r->curl);
    r->lib.slist_free_all(headers);
    r->lib.easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, ret_status);
    if (code == CURLE_OK) return CHILD_HTTP_OK;
    if (r->answer.why.text[0] != 0) return refuse("http", &r->answer.why);
    if (r->refused.text[0] != 0) return refuse("http", &r->refused);
    /* Errors in detail name hosts; the kind of an error names nothing. */
    bool in_detail = error[0] != 0 && r->is_as_written;
    fprintf(stderr, "http: %.*s: %s\n", SLICE_FMT(r->http.url), in_detail ? error : r->lib.easy_strerror(code));
    return is_final(code) ? CHILD_HTTP_REFUSED : CHILD_HTTP_AGAIN;
}

/* ---- all hops ---- */

static bool is_redirect(long status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Whoever is somewhere else is told no header of the job's, and no body that was not to be sent again. */
static int redirect(struct child_request *r, long status, const char *to) {
    struct why why = {{0}};
    const char *from = (const char *)r->url.at;
    if (strncasecmp(from, "https:", 6) == 0 && strncasecmp(to, "https:", 6) != 0) {
        (void)why_set(&why, ERR_FORBIDDEN, "the server sends us on from https to http");
        return refuse("http", &why);
    }
    bool same = same_part(r, from, to, CURLUPART_SCHEME) && same_part(r, from, to, CURLUPART_HOST) &&
                same_part(r, from, to, CURLUPART_PORT);
    if (!same) r->with_headers = false;
    bool as_get = status == 303 || ((status == 301 || status == 302) && strcmp(r->method, "POST") == 0);
    if (as_get && strcmp(r->method, "HEAD") != 0) {
        r->method = "GET";
        r->with_body = false;
    }
    buf_clear(&r->url);
    buf_put(&r->url, to, strlen(to) + 1);
    return CHILD_HTTP_OK;
}

static int perform(struct child_request *r, long *ret_status) {
    uint32_t left = r->http.redirects < REDIRECTS_MAX ? r->http.redirects : REDIRECTS_MAX;
    for (;; left--) {
        char *to = NULL;
        int code = hop(r, ret_status);
        if (code != CHILD_HTTP_OK) return code;
        r->lib.easy_getinfo(r->curl, CURLINFO_REDIRECT_URL, &to);
        if (!is_redirect(*ret_status) || to == NULL || left == 0) return CHILD_HTTP_OK;
        code = redirect(r, *ret_status, text_of(&r->arena, slice_str(to)));
        if (code != CHILD_HTTP_OK) return code;
    }
}

/* ---- the answer ---- */

static int judge(const struct wire_http *h, uint32_t status) {
    static const struct wire_span standard = {200, 299};
    const struct wire_span *spans = h->expect.count > 0 ? h->expect.at : &standard;
    for (uint32_t i = 0; i < (h->expect.count > 0 ? h->expect.count : 1); i++)
        if (status >= spans[i].from && status <= spans[i].to) return CHILD_HTTP_OK;
    bool later = status == 408 || status == 425 || status == 429 || status >= 500;
    return later ? CHILD_HTTP_AGAIN : CHILD_HTTP_UNEXPECTED;
}

/* A new file inside the workspace, with the directories on the way. */
static FILE *saved_open(struct slice inside, struct why *why) {
    char path[PATH_BYTES_MAX];
    const char *space = getenv("REEVE_WORKSPACE");
    int len = snprintf(path, sizeof path, "%s/%.*s", space != NULL ? space : ".", SLICE_FMT(inside));
    if (len < 0 || (size_t)len >= sizeof path) errno = ENAMETOOLONG;
    for (char *slash = path + (space != NULL ? strlen(space) : 1) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        (void)mkdir(path, 0777);
        *slash = '/';
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (f == NULL) (void)why_set(why, ERR_IO, "%.*s: %s", SLICE_FMT(inside), strerror(errno));
    return f;
}

static enum err tell(struct child_request *r, long status, struct why *why) {
    const char *path = getenv("REEVE_OUTPUT");
    struct buf out;
    if (path == NULL) return ERR_OK;
    buf_init(&out, (size_t)1 << 28);
    /* As it stands in the flow: filled in, it may show what the worker keeps to itself. */
    answer_tell(&r->answer, (uint32_t)status, r->http.url, r->http.save, &out);
    FILE *f = fopen(path, "we");
    bool good = f != NULL && !out.full && fwrite(out.at, 1, out.len, f) == out.len;
    if (f != NULL && fclose(f) != 0) good = false;
    buf_fini(&out);
    return good ? ERR_OK : why_set(why, ERR_IO, "the outputs cannot be written: %s", strerror(errno));
}

/* Without it the next attempt comes as the job says: nothing fails for that. */
static void tell_retry(const struct child_request *r) {
    uint32_t wait_ms = answer_retry_ms(&r->answer, (int64_t)time(NULL));
    FILE *f = wait_ms > 0 && r->retry_after != NULL ? fopen(r->retry_after, "we") : NULL;
    if (f == NULL) return;
    fprintf(f, "%u", wait_ms);
    fclose(f);
}

static int answered(struct child_request *r, long status, int64_t began_ms) {
    struct why why = {{0}};
    int code = judge(&r->http, (uint32_t)status);
    struct slice later = answer_header(&r->answer, "retry-after");
    printf("%s %.*s: %ld, %llu bytes in %lld ms\n", r->method, SLICE_FMT(r->http.url), status,
           (unsigned long long)r->answer.bytes, (long long)(now_ms() - began_ms));
    if (code != CHILD_HTTP_OK && later.len > 0) printf("the server says: retry after %.*s\n", SLICE_FMT(later));
    if (code == CHILD_HTTP_OK) return tell(r, status, &why) == ERR_OK ? CHILD_HTTP_OK : refuse("http", &why);
    tell_retry(r);
    struct slice shown = buf_slice(&r->answer.body);
    if (shown.len > 2000) shown.len = 2000; /* what a server says about an error fits */
    fprintf(stderr, "http: %ld is not among the expected answers\n%.*s\n", status, SLICE_FMT(shown));
    return code;
}

static int request_run(struct child_request *r) {
    struct why why = {{0}};
    long status = 0;
    bool is_saved = r->http.save.len > 0;
    FILE *file = is_saved ? saved_open(r->http.save, &why) : NULL;
    if (is_saved && file == NULL) return refuse("http: save", &why);
    uint64_t standard = is_saved ? SAVED_BYTES_STANDARD : BODY_BYTES_STANDARD;
    answer_init(&r->answer, r->http.bytes_max != 0 ? r->http.bytes_max : standard, file);
    int64_t began_ms = now_ms();
    r->deadline_ms = began_ms + (r->http.timeout_ms != 0 ? r->http.timeout_ms : TIMEOUT_MS_STANDARD);
    r->curl = r->lib.easy_init();
    int code = r->curl != NULL ? perform(r, &status) : CHILD_HTTP_AGAIN;
    if (file != NULL && fclose(file) != 0 && code == CHILD_HTTP_OK) code = CHILD_HTTP_AGAIN;
    if (code == CHILD_HTTP_OK) code = answered(r, status, began_ms);
    r->lib.easy_cleanup(r->curl);
    answer_fini(&r->answer);
    return code;
}

/* Nothing that a server answers reaches further than the files of the job. Where the kernel cannot keep that, the
 * request is made all the same: it is a library that we would trust inside a process of our own. */
static void confine(const struct child_world *world) {
    /* where a name server is found, too */
    static const char *const read[] = {"/usr",
                                       "/lib",
                                       "/lib32",
                                       "/lib64",
                                       "/bin",
                                       "/etc",
                                       "/run/systemd/resolve",
                                       "/run/resolvconf",
                                       "/run/NetworkManager",
                                       NULL};
    struct confine_spec spec = {.read = read, .sockets = true};
    struct why ignored;
    char space[PATH_BYTES_MAX];
    const char *output = getenv("REEVE_OUTPUT");
    snprintf(space, sizeof space, "%s", output != NULL ? output : "");
    char *slash = strrchr(space, '/');
    if (slash != NULL) *slash = 0;
    spec.write = slash != NULL ? space : NULL;
    (void)!world->confine->self(&spec, &ignored);
}

int child_http(const struct child_world *world, int count, char **args) {
    struct child_request r = {.allowed = count > 1 ? args[1] : "", .retry_after = count > 2 ? args[2] : NULL};
    struct why why = {{0}};
    arena_init(&r.arena, 65536, (size_t)1 << 28);
    enum err e = count > 0 ? request_read(args[0], &r, &why) : why_set(&why, ERR_INVALID, "there is no request");
    if (e == ERR_OK) e = curllib_load(&r.lib, &why);
    if (e == ERR_OK) e = texts_make(&r, &why);
    if (e == ERR_OK) confine(world);
    int code = e == ERR_OK ? request_run(&r) : refuse("http", &why);
    buf_fini(&r.url);
    buf_fini(&r.body);
    arena_fini(&r.arena);
    /* What else a build does at an exit (looking for leaks) needs files that were given up. */
    fflush(NULL);
    _exit(code);
}
