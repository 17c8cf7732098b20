/* ostls.h: TLS by OpenSSL, without sockets: what came from the network goes in, what belongs on the network comes out,
 * and the plain bytes are between. osnet.c moves them on the loop, ossecure.c for programs that wait.
 *
 * TLS 1.2 and 1.3, ephemeral keys and AEAD ciphers only, no renegotiation, no compression, no kept sessions: a
 * connection of ours lives for hours, so resuming one saves nothing. */
#ifndef REEVE_OSTLS_H
#define REEVE_OSTLS_H

#include <stdbool.h>

#include "buf.h"
#include "err.h"
#include "slice.h"

#define OSTLS_NAME_MAX 129u  /* with the zero */
#define OSTLS_PIN_BYTES 32u  /* SHA-256 of a certificate */
#define OSTLS_PIN_TEXT 65u   /* in hex, with the zero */

struct ostls;      /* whom we trust and who we are; shared by connections, reloaded by making another one */
struct ostls_conn; /* one connection */

struct ostls_files { /* PEM; NULL or empty = not given. One file may hold all of them */
    const char *cert, *key; /* key: standard is the file of the certificate */
    const char *ca;         /* whose signatures we believe */
    const char *revoked;    /* of a server: serial numbers of certificates that are not believed, as oscert_revoke
                             * writes them; the file need not be there */
    const char *pin;        /* of a client: SHA-256 of the server's certificate in hex, in place of a CA and a name */
};

/* `ca`: clients that show a certificate must have one of it; those that show none are let in, and said to be so. */
CHECKED enum err ostls_server(const struct ostls_files *files, struct ostls **ret, struct why *why);
/* Without `ca` and `pin` the authorities that this machine knows are believed. */
CHECKED enum err ostls_client(const struct ostls_files *files, struct ostls **ret, struct why *why);
/* Whether the certificate of an open connection is one of those that `t` does not believe any more. */
bool ostls_is_revoked(const struct ostls *t, const struct ostls_conn *c);
void ostls_free(struct ostls *t); /* fine with NULL; connections that are open stay */
/* SHA-256 of our own certificate in hex, for those who pin it. */
void ostls_pin(const struct ostls *t, char ret[OSTLS_PIN_TEXT]);
void ostls_name(const struct ostls *t, char ret[OSTLS_NAME_MAX]); /* in it; empty = there is none */

struct ostls_conn *ostls_accept(struct ostls *t);
struct ostls_conn *ostls_connect(struct ostls *t, const char *host); /* a name, or an address in numbers */
void ostls_close(struct ostls_conn *c);

enum ostls_step {
    OSTLS_DONE, /* the handshake is over; bytes were read */
    OSTLS_MORE, /* it takes more from the network, after what is to be sent is sent */
    OSTLS_OVER, /* the peer closed, in good order */
    OSTLS_FAILED,
};

void ostls_feed(struct ostls_conn *c, struct slice from_network);
enum ostls_step ostls_shake(struct ostls_conn *c, struct why *why);
enum ostls_step ostls_read(struct ostls_conn *c, void *to, size_t bytes, size_t *ret, struct why *why);
void ostls_write(struct ostls_conn *c, struct slice plain); /* after the handshake */
void ostls_bye(struct ostls_conn *c);
void ostls_take(struct ostls_conn *c, struct buf *out); /* appends what belongs on the network */

struct ostls_peer { /* of the certificate that the peer showed and that was checked; empty = it showed none */
    char name[OSTLS_NAME_MAX];   /* CN */
    char role[OSTLS_NAME_MAX];   /* OU */
    char tenant[OSTLS_NAME_MAX]; /* O */
};
void ostls_peer(const struct ostls_conn *c, struct ostls_peer *ret);

#endif
