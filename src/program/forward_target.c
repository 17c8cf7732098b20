/* forward_target.c: see forward_target.h. */
#include "forward_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "panic.h"

#define REQUEST_MS 30000L
#define ANSWER_BYTES_MAX 65536u

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* A name that only this machine answers to: there is nobody in between. */
static bool is_here(const char *url) {
    static const char *const here[] = {"http://127.0.0.1", "http://localhost", "http://[::1]"};
    for (size_t i = 0; i < sizeof here / sizeof here[0]; i++) {
        char behind = begins(url, here[i]) ? url[strlen(here[i])] : 'x';
        if (behind == 0 || behind == ':' || behind == '/') return true;
    }
    return false;
}

enum err forward_target_check(const char *target, struct why *why) {
    if (begins(target, "file:/") || begins(target, "https://") || is_here(target)) return ERR_OK;
    if (begins(target, "http://"))
        return why_set(why, ERR_FORBIDDEN, "audit_forward: %s is not on this machine: use https://", target);
    return why_set(why, ERR_INVALID, "audit_forward: expected file:/PATH or https://HOST/PATH, found `%s`", target);
}

/* ---- a file ---- */

/* A line without an end was being written when the process died; its page was not counted, and comes again. */
static enum err file_mend(struct forward_target *t, struct why *why) {
    char byte = 0;
    off_t end = lseek(t->fd, 0, SEEK_END), at = end;
    while (at > 0 && byte != '\n') {
        if (pread(t->fd, &byte, 1, at - 1) != 1)
            return why_set(why, ERR_IO, "%s: %s", t->path, strerrordesc_np(errno));
        if (byte != '\n') at--;
    }
    if (end < 0 || (at < end && ftruncate(t->fd, at) != 0))
        return why_set(why, ERR_IO, "%s: %s", t->path, strerrordesc_np(errno));
    return ERR_OK;
}

static enum err file_put(struct forward_target *t, struct slice lines, struct why *why) {
    struct stat now, named;
    bool moved = t->fd >= 0 && (stat(t->path, &named) != 0 || fstat(t->fd, &now) != 0 || named.st_ino != now.st_ino);
    if (moved) (void)close(t->fd); /* somebody rotates it */
    if (moved || t->fd < 0) t->fd = open(t->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (t->fd < 0) return why_set(why, ERR_IO, "%s: %s", t->path, strerrordesc_np(errno));
    enum err e = file_mend(t, why);
    off_t before = lseek(t->fd, 0, SEEK_END);
    for (size_t done = 0; e == ERR_OK && done < lines.len;) {
        ssize_t n = write(t->fd, lines.ptr + done, lines.len - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) e = why_set(why, ERR_IO, "%s: %s", t->path, strerrordesc_np(errno));
        if (n > 0) done += (size_t)n;
    }
    if (e == ERR_OK && fdatasync(t->fd) == 0) return ERR_OK;
    if (e == ERR_OK) e = why_set(why, ERR_IO, "%s: %s", t->path, strerrordesc_np(errno));
    (void)!ftruncate(t->fd, before);
    return e;
}

/* ---- a server ---- */

static size_t answer_drop(char *at, size_t size, size_t count, void *ctx) {
    struct forward_target *t = ctx;
    (void)at;
    t->answered += size * count;
    return t->answered > ANSWER_BYTES_MAX ? 0 : size * count;
}

static enum err server_put(struct forward_target *t, struct slice lines, uint64_t last_lsn, struct why *why) {
    char error[CURL_ERROR_SIZE] = "", number[64];
    long status = 0;
    CURL *c = t->curl;
    struct curl_slist *list = t->lib.slist_append(NULL, "Content-Type: application/x-ndjson");
    snprintf(number, sizeof number, "Reeve-Audit-Lsn: %llu", (unsigned long long)last_lsn);
    list = t->lib.slist_append(list, number);
    list = t->lib.slist_append(list, "Expect:");
    for (uint32_t i = 0; i < t->header_count; i++) list = t->lib.slist_append(list, t->headers[i]);
    t->answered = 0;
    t->lib.easy_setopt(c, CURLOPT_URL, t->url);
    t->lib.easy_setopt(c, CURLOPT_PROTOCOLS_STR, is_here(t->url) ? "http,https" : "https");
    t->lib.easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
    t->lib.easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    t->lib.easy_setopt(c, CURLOPT_USERAGENT, "reeve");
    t->lib.easy_setopt(c, CURLOPT_TIMEOUT_MS, REQUEST_MS);
    t->lib.easy_setopt(c, CURLOPT_ERRORBUFFER, error);
    t->lib.easy_setopt(c, CURLOPT_HTTPHEADER, list);
    t->lib.easy_setopt(c, CURLOPT_WRITEFUNCTION, answer_drop);
    t->lib.easy_setopt(c, CURLOPT_WRITEDATA, t);
    t->lib.easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)lines.len);
    t->lib.easy_setopt(c, CURLOPT_POSTFIELDS, (const char *)slice_data(lines));
    CURLcode got = t->lib.easy_perform(c);
    if (got == CURLE_OK) t->lib.easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    t->lib.slist_free_all(list);
    t->lib.easy_setopt(c, CURLOPT_ERRORBUFFER, NULL);
    if (got != CURLE_OK)
        return why_set(why, ERR_UNKNOWN, "%s: %s", t->url, error[0] != 0 ? error : t->lib.easy_strerror(got));
    if (status < 200 || status > 299) return why_set(why, ERR_UNKNOWN, "%s: it answered %ld", t->url, status);
    return ERR_OK;
}

static enum err headers_read(struct forward_target *t, const char *path, struct why *why) {
    struct stat st;
    if (path[0] == 0) return ERR_OK;
    FILE *f = fopen(path, "re");
    if (f == NULL) return why_set(why, ERR_INVALID, "audit_forward_headers: %s: %s", path, strerrordesc_np(errno));
    bool open_to_others = fstat(fileno(f), &st) == 0 && (st.st_mode & 077) != 0;
    while (!open_to_others && t->header_count < FORWARD_HEADERS_MAX) {
        char *line = t->headers[t->header_count];
        if (fgets(line, FORWARD_HEADER_BYTES, f) == NULL) break;
        line[strcspn(line, "\r\n")] = 0;
        t->header_count += strchr(line, ':') != NULL;
    }
    (void)fclose(f);
    if (!open_to_others) return ERR_OK;
    return why_set(why, ERR_FORBIDDEN, "audit_forward_headers: other users can read %s: run `chmod 600`", path);
}

/* ---- both ---- */

enum err forward_target_open(const char *target, const char *headers, struct forward_target *t, struct why *why) {
    *t = (struct forward_target){.url = target, .fd = -1};
    if (begins(target, "file:/")) t->path = target + 5;
    enum err e = forward_target_check(target, why);
    if (e != ERR_OK || t->path != NULL) return e;
    e = headers_read(t, headers, why);
    if (e == ERR_OK) e = curllib_load(&t->lib, why);
    if (e != ERR_OK) return e;
    t->curl = t->lib.easy_init();
    ENSURE(t->curl != NULL);
    return ERR_OK;
}

enum err forward_target_put(struct forward_target *t, struct slice lines, uint64_t last_lsn, struct why *why) {
    return t->path != NULL ? file_put(t, lines, why) : server_put(t, lines, last_lsn, why);
}
