/* rigdisk.c: see rigdisk.h. */
#include "rigdisk.h"

#include "file.h"
#include "journal_fixture.h"
#include "panic.h"

void rigdisk_append(const struct fixture *r, struct journal *to, uint64_t epoch) {
    struct why why;
    for (uint32_t i = 0; i < r->batches.count; i++) {
        struct batch b = *(struct batch *)vec_at(&r->batches, i);
        b.records.ptr = r->journal.at + (size_t)b.records.ptr; /* kept as offsets */
        b.epoch = epoch;
        if (to->ops->append(to, epoch, b.first_lsn - 1, &b, &why) != JOURNAL_DURABLE) PANIC("not durable");
    }
    ENSURE(to->ops->seal(to, &why) == ERR_OK);
}

void rigdisk_write(const struct fixture *r, struct disk *to, uint64_t segment_bytes) {
    struct journal_fixture_clock clock;
    struct file_options o;
    struct journal *j;
    struct journal_head head;
    struct why why;
    journal_fixture_clock_init(&clock, 7);
    file_options_default(&o);
    o.segment_bytes = segment_bytes;
    o.reserve_bytes = 0;
    ENSURE(file_open(to, &clock.clock, &o, &j, &why) == ERR_OK);
    ENSURE(j->ops->acquire(j, 0, &head, &why) == ERR_OK);
    rigdisk_append(r, j, head.epoch);
    j->ops->close(j);
}
