/* wire_playground.h: what `reeve up --playground` shows and does: a server whose plug can be pulled, and what its
 * successor found. The same object is written by the server while it lives and by its supervisor while it is dead, so
 * how it looks as JSON is said here once. */
#ifndef REEVE_WIRE_PLAYGROUND_H
#define REEVE_WIRE_PLAYGROUND_H

#include "json.h"
#include "wire_session.h"

struct wire_recovery { /* of the server that runs now, after the one before it was killed */
    uint64_t records;      /* read back from the journal behind the last snapshot */
    uint64_t flows, jobs;  /* in memory afterwards */
    uint32_t attempts_open; /* were under way when it was killed; the next two are how they went on */
    uint32_t attempts_adopted; /* their worker still had them: they went on as if nothing had been */
    uint32_t attempts_again;   /* sent or started once more */
    uint64_t lost;         /* acknowledged before the kill and not there after it */
    int64_t took_ms;       /* from opening the journal to being ready */
    uint64_t replayed_lsn; /* the last record that was found */
};

struct wire_playground {
    struct slice server;   /* running, dead or starting */
    uint32_t pid;          /* 0 = there is no process */
    int64_t since_ms;      /* wall time: so since then */
    int64_t restart_in_ms; /* dead: when it is started without being asked */
    uint32_t kills;        /* so far, since `reeve up` */
    bool recovered;        /* `recovery` means something */
    struct wire_recovery recovery;
};

enum wire_plug { WIRE_PLUG_KILL, WIRE_PLUG_RECOVER, WIRE_PLUG_COUNT };

struct wire_playground_do {
    TLV_ALONE uint8_t what; /* enum wire_plug */
};

extern const struct tlv_desc wire_recovery_desc, wire_playground_desc, wire_playground_do_desc;

/* The whole object, zeroes of the recovery included: "lost": 0 is the point of it. */
void wire_playground_json(struct json *j, const struct wire_playground *p);

#endif
