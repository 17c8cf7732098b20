/* scaler_report.h: what the hook is told, as one JSON object; docs/guides/scaling.md explains its members. */
#ifndef REEVE_SCALER_REPORT_H
#define REEVE_SCALER_REPORT_H

#include "buf.h"
#include "fleet.h"
#include "scaler_options.h"

#define SCALER_REPORT_BYTES (256u << 10)
#define SCALER_ESSENCE_BYTES (FLEET_MAX * (FLEET_ID_BYTES + 1) + 32)

void scaler_report_make(const struct fleet *f, const struct scaler_options *o, int64_t now_ms, struct buf *out);
/* What there is to do about it: how many there are to be, and whom to end. Two reports with the same essence need be
 * told once. False: there is nothing to do. */
bool scaler_report_essence(const struct fleet *f, char ret[SCALER_ESSENCE_BYTES]);

#endif
