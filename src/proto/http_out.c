/* http_out.c: see http_out.h. */
#include "http_out.h"

#include <time.h>

static const struct {
    uint16_t status;
    const char *reason;
} reasons[] = {
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {204, "No Content"},
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

/* RFC 9110, 5.6.7; not by strftime, which speaks the language of the place. */
static void put_date(struct buf *out, int64_t wall_ms) {
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm t;
    if (gmtime_r(&seconds, &t) == NULL) return;
    buf_printf(out, "Date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n", days[t.tm_wday], t.tm_mday, months[t.tm_mon],
               t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

static void put_line(struct buf *out, const char *line) {
    buf_put(out, line, strlen(line));
}

void http_head_put(struct buf *out, const struct http_head *h) {
    buf_printf(out, "HTTP/1.1 %u %s\r\n", h->status, http_reason(h->status));
    put_date(out, h->wall_ms);
    if (h->type != NULL) buf_printf(out, "Content-Type: %s\r\n", h->type);
    if (h->length >= 0) buf_printf(out, "Content-Length: %lld\r\n", (long long)h->length);
    if (h->length == HTTP_CHUNKED) put_line(out, "Transfer-Encoding: chunked\r\n");
    if (h->close) put_line(out, "Connection: close\r\n");
    if (h->retry_after_s > 0) buf_printf(out, "Retry-After: %u\r\n", h->retry_after_s);
    if (h->allow != NULL) buf_printf(out, "Allow: %s\r\n", h->allow);
    if (h->status == 401) put_line(out, "WWW-Authenticate: Bearer\r\n");
    if (h->encoding != NULL) buf_printf(out, "Content-Encoding: %s\r\nVary: Accept-Encoding\r\n", h->encoding);
    if (h->etag != NULL) buf_printf(out, "ETag: %s\r\n", h->etag);
    if (h->location != NULL) buf_printf(out, "Location: %s\r\n", h->location);
    if (h->cookie != NULL) buf_printf(out, "Set-Cookie: %s\r\n", h->cookie);
    if (h->policy != NULL) put_line(out, "Cross-Origin-Opener-Policy: same-origin\r\n");
    buf_printf(out, "Cache-Control: %s\r\n", h->cache != NULL ? h->cache : "no-store");
    buf_printf(out, "Content-Security-Policy: %s\r\n",
               h->policy != NULL ? h->policy : "default-src 'none'; frame-ancestors 'none'");
    put_line(out, "Cross-Origin-Resource-Policy: same-origin\r\n"
                  "Referrer-Policy: no-referrer\r\n"
                  "X-Content-Type-Options: nosniff\r\n"
                  "\r\n");
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
