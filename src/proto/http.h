/* http.h: HTTP/1.1 requests from a stream that arrives in pieces. The parser is llhttp, which is told nothing that two
 * readers could understand in two ways: each byte of a head is looked at first (http_scan.h), and what leaves a choice
 * about where a message ends is refused (RFC 9112, 6.3 and 11.2), not repaired.
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
#include "http_scan.h"
#include "limit.h"
#include "vec.h"

/*     verb                 word */
#define HTTP_VERB_TABLE(X)              \
    X(HTTP_VERB_GET,        "GET")      \
    X(HTTP_VERB_HEAD,       "HEAD")     \
    X(HTTP_VERB_POST,       "POST")     \
    X(HTTP_VERB_PUT,        "PUT")      \
    X(HTTP_VERB_DELETE,     "DELETE")   \
    X(HTTP_VERB_OPTIONS,    "OPTIONS")  \
    X(HTTP_VERB_PATCH,      "PATCH")

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
    bool keep_alive;    /* the peer can use the connection for another request */
    bool wants_continue; /* it waits for `100 Continue` before it sends the body */
    struct slice body;  /* when the message is whole */
};

enum http_in_state {
    HTTP_IN_HEAD, /* more bytes are needed */
    HTTP_IN_BODY, /* the head is there, the body not all of it */
    HTTP_IN_WHOLE,
    HTTP_IN_BAD, /* refused: `status`, `err` and `why` say what to answer */
};

#define HTTP_CORE_WORDS 16u

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

    struct http_scan scan;
    uint8_t blank; /* of the empty line that may stand before a request: bytes that were there */
    struct buf head, body;
    struct vec headers; /* struct http_header */
    uint64_t core[HTTP_CORE_WORDS]; /* llhttp's */
};

void http_in_init(struct http_in *in, const struct limits *limits);
void http_in_fini(struct http_in *in);
void http_in_next(struct http_in *in);
size_t http_in_feed(struct http_in *in, struct slice bytes); /* how many of them belong to this message */
bool http_in_is_idle(const struct http_in *in);              /* nothing of a message has come yet */

/* The value of the only header of that name (case does not matter); NULL when there is none, or more than one. */
const struct slice *http_header(const struct http_request *r, const char *name);
uint32_t http_header_count(const struct http_request *r, const char *name);
bool http_text_is(struct slice text, const char *word); /* but for case */

#endif
