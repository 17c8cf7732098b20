/* api_print.h: what the server answered, as -o asks for it. --json is the body that HTTP has for the same request, byte
 * for byte: api_answer writes both, by the row of the route in its table. The other forms are made from the same
 * messages:
 *
 *     json    one object, as by HTTP; the pages of a list are one list
 *     jsonl   the items of a list, one object per line; an answer without a list is one line
 *     yaml    the object of `json` as YAML
 *     name    the name of each item, one per line: what other verbs take as an argument
 *
 * A list that comes in pages:
 *
 *     api_print_begin(&a, c, "/flows");
 *     api_print_page(&a, f.op, f.message) for each; client_forget only if !api_print_keeps(&a)
 *     api_print_end(&a); */
#ifndef REEVE_API_PRINT_H
#define REEVE_API_PRINT_H

#include "api.h"
#include "cli.h"

struct api_print {
    struct cli *cli;
    const struct api_route *route;
    uint8_t op;
    struct vec parts; /* void *: copies of messages of `op`, whose texts and lists are the client's */
};

/* `path` is that of the route in api.c, after its method if that is not GET: "POST /flows". */
void api_print_begin(struct api_print *a, struct cli *c, const char *path);
void api_print_page(struct api_print *a, uint8_t op, const void *message);
bool api_print_keeps(const struct api_print *a); /* messages must stay until api_print_end */
void api_print_end(struct api_print *a);         /* prints what has not been printed */
/* All of it, for an answer of one message. */
void api_print_answer(struct cli *c, const char *path, uint8_t op, const void *message);
/* The object of one message, as it stands in a list of HTTP. */
void api_print_put(struct json *to, const struct tlv_desc *desc, const void *message);
/* The same as a line: of a stream, which is no answer as a whole. */
void api_print_line(struct cli *c, const struct tlv_desc *desc, const void *message);

#endif
