/* scaler_report.h: what the hook is told, as one JSON object; docs/guides/scaling.md explains its members. */
#ifndef REEVE_SCALER_REPORT_H
#define REEVE_SCALER_REPORT_H

#include "buf.h"
#include "fleet.h"
#include "scaler_options.h"

#define SCALER_REPORT_BYTES (256u << 10)

void scaler_report_make(const struct fleet *f, const struct scaler_options *o, int64_t now_ms, struct buf *out);

#endif
