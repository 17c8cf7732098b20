/* session.h: one connection: its first bytes, its frames, who is calling; and everything that is sent on it. */
#ifndef REEVE_SESSION_H
#define REEVE_SESSION_H

#include "server_impl.h"

void session_handler(struct server *s, struct net_handler *ret);
void session_came(struct server *s, conn_id conn);                /* bytes did; fine when it is gone */
struct session *session_of(const struct server *s, conn_id conn); /* NULL: it is gone */
void session_free_all(struct server *s);
/* The table of workers is changed by these two only. NULL: no session is that worker's. */
struct session *session_of_worker(const struct server *s, uint32_t number);
void session_worker_add(struct server *s, struct session *n, uint32_t number);
void session_worker_remove(struct server *s, struct session *n); /* nothing if it is none */

/* Puts one frame on the wire. What was gathered for a worker goes out before, so that order is kept. */
void session_send(struct server *s, struct session *n, enum wire_op op, uint8_t flags, uint32_t request,
                  const void *message);
void session_send_bytes(struct server *s, struct session *n, struct slice frames);
void session_send_raw(struct server *s, struct session *n, struct slice bytes); /* no frames: as they are */
/* Puts a request into its lane, or says why not. */
void session_enqueue(struct server *s, struct session *n, const struct frame *f);
void session_pause(struct server *s, struct session *n, bool on); /* while on, it is not read */
/* An answer that ends the request. No answer to request 0. */
void session_answer(struct server *s, struct session *n, uint32_t request, enum wire_op op, const void *message);
void session_error(struct server *s, struct session *n, uint32_t request, enum err e, const char *text);
void session_busy(struct server *s, struct session *n, uint32_t request, const char *reason, uint32_t retry_ms);
/* Says why and hangs up. */
void session_refuse(struct server *s, struct session *n, uint32_t request, enum err e, const char *text);
void session_end(struct server *s, struct session *n);

/* ---- how fast it takes its answers ---- */

void session_look(struct server *s, struct session *n);    /* how much of them it has not taken */
bool session_is_slow(struct server *s, struct session *n); /* there are enough for now: no further ones are made */
void session_choke(struct server *s, struct session *n);   /* it is not read until it took them */
void session_hold(struct server *s, struct session *n);    /* it is: its requests wait until it took them */
/* Whether it may be told of something that it follows: it has not left more than `most` bytes lying, or when its
 * principal holds too much in all, hardly anything. */
bool session_may_be_told(struct server *s, struct session *n, uint64_t most);

#endif
