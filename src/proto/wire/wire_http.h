/* wire_http.h: a request that a worker makes for a job, and what an external job has made in its name. Parts of a `run`
 * message (wire_run.h). */
#ifndef REEVE_WIRE_HTTP_H
#define REEVE_WIRE_HTTP_H

#include "wire_session.h"

struct wire_arg {
    struct slice text;
};

struct wire_span { /* both are in it */
    uint32_t from, to;
};

struct wire_http {
    struct slice url; /* this, the headers and the body are texts as http_text.h has them */
    struct slice method; /* empty: GET, or POST when there is a body */
    struct tlv_list headers; /* of wire_pair */
    struct slice body;
    bool is_json; /* the body is; and says so unless a header does */
    struct tlv_list expect; /* of wire_span: answers that are a success; none = 200 to 299 */
    struct slice save;      /* the body goes to this file of the workspace */
    uint64_t bytes_max;     /* of the body of the answer; 0 = the standard */
    uint32_t timeout_ms;    /* for all of it; 0 = the standard */
    uint32_t redirects;     /* that are followed */
    struct slice ca;        /* certificates: PEM, or the path of a file on the worker */
    bool allow_private;     /* private addresses, if the worker allows them as well */
};

struct wire_step { /* what an external job has done on a worker: one of the three */
    struct tlv_list argv; /* of wire_arg */
    struct slice shell;
    struct tlv_list http; /* of wire_http, one */
    struct slice until;   /* polls: an expression about its `output`; when it is true the job is done */
    struct slice failed;  /* polls: when it is true the job has failed */
};

extern const struct tlv_desc wire_arg_desc, wire_span_desc, wire_http_desc, wire_step_desc;

#endif
