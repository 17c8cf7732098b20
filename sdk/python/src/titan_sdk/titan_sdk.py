"""The module in which Titan keeps its classes, and the numbers of its requests."""

from reeve.titan import TITAN_HOST, TITAN_PORT, TitanClient, TitanJob

OP_SUBMIT_JOB, OP_SUBMIT_DAG, OP_DEPLOY, OP_RUN, OP_STOP = 0x03, 0x04, 0x05, 0x06, 0x07
OP_STATS, OP_STATS_JSON, OP_CLEAN_STATS, OP_KILL_WORKER, OP_GET_LOGS = 0x08, 0x09, 0x0B, 0x11, 0x16
OP_UPLOAD_ASSET, OP_FETCH_ASSET, OP_GET_JOB_STATUS, OP_CANCEL_JOB, OP_DEPLOY_SCRIPT = 0x53, 0x54, 0x55, 0x56, 0x57
OP_KV_SET, OP_KV_GET, OP_KV_SADD, OP_KV_SMEMBERS = 0x60, 0x61, 0x62, 0x63

__all__ = ["TITAN_HOST", "TITAN_PORT", "TitanClient", "TitanJob"]
