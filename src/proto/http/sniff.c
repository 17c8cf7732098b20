/* sniff.c: see sniff.h. Each protocol is a beginning; the input may be shorter than that. */
#include "sniff.h"

#include "panic.h"

struct sniff_beginning {
    enum sniff means;
    struct slice bytes;
};

/* All methods of RFC 9110 and PATCH, so that one that is not served gets an answer that says so. */
static const struct sniff_beginning beginnings[] = {
#define BEGINNING(means, literal)                           \
    {                                                       \
        means, {                                            \
            (const uint8_t *)(literal), sizeof(literal) - 1 \
        }                                                   \
    }
    BEGINNING(SNIFF_NATIVE, "\x02"),   BEGINNING(SNIFF_TITAN, "\x01"),   BEGINNING(SNIFF_TLS, "\x16\x03"),
    BEGINNING(SNIFF_HTTP, "GET "),     BEGINNING(SNIFF_HTTP, "HEAD "),   BEGINNING(SNIFF_HTTP, "POST "),
    BEGINNING(SNIFF_HTTP, "PUT "),     BEGINNING(SNIFF_HTTP, "DELETE "), BEGINNING(SNIFF_HTTP, "CONNECT "),
    BEGINNING(SNIFF_HTTP, "OPTIONS "), BEGINNING(SNIFF_HTTP, "TRACE "),  BEGINNING(SNIFF_HTTP, "PATCH "),
#undef BEGINNING
};

static bool is_text(uint8_t c) {
    return (c >= ' ' && c <= '~') || c == '\r' || c == '\n' || c == '\t';
}

/* An empty line may stand before a request (RFC 9112, 2.2). */
static enum sniff behind_a_line(struct slice first) {
    if (first.len > 1 && first.ptr[1] != '\n') return SNIFF_TEXT;
    if (first.len <= 2) return SNIFF_MORE;
    if (first.ptr[2] == '\r') return SNIFF_TEXT;
    enum sniff found = sniff(slice_of(first.ptr + 2, first.len - 2));
    return found == SNIFF_HTTP || found == SNIFF_MORE ? found : SNIFF_TEXT;
}

enum sniff sniff(struct slice first) {
    if (first.len > 0 && first.ptr[0] == '\r') return behind_a_line(first);
    if (first.len > 1 && first.ptr[0] == '*')
        return first.ptr[1] >= '0' && first.ptr[1] <= '9' ? SNIFF_RESP : SNIFF_TEXT;
    if (first.len == 0 || first.ptr[0] == '*') return SNIFF_MORE;
    enum sniff found = is_text(first.ptr[0]) ? SNIFF_TEXT : SNIFF_UNKNOWN;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        struct slice bytes = beginnings[i].bytes;
        size_t common = first.len < bytes.len ? first.len : bytes.len;
        if (memcmp(first.ptr, bytes.ptr, common) != 0) continue;
        if (common == bytes.len) return beginnings[i].means;
        found = SNIFF_MORE;
    }
    return found;
}

const char *sniff_word(enum sniff s) {
    switch (s) {
    case SNIFF_MORE: return "more";
    case SNIFF_UNKNOWN: return "unknown";
    case SNIFF_TEXT: return "text";
    case SNIFF_NATIVE: return "native";
    case SNIFF_HTTP: return "http";
    case SNIFF_RESP: return "resp";
    case SNIFF_TLS: return "tls";
    case SNIFF_TITAN: return "titan";
    }
    PANIC("no such protocol");
}
