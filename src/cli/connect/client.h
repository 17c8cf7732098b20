/* client.h: a blocking client of the native wire (proto/wire/wire.h): finds the server, says hello, asks and gets
 * answers.
 *
 * A refusal comes back as the error that the server named, its sentence in `why`. BUSY is waited out here, as often as
 * the server asks for within CLIENT_PATIENCE_MS. Messages live until the client is closed or client_forget. */
#ifndef REEVE_CLIENT_H
#define REEVE_CLIENT_H

#include <signal.h>

#include "arena.h"
#include "secure.h"
#include "wire.h"

#define CLIENT_PATIENCE_MS 30000
#define CLIENT_TEXT_MAX 512u
#define CLIENT_TOKEN_MAX (WIRE_TOKEN_MAX + 1u) /* with the zero */

struct client {
    int fd; /* -1: not connected */
    const struct secure_ops *secure_ops;
    struct secure *secure; /* NULL: plain */
    struct buf in;
    size_t used;
    uint32_t request_last;
    struct arena arena;
    char address[CLIENT_TEXT_MAX];
    uint32_t frame_bytes_max; /* that the server takes */
    char server_build[64];
    uint8_t server_wire;    /* version of frames */
    char tenant[64];        /* that we act for */
    char principal[256];    /* that we are */
    uint32_t open_requests; /* asked, and not answered to the end */
    bool is_lost;           /* the connection broke: no answer comes any more */
};

struct client_frame {
    uint8_t op; /* 0: nothing came in time */
    uint8_t flags;
    uint32_t request;
    const void *message;
};

struct client_place {   /* where the server may be; each may be NULL */
    const char *data;   /* its directory */
    const char *server; /* host:port, tls://host:port or unix:/path */
    const char *token;
    const char *build; /* of this program */
    bool agent;        /* what is asked is an agent's wish */
    const struct secure_ops *secure;
    struct secure_files tls; /* without any, ca.pem in the folder tls of `data`, if it is there */
};

/* ERR_UNKNOWN: nobody answers. ERR_UNAUTHENTICATED: somebody does, and does not know us. */
CHECKED enum err client_open(struct client *c, const struct client_place *where, struct why *why);
void client_close(struct client *c);
bool client_is_alive(const struct client *c); /* as far as can be told without asking */
/* Whoever waits for an answer gives up with ERR_STATE when this is set; NULL = never. For all clients of the process,
 * as signals are. */
void client_interrupt_by(const volatile sig_atomic_t *flag);
void client_forget(struct client *c); /* all messages so far */

CHECKED enum err client_send(struct client *c, enum wire_op op, const void *message, uint32_t *ret_request,
                             struct why *why);
/* The next frame, of whatever request; wait_ms < 0 = for ever. ERR_UNKNOWN: the connection is gone. */
CHECKED enum err client_next(struct client *c, int wait_ms, struct client_frame *ret, struct why *why);
/* The next frame of this request; others are dropped. Refusals become errors. */
CHECKED enum err client_answer(struct client *c, uint32_t request, struct client_frame *ret, struct why *why);
/* Sends, and waits for the first frame of the answer. */
CHECKED enum err client_ask(struct client *c, enum wire_op op, const void *message, struct client_frame *ret,
                            struct why *why);
/* A frame that may be a refusal: as an error. */
CHECKED enum err client_refusal(const struct client_frame *f, struct why *why);
/* One GET by HTTP on a connection of its own, without a hello: for what a caller may ask who is not known yet.
 * *ret_body is in the arena. */
CHECKED enum err client_get(const struct client_place *where, const char *path, bool with_token, struct arena *arena,
                            uint32_t *ret_status, struct slice *ret_body, struct why *why);
/* What the words in an answer mean as an error. */
enum err client_err(struct slice code);

#endif
