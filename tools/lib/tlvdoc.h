/* tlvdoc.h: tables of documentation from described structs, to standard output. */
#ifndef REEVE_TLVDOC_H
#define REEVE_TLVDOC_H

#include "tlv.h"

struct remark {
    const char *field; /* message.field */
    const char *text;
};

/* Copies the head of the document from standard input. `program` is for complaints. */
void tlvdoc_begin(const char *program, const struct remark *remarks, size_t count);
/* The fields of a message from the `first` on, as a table. Messages inside it are described by tlvdoc_nested. */
void tlvdoc_fields(const char *message, const struct tlv_desc *d, uint32_t first);
void tlvdoc_later(const struct tlv_desc *d); /* describe this one, too */
void tlvdoc_nested(void);
/* False, with complaints, when a remark fits no field: remarks cannot outlive what they are about. */
bool tlvdoc_end(void);

#endif
