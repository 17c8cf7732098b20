/* wire_store.h: blobs, in parts and with their hash, and the shared store of keys. */
#ifndef REEVE_WIRE_STORE_H
#define REEVE_WIRE_STORE_H

#include "wire_session.h"

/* ---- blobs: begin, parts, end ---- */

struct wire_blob_begin {
    struct slice hash; /* SHA-256 of the whole; empty = known only at the end */
    uint64_t bytes;    /* 0 = known only at the end */
};

struct wire_blob_part {
    uint64_t upload;
    uint64_t offset; /* as in the last answer */
    struct slice data;
};

struct wire_blob_end {
    uint64_t upload;
    struct slice hash;
};

struct wire_blob_state { /* answers begin, part and end */
    uint64_t upload;
    uint64_t offset; /* where the next part begins */
    bool stored;     /* it is durable; after a begin: it was there already */
    struct slice hash;
};

struct wire_blob_put { /* a whole blob at once; by HTTP of any length */
    struct slice data;
};

struct wire_blob_kept { /* it is durable */
    struct slice hash;
    uint64_t bytes;
};

struct wire_blob_get {
    struct slice hash;
    uint64_t offset;
    uint64_t most; /* bytes; 0 = to the end */
};

struct wire_blob_data {
    uint64_t offset;
    uint64_t bytes; /* of the whole blob */
    struct slice data;
};

struct wire_blob_ls {
    struct slice cursor;
    uint32_t most;
};

struct wire_blob_view {
    struct slice hash;
    uint64_t bytes;
    int64_t stored_ms;
    uint32_t uses; /* flows that name it */
    struct slice kept_as; /* the file that `blob put` keeps it for; empty = only flows, schedules, services name it */
};

struct wire_blob_list {
    struct slice cursor;
    struct tlv_list blobs; /* of wire_blob_view */
};

/* ---- keys ---- */

enum wire_kv_op {
    WIRE_KV_SET,
    WIRE_KV_DELETE,
    WIRE_KV_INCREASE,
    WIRE_KV_ADD,    /* members to a set */
    WIRE_KV_REMOVE, /* members from a set */
    WIRE_KV_EXPIRE,
    WIRE_KV_PUBLISH,
    WIRE_KV_OP_COUNT
};

enum wire_kv_if {
    WIRE_KV_ALWAYS,
    WIRE_KV_IF_ABSENT,
    WIRE_KV_IF_PRESENT,
    WIRE_KV_IF_VERSION,
    WIRE_KV_IF_VALUE,
    WIRE_KV_IF_COUNT
};

#define WIRE_KEY_MAX 1024u
#define WIRE_ITEM_MAX (1u << 24)

struct wire_kv_entry {
    struct slice key, value;
};

struct wire_kv_key { /* a key, or a member of a set */
    struct slice text;
};

struct wire_kv_change {
    uint8_t op;            /* enum wire_kv_op */
    struct slice flow;     /* its namespace; empty = that of the tenant */
    struct tlv_list entries; /* of wire_kv_entry: set, delete; all or none */
    uint8_t condition;     /* enum wire_kv_if: set, delete */
    uint64_t version;      /* if_version; 0 = it is not there */
    struct slice key;      /* all other operations; publish: the channel */
    struct slice value;    /* if_value, publish */
    int64_t number;        /* increase */
    struct tlv_list members; /* of wire_kv_key: add, remove */
    int64_t expires_ms;    /* set, expire: wall time; 0 = never */
    bool keep_expiry;
};

struct wire_kv_changed {
    uint64_t lsn;
    int64_t number;   /* keys deleted, members new or gone, value after an increase, watchers of a channel */
    uint64_t version; /* of the first key */
};

struct wire_kv_get {
    struct slice flow;
    struct tlv_list keys; /* of wire_kv_key; empty = a page of those that begin with `prefix` */
    struct slice prefix, after;
    uint32_t most;
    bool members; /* of the one set in `keys`, from `after` on */
};

struct wire_kv_item {
    struct slice key;
    struct slice kind; /* text, number, set */
    struct slice value;
    int64_t number; /* the number; of a set: how many members */
    uint64_t version;
    int64_t expires_ms;
};

struct wire_kv_items {
    uint64_t lsn;
    struct tlv_list items;   /* of wire_kv_item; a key that is not there is left out */
    struct tlv_list members; /* of wire_kv_key */
    struct slice after;      /* for the next page; empty = there is none */
};

struct wire_kv_watch { /* answered by kv_event until it is stopped */
    struct slice flow;
    struct slice key;
    bool prefix, channel;
};

struct wire_kv_event {
    uint64_t lsn;
    struct slice key;  /* or channel; empty = the whole namespace is gone */
    uint64_t version;  /* 0 = the key is gone */
    struct slice body; /* published */
    bool gap;          /* some were left out: read again */
};

extern const struct tlv_desc wire_blob_begin_desc, wire_blob_part_desc, wire_blob_end_desc, wire_blob_state_desc,
    wire_blob_put_desc, wire_blob_kept_desc, wire_blob_get_desc, wire_blob_data_desc, wire_blob_ls_desc,
    wire_blob_view_desc, wire_blob_list_desc;
extern const struct tlv_desc wire_kv_entry_desc, wire_kv_key_desc, wire_kv_change_desc, wire_kv_changed_desc,
    wire_kv_get_desc, wire_kv_item_desc, wire_kv_items_desc, wire_kv_watch_desc, wire_kv_event_desc;

#endif
