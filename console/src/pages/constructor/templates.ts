// Flows to begin with. Each can be submitted as it is.
import type { Keys } from "./draft";

export interface Template {
  id: string;
  title: string;
  text: string;
  file: Keys;
}

export const templates: Template[] = [
  {
    id: "chain",
    title: "Chain",
    text: "One step after the other, with retries and a time limit.",
    file: {
      name: "chain",
      defaults: { retries: 2, timeout: "10m" },
      jobs: {
        extract: { run: "echo '{\"rows\": 3}' > \"$REEVE_OUTPUT\"" },
        transform: { needs: "extract", env: { ROWS: "${jobs.extract.outputs.rows}" }, run: 'echo "$ROWS rows"' },
        load: { needs: "transform", run: "echo loaded" },
      },
    },
  },
  {
    id: "diamond",
    title: "Diamond",
    text: "Two ways at once, and a job that waits for both.",
    file: {
      name: "diamond",
      jobs: {
        fetch: { run: "echo fetched" },
        left: { needs: "fetch", run: "echo left" },
        right: { needs: "fetch", run: "echo right" },
        join: { needs: ["left", "right"], run: "echo joined" },
      },
    },
  },
  {
    id: "map-reduce",
    title: "Map and reduce",
    text: "A job for each item of a list that is known only when it runs.",
    file: {
      name: "map-reduce",
      params: { parts: 8 },
      jobs: {
        split: { run: "echo \"[$(seq -s, ${params.parts})]\" > \"$REEVE_OUTPUT\"" },
        map: { needs: "split", foreach: { in: "jobs.split.outputs", max_parallel: 4 }, run: 'echo $((REEVE_ITEM * REEVE_ITEM)) > "$REEVE_OUTPUT"' },
        reduce: { needs: "map", env: { SUM: "${= sum(jobs.map.outputs) }" }, run: 'echo "sum $SUM"' },
      },
    },
  },
  {
    id: "ml-gate",
    title: "Training with a gate",
    text: "Train, measure, let a person look, deploy once.",
    file: {
      name: "ml-gate",
      params: { epochs: 3 },
      jobs: {
        train: { run: "for i in $(seq ${params.epochs}); do echo \"epoch $i\"; done\necho '{\"accuracy\": 0.93}' > \"$REEVE_OUTPUT\"", timeout: "1h" },
        evaluate: { needs: "train", run: 'echo "evaluating $REEVE_INPUT_TRAIN"' },
        release: { needs: "evaluate", gate: { message: "Deploy this model to production?", timeout: "2d" } },
        deploy: { needs: "release", run: "echo deployed", exclusive: true },
      },
    },
  },
  {
    id: "service",
    title: "Service",
    text: "A process that is kept running: started again when it ends, replaced when it is deployed anew.",
    file: {
      name: "clock",
      jobs: {
        clock: { service: { run: "while :; do date; sleep 10; done" } },
      },
    },
  },
  {
    id: "saga",
    title: "Saga",
    text: "Each step names what undoes it; a refusal unwinds them, last first.",
    file: {
      name: "saga-booking",
      params: { payment: { default: "ok", choices: ["ok", "refused"] } },
      jobs: {
        hotel: { run: "echo hotel booked", compensate: "echo hotel cancelled" },
        flight: { needs: "hotel", run: "echo flight booked", compensate: { run: "echo flight cancelled", retries: 10 } },
        pay: { needs: "flight", run: 'test "${params.payment}" = ok || exit 3', fatal_exit_codes: [3] },
        confirm: { needs: "pay", run: "echo confirmed" },
      },
    },
  },
];
