/* http_impl.h: what the files of the reader of requests share. */
#ifndef REEVE_HTTP_IMPL_H
#define REEVE_HTTP_IMPL_H

#include "http.h"

#define HTTP_METHOD_BYTES_MAX 16u

/* The first refusal counts. */
void http_refuse(struct http_in *in, uint16_t status, enum err e, const char *text);
void http_refuse_limit(struct http_in *in, uint16_t status, const char *what, const char *limit, int64_t most);

/* ---- http_head.c ---- */

/* A head that is all there, with the empty line at its end, and in which each line feed has its carriage return:
 * in->head into in->request. Refused, or the body is next. */
void http_head_read(struct http_in *in);
bool http_is_token_byte(uint8_t c); /* of names: RFC 9110, 5.6.2 */

/* ---- http_body.c ---- */

/* The head says where the body ends, once and in one way. Without one the message is whole. */
void http_body_begin(struct http_in *in);
size_t http_body_feed(struct http_in *in, struct slice bytes);

#endif
