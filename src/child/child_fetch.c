/* child_fetch.c: see child_fetch.h. */
#include "child_fetch.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "address.h"
#include "curllib.h"
#include "fetch.h"

#define READ_BYTES 65536u
#define INPUT_BYTES_MAX ((size_t)2 << 20)
#define HEAD_BYTES_MAX 65536u
#define PROBLEM_BYTES_MAX 500u
#define TIMEOUT_MS_MAX 120000u

struct child_fetching {
    struct fetch_spec spec;
    struct arena arena;
    struct curllib lib;
    CURL *curl;
    struct buf body, authorization;
    size_t head_bytes;
    struct why refused; /* an address that was not to be connected to, or an answer beyond a limit */
    struct fetched got;
};

/* ---- what is told ---- */

static bool input_read(struct buf *in) {
    for (ssize_t n = 1; n != 0;) {
        uint8_t *at = buf_space(in, READ_BYTES);
        if (at == NULL) return false;
        n = read(STDIN_FILENO, at, READ_BYTES);
        buf_cut(in, in->len - READ_BYTES + (n > 0 ? (size_t)n : 0));
        if (n < 0 && errno != EINTR) return false;
    }
    return true;
}

static bool output_write(struct slice bytes) {
    while (bytes.len > 0) {
        ssize_t n = write(STDOUT_FILENO, bytes.ptr, bytes.len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes = slice_of(bytes.ptr + n, bytes.len - (size_t)n);
    }
    return true;
}

static char *text_of(struct arena *arena, struct slice s) {
    char *text = arena_alloc(arena, s.len + 1);
    if (s.len > 0) memcpy(text, s.ptr, s.len);
    return text;
}

/* ---- what comes ---- */

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *to) {
    struct child_fetching *f = ctx;
    (void)purpose;
    if (!f->spec.is_public || address_is_public(&to->addr))
        return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
    (void)why_set(&f->refused, ERR_FORBIDDEN, "an address on another host than the issuer's must be a public one");
    return CURL_SOCKET_BAD;
}

static bool begins(struct slice line, const char *name) {
    size_t len = strlen(name);
    return line.len > len && strncasecmp((const char *)line.ptr, name, len) == 0;
}

static void cache_control(struct child_fetching *f, struct slice line) {
    const uint8_t *age = memmem(line.ptr, line.len, "max-age=", 8);
    uint64_t seconds = 0;
    size_t digits = 0;
    if (memmem(line.ptr, line.len, "no-store", 8) != NULL || memmem(line.ptr, line.len, "no-cache", 8) != NULL)
        f->got.max_age_s = 0;
    if (age == NULL || f->got.max_age_s == 0) return;
    age += 8;
    while (age + digits < line.ptr + line.len && age[digits] >= '0' && age[digits] <= '9') digits++;
    if (digits > 0 && slice_decimal(slice_of(age, digits < 9 ? digits : 9), &seconds))
        f->got.max_age_s = (int64_t)seconds;
}

static void date(struct child_fetching *f, struct slice line) {
    char text[64] = "";
    struct tm parts = {0};
    while (line.len > 0 && line.ptr[0] == ' ') line = slice_of(line.ptr + 1, line.len - 1);
    if (line.len >= sizeof text) return;
    memcpy(text, line.ptr, line.len);
    if (strptime(text, "%a, %d %b %Y %H:%M:%S", &parts) != NULL) f->got.date_ms = (int64_t)timegm(&parts) * 1000;
}

static size_t on_head(char *bytes, size_t size, size_t count, void *ctx) {
    struct child_fetching *f = ctx;
    struct slice line = slice_of(bytes, size * count);
    f->head_bytes += line.len;
    if (f->head_bytes > HEAD_BYTES_MAX) {
        (void)why_set(&f->refused, ERR_LIMIT, "the head of the answer is longer than %u bytes", HEAD_BYTES_MAX);
        return 0;
    }
    if (begins(line, "cache-control:")) cache_control(f, slice_of(line.ptr + 14, line.len - 14));
    if (begins(line, "date:")) date(f, slice_of(line.ptr + 5, line.len - 5));
    return size * count;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx) {
    struct child_fetching *f = ctx;
    buf_put(&f->body, bytes, size * count);
    if (!f->body.full) return size * count;
    (void)why_set(&f->refused, ERR_LIMIT, "the answer is longer than %u bytes", f->spec.bytes_max);
    return 0;
}

/* ---- the request ---- */

static struct curl_slist *headers_make(struct child_fetching *f) {
    struct curl_slist *list = f->lib.slist_append(NULL, "Accept: application/json");
    if (f->spec.form.len > 0) list = f->lib.slist_append(list, "Content-Type: application/x-www-form-urlencoded");
    if (f->spec.authorization.len == 0) return list;
    buf_init(&f->authorization, FETCH_URL_MAX + 64);
    buf_printf(&f->authorization, "Authorization: %.*s", SLICE_FMT(f->spec.authorization));
    buf_put_u8(&f->authorization, 0);
    return f->lib.slist_append(list, (const char *)f->authorization.at);
}

