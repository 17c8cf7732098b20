/* http_out.c: see http_out.h. */
#include "http_out.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct {
    uint16_t status;
    const char *reason;
} reasons[] = {
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {303, "See Other"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

const char *http_reason(uint16_t status) {
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].status == status) return reasons[i].reason;
    return "Other";
}

/* Heads are written for every answer: printf would be a good part of what one costs, and a length that the compiler
 * knows is not counted again. */
static inline void put_line(struct buf *out, const char *line) {
    buf_put(out, line, strlen(line));
}

static inline void put_pair(struct buf *out, const char *name, const char *value) {
    put_line(out, name);
    put_line(out, value);
    put_line(out, "\r\n");
}

static void put_number(struct buf *out, const char *name, uint64_t n) {
    put_line(out, name);
    buf_put_decimal(out, n);
    put_line(out, "\r\n");
}

/* RFC 9110, 5.6.7; not by strftime, which speaks the language of the place. */
static void date_make(struct http_date *d, int64_t second) {
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t seconds = (time_t)second;
    struct tm t;
    d->second = second;
    d->line[0] = 0;
    if (gmtime_r(&seconds, &t) == NULL) return;
    snprintf(d->line, sizeof d->line, "Date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n", days[t.tm_wday], t.tm_mday,
             months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

static void put_date(struct buf *out, const struct http_head *h) {
    struct http_date made = {.second = -1}, *d = h->date != NULL ? h->date : &made;
    if (d->second != h->wall_ms / 1000 || d->line[0] == 0) date_make(d, h->wall_ms / 1000);
    put_line(out, d->line);
}

static void put_status(struct buf *out, uint16_t status) {
    char text[8] = {(char)('0' + status / 100 % 10), (char)('0' + status / 10 % 10), (char)('0' + status % 10), ' ', 0};
    if (status == 200) {
        put_line(out, "HTTP/1.1 200 OK\r\n");
        return;
    }
    put_line(out, "HTTP/1.1 ");
    put_pair(out, text, http_reason(status));
}

#define NO_CACHE "no-store"
#define NO_POLICY "default-src 'none'; frame-ancestors 'none'"
#define CACHE_NAME "Cache-Control: "
#define POLICY_NAME "Content-Security-Policy: "
#define LAST_LINES                                  \
    "Cross-Origin-Resource-Policy: same-origin\r\n" \
    "Referrer-Policy: no-referrer\r\n"              \
    "X-Content-Type-Options: nosniff\r\n"           \
    "\r\n"

/* What keeps browsers from more than showing it; of all but pages and files it is the same text. */
static void put_guards(struct buf *out, const struct http_head *h) {
    if (h->cache == NULL && h->policy == NULL) {
        put_line(out, CACHE_NAME NO_CACHE "\r\n" POLICY_NAME NO_POLICY "\r\n" LAST_LINES);
        return;
    }
    if (h->policy != NULL) put_line(out, "Cross-Origin-Opener-Policy: same-origin\r\n");
    put_pair(out, CACHE_NAME, h->cache != NULL ? h->cache : NO_CACHE);
    put_pair(out, POLICY_NAME, h->policy != NULL ? h->policy : NO_POLICY);
    put_line(out, LAST_LINES);
}

void http_head_put(struct buf *out, const struct http_head *h) {
    put_status(out, h->status);
    put_date(out, h);
    if (h->type != NULL) put_pair(out, "Content-Type: ", h->type);
    if (h->length >= 0) put_number(out, "Content-Length: ", (uint64_t)h->length);
    if (h->length == HTTP_CHUNKED) put_line(out, "Transfer-Encoding: chunked\r\n");
    if (h->close) put_line(out, "Connection: close\r\n");
    if (h->retry_after_s > 0) put_number(out, "Retry-After: ", h->retry_after_s);
    if (h->allow != NULL) put_pair(out, "Allow: ", h->allow);
    if (h->range != NULL) put_pair(out, "Content-Range: ", h->range);
    if (h->status == 401) put_line(out, "WWW-Authenticate: Bearer\r\n");
    if (h->encoding != NULL) {
        put_pair(out, "Content-Encoding: ", h->encoding);
        put_line(out, "Vary: Accept-Encoding\r\n");
    }
    if (h->etag != NULL) put_pair(out, "ETag: ", h->etag);
    if (h->location != NULL) put_pair(out, "Location: ", h->location);
    if (h->cookie != NULL) put_pair(out, "Set-Cookie: ", h->cookie);
    put_guards(out, h);
}

void http_continue_put(struct buf *out) {
    put_line(out, "HTTP/1.1 100 Continue\r\n\r\n");
}

void http_chunk_put(struct buf *out, struct slice data) {
    if (data.len == 0) return;
    buf_printf(out, "%zx\r\n", data.len);
    buf_put_slice(out, data);
    put_line(out, "\r\n");
}

void http_chunk_last(struct buf *out) {
    put_line(out, "0\r\n\r\n");
}
