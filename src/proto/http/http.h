/* http.h: HTTP/1.1 requests from a stream that arrives in pieces. Nothing is repaired: what some reader between the
 * client and us might take for another end of line, of the head or of the message is refused (RFC 9112, 6.3 and 11.2).
 * Whatever is taken here, llhttp takes, too, and understands in the same way: tests ask it (ADR 0103).
 *
 *     http_in_feed     takes bytes; stops when the head is there, when the message is whole, and when it is refused
 *     in->state        which of these it is
 *     http_in_next     begins the next message of the connection
 *
 * Slices of the request are valid until http_in_next. A refused connection is of no further use: where the next message
 * would begin is not known. */
#ifndef REEVE_HTTP_H
#define REEVE_HTTP_H

#include "buf.h"
#include "err.h"
#include "vec.h"

struct limits; /* limit.h */

/*     verb                 word */
#define HTTP_VERB_TABLE(X)          \
    X(HTTP_VERB_GET, "GET")         \
    X(HTTP_VERB_HEAD, "HEAD")       \
    X(HTTP_VERB_POST, "POST")       \
    X(HTTP_VERB_PUT, "PUT")         \
    X(HTTP_VERB_DELETE, "DELETE")   \
    X(HTTP_VERB_OPTIONS, "OPTIONS") \
    X(HTTP_VERB_PATCH, "PATCH")

enum http_verb {
#define X(verb, word) verb,
    HTTP_VERB_TABLE(X)
#undef X
        HTTP_VERB_COUNT /* any other: nothing here answers to it */
};
const char *http_verb_word(enum http_verb verb);

struct http_header {
    struct slice name, value;
};

struct http_request {
    enum http_verb verb;
    struct slice target;    /* as it was sent, so with its escapes */
    struct slice authority; /* of a target in absolute form; empty else */
    struct slice path, query;
    uint8_t minor; /* of HTTP/1.x */
    const struct http_header *headers;
    uint32_t header_count;
    uint64_t names;      /* bits: which names may be among the headers (http_name_bit) */
    bool keep_alive;     /* the peer can use the connection for another request */
    bool wants_continue; /* it waits for `100 Continue` before it sends the body */
    struct slice body;   /* when the message is whole */
};

enum http_in_state {
    HTTP_IN_HEAD, /* more bytes are needed */
    HTTP_IN_BODY, /* the head is there, the body not all of it */
    HTTP_IN_WHOLE,
    HTTP_IN_BAD, /* refused: `status`, `err` and `why` say what to answer */
};

enum http_chunk { /* what is expected of a chunked body */
                  HTTP_CHUNK_SIZE,
                  HTTP_CHUNK_EXT_NAME, /* of an extension, which is read and forgotten */
                  HTTP_CHUNK_EXT_VALUE,
                  HTTP_CHUNK_EXT_QUOTED,
                  HTTP_CHUNK_EXT_ESCAPED,  /* behind a backslash in quotes */
                  HTTP_CHUNK_EXT_BEHIND,   /* the closing quote */
                  HTTP_CHUNK_EXT_NAME_GAP, /* blanks behind a name: = or ; follows */
                  HTTP_CHUNK_EXT_GAP,      /* blanks behind the size or a value: ; follows */
                  HTTP_CHUNK_SIZE_LF,
                  HTTP_CHUNK_DATA,
                  HTTP_CHUNK_DATA_CR,
                  HTTP_CHUNK_DATA_LF,
                  HTTP_CHUNK_LAST_CR,
                  HTTP_CHUNK_LAST_LF,
                  HTTP_CHUNK_TRAILER_NAME, /* likewise */
                  HTTP_CHUNK_TRAILER_VALUE,
                  HTTP_CHUNK_TRAILER_LF,
};

#define HTTP_TRAILER_NAME_BYTES 64u

struct http_in {
    const struct limits *limits;
    /* How long the body of this request may be; NULL = http_body_bytes_max. Whoever allows more takes the body away as
     * it comes (and clears `body`): no more than http_body_bytes_max of it is held. */
    uint64_t (*body_bytes_max)(const struct http_in *in);
    enum http_in_state state;
    struct http_request request;
    uint16_t status;
    enum err err;
    struct why why;

    uint8_t blank;       /* of the empty line that may stand before a request: bytes that were there */
    bool has_line;       /* the first line is there */
    uint32_t line_bytes; /* of the line of the head that has not ended yet */
    bool is_chunked;
    enum http_chunk chunk;
    uint8_t digits;                        /* of the size of the chunk */
    bool has_rare_ext;                     /* blanks or backslashes in an extension: legal, and not read by all */
    uint32_t word_bytes;                   /* of the name or value of an extension, or of the name of a trailer */
    uint32_t forgotten_bytes;              /* of extensions and trailers so far: they have a limit together */
    char trailer[HTTP_TRAILER_NAME_BYTES]; /* its name, as far as it came, in small letters */
    uint64_t left_bytes;                   /* of the body, or of the chunk */
    struct buf head, body;
    struct vec headers; /* struct http_header */
};

void http_in_init(struct http_in *in, const struct limits *limits);
void http_in_fini(struct http_in *in);
void http_in_next(struct http_in *in);
size_t http_in_feed(struct http_in *in, struct slice bytes); /* how many of them belong to this message */
bool http_in_is_idle(const struct http_in *in);              /* nothing of a message has come yet */

/* Each request is asked for two dozen headers, of which it has a few. A bit tells most of the others at once: by the
 * length of the name and its first letter, which the compiler knows of a literal. */
static inline uint64_t http_name_bit(const void *name, size_t len) {
    return (uint64_t)1 << (((*(const uint8_t *)name | 0x20u) + len * 5) & 63);
}
const struct slice *http_header_find(const struct http_request *r, const char *name, size_t len);
uint32_t http_headers_named(const struct http_request *r, const char *name, size_t len);

/* The value of the only header of that name, which is written in small letters here (in the request case does not
 * matter); NULL when there is none, or more than one. */
static inline const struct slice *http_header(const struct http_request *r, const char *name) {
    size_t len = strlen(name);
    return r->names & http_name_bit(name, len) ? http_header_find(r, name, len) : NULL;
}
static inline uint32_t http_header_count(const struct http_request *r, const char *name) {
    size_t len = strlen(name);
    return r->names & http_name_bit(name, len) ? http_headers_named(r, name, len) : 0;
}
bool http_text_is(struct slice text, const char *word); /* but for case */

#endif
