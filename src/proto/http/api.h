/* api.h: the JSON interface. One table says which method and path is which message of the wire; what a request says in
 * its path, its query and its body goes into that message by the names of its fields, and what is answered comes out of
 * the answering message the same way (wire_json.h). docs/openapi.yaml is generated from the same table.
 *
 * Nothing here knows a connection: a request in, a message out; frames of an answer in, a JSON text out. */
#ifndef REEVE_API_H
#define REEVE_API_H

#include "http.h"
#include "wire.h"
#include "wire_json.h"

#define API_WORDS_MAX 8u /* of a path */
#define API_PREFIX "/api/v1"

enum api_body {
    API_BODY_NONE,
    API_BODY_FIELDS, /* a JSON object with fields of the message; may be left out */
    API_BODY_FLOW,   /* a flow file in JSON: the one flow of a submit, or jobs for one; the query has further fields */
    API_BODY_BYTES,  /* any bytes of any type: the field `data` of the message */
};

enum api_answer {
    API_ANSWER_MESSAGE, /* the fields of the answering message */
    API_ANSWER_ITEM,    /* those of the one item of its list `about`, and the LSN */
    API_ANSWER_BYTES,   /* what the frames of a stream carry, as it is */
    API_ANSWER_TEXT,    /* its field `text`, as it is */
    API_ANSWER_STREAM,  /* events, as long as the connection lives: by WebSocket or as server-sent events */
    API_ANSWER_TALE,    /* events of one flow, as the stream words them */
    API_ANSWER_WATCH,   /* messages for as long as the connection lives, as server-sent events */
};

struct api_route {
    enum http_verb verb;
    const char *path;   /* under the prefix; {words} in braces may be anything */
    uint8_t op;         /* enum wire_op */
    const char *field;  /* of the message: gets the words in braces, with slashes between them; NULL = none */
    const char *preset; /* fields with one value, as a query; NULL = none */
    enum api_body body;
    enum api_answer answer;
    const char *about; /* the list of the answer that this is about: there also when it is empty; NULL = none */
    const char *text;
    bool bare; /* the path is not under the prefix */
};

const struct api_route *api_routes(uint32_t *ret_count);

/* ---- requests ---- */

struct api_match {
    const struct api_route *route;       /* NULL = there is none */
    uint32_t verbs;                      /* bits: what this path answers to; 0 = there is no such path; with a route,
                                          * the search ended there, and not all are known */
    struct slice words[API_WORDS_MAX];   /* in braces, without escapes */
    uint32_t word_count;
    bool in_request; /* the words lie in the request, and live as long; else in the arena: api_again makes them anew */
};

/* HEAD finds what GET finds. ERR_INVALID: the path has bad escapes. */
CHECKED enum err api_find(const struct http_request *r, struct arena *arena, struct api_match *ret, struct why *why);
/* The same for a request whose route is known; without `verbs`. */
void api_again(const struct api_route *route, const struct http_request *r, struct arena *arena, struct api_match *ret);

/* The message that a whole request means, in x->arena. */
CHECKED enum err api_message(const struct api_match *m, const struct http_request *r, const struct limits *limits,
                             struct wire_json_in *x, void **ret);

/* ---- answers ---- */

struct api_said {
    uint16_t status;
    uint32_t retry_after_s; /* 0 = sending it again does not help */
};

/* Writes the object for an answer that came in these parts, all of that opcode. Errors come out as api_error. */
struct api_said api_answer(const struct api_route *route, uint8_t op, const void *const *parts, uint32_t count,
                           const struct wire_json_out *x);
enum err api_err_of(struct slice word); /* the error that a message calls so */
/* {"code": …, "message": …, "field": …, "retry_after": …}; status 0 = that of the error table. */
struct api_said api_error(struct json *out, enum err e, uint16_t status, struct slice message, const char *field,
                          uint32_t retry_after_ms);

#endif