static void curl_set(struct child_fetching *f, struct curl_slist *headers, char error[CURL_ERROR_SIZE]) {
    CURL *c = f->curl;
    uint32_t timeout =
        f->spec.timeout_ms > 0 && f->spec.timeout_ms < TIMEOUT_MS_MAX ? f->spec.timeout_ms : TIMEOUT_MS_MAX;
    f->lib.easy_setopt(c, CURLOPT_URL, text_of(&f->arena, f->spec.url));
    f->lib.easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    f->lib.easy_setopt(c, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    f->lib.easy_setopt(c, CURLOPT_PROXY, "");
    f->lib.easy_setopt(c, CURLOPT_NOPROXY, "*");
    f->lib.easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
    f->lib.easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    f->lib.easy_setopt(c, CURLOPT_OPENSOCKETDATA, f);
    f->lib.easy_setopt(c, CURLOPT_HEADERFUNCTION, on_head);
    f->lib.easy_setopt(c, CURLOPT_HEADERDATA, f);
    f->lib.easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    f->lib.easy_setopt(c, CURLOPT_WRITEDATA, f);
    f->lib.easy_setopt(c, CURLOPT_ERRORBUFFER, error);
    f->lib.easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)timeout);
    f->lib.easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    f->lib.easy_setopt(c, CURLOPT_USERAGENT, "reeve");
    f->lib.easy_setopt(c, CURLOPT_HTTPHEADER, headers);
    if (f->spec.form.len > 0) {
        f->lib.easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)f->spec.form.len);
        f->lib.easy_setopt(c, CURLOPT_POSTFIELDS, (const char *)f->spec.form.ptr);
    }
    struct curl_blob ca = {.data = text_of(&f->arena, f->spec.ca), .len = f->spec.ca.len, .flags = CURL_BLOB_COPY};
    if (f->spec.ca.len > 0) f->lib.easy_setopt(c, CURLOPT_CAINFO_BLOB, &ca);
}

static void problem(struct child_fetching *f, const char *text) {
    struct slice s = slice_str(text);
    f->got.status = 0;
    f->got.body = (struct slice){0};
    f->got.problem = arena_slice(&f->arena, slice_of(s.ptr, s.len < PROBLEM_BYTES_MAX ? s.len : PROBLEM_BYTES_MAX));
}

static void perform(struct child_fetching *f) {
    char error[CURL_ERROR_SIZE] = {0};
    long status = 0;
    struct curl_slist *headers = headers_make(f);
    buf_init(&f->body,
             f->spec.bytes_max > 0 && f->spec.bytes_max < FETCH_BODY_MAX ? f->spec.bytes_max : FETCH_BODY_MAX);
    f->curl = f->lib.easy_init();
    if (f->curl == NULL) {
        problem(f, "no memory for a request");
        return;
    }
    curl_set(f, headers, error);
    CURLcode code = f->lib.easy_perform(f->curl);
    f->lib.easy_getinfo(f->curl, CURLINFO_RESPONSE_CODE, &status);
    f->lib.slist_free_all(headers);
    f->lib.easy_cleanup(f->curl);
    if (code == CURLE_OK) {
        f->got.status = (uint32_t)status;
        f->got.body = buf_slice(&f->body);
    } else {
        problem(f, f->refused.text[0] != 0 ? f->refused.text : error[0] != 0 ? error : f->lib.easy_strerror(code));
    }
}

static void confine(const struct child_world *world) {
    /* where a name server is found, too; as in child_http.c */
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
    (void)!world->confine->self(&spec, &ignored);
}

int child_fetch(const struct child_world *world, int count, char **args) {
    struct child_fetching f = {.got = {.max_age_s = -1}};
    struct why why = {{0}};
    struct buf in, out;
    (void)count, (void)args;
    arena_init(&f.arena, 65536, (size_t)1 << 24);
    buf_init(&in, INPUT_BYTES_MAX + READ_BYTES);
    buf_init(&out, (size_t)FETCH_BODY_MAX + 8192);
    enum err e = input_read(&in) ? ERR_OK : why_set(&why, ERR_IO, "what is to be fetched was not told");
    if (e == ERR_OK) e = fetch_spec_take(buf_slice(&in), &f.arena, &f.spec, &why);
    if (e == ERR_OK) e = curllib_load(&f.lib, &why);
    if (e == ERR_OK) {
        confine(world);
        perform(&f);
    } else {
        problem(&f, why.text);
    }
    fetched_put(&out, &f.got);
    bool good = !out.full && output_write(buf_slice(&out));
    /* What else a build does at an exit (looking for leaks) needs files that were given up. */
    _exit(good ? 0 : 1);
}
