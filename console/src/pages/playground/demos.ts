// Flows to pull the plug on: long enough to be killed in the middle, short enough to watch to the end. Their jobs are
// real processes that count seconds, so that one can see in their logs that none began twice.
import type { Json, Keys } from "../constructor/draft";

export interface Demo {
  id: string;
  title: string;
  text: string;
  file: Keys;
}

const count = (seconds: number): string => `for i in $(seq ${seconds}); do echo "second $i of ${seconds}"; sleep 1; done`;
const work = (seconds: number, ...needs: string[]): Json => ({ ...(needs.length === 0 ? {} : { needs }), run: count(seconds) });

function demo(id: string, title: string, text: string, jobs: Keys): Demo {
  return { id, title, text, file: { name: `playground-${id}`, labels: { playground: id }, defaults: { retries: 2, backoff: "2s" }, jobs } };
}

function mesh(layers: string[][]): Keys {
  const jobs: Keys = {};
  layers.forEach((layer, i) => layer.forEach((name) => (jobs[name] = work(2, ...(layers[i - 1] ?? [])))));
  return jobs;
}

export const demos: Demo[] = [
  demo("crash", "Crash demo", "Seven jobs, two ways at once. Pull the plug while some of them run.", {
    fetch: work(2),
    clean: work(4, "fetch"),
    index: work(5, "fetch"),
    train: work(7, "clean"),
    report: work(4, "index"),
    check: work(2, "train", "report"),
    publish: work(1, "check"),
  }),
  demo("simple", "Simple", "Three jobs, one after the other.", { extract: work(3), transform: work(4, "extract"), load: work(3, "transform") }),
  demo("diamond", "Diamond", "Two ways, and a job that waits for both.", { start: work(2), left: work(5, "start"), right: work(6, "start"), join: work(2, "left", "right") }),
  demo("map-reduce", "Map and reduce", "Six at once, more than there are slots: some wait for room.", {
    split: work(1),
    ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`map-${n}`, work(4, "split")])),
    reduce: work(2, "map-1", "map-2", "map-3", "map-4", "map-5", "map-6"),
  }),
  demo("bipartite", "Bipartite", "Two sources, three that need both.", {
    east: work(4), west: work(5), north: work(3, "east", "west"), middle: work(3, "east", "west"), south: work(3, "east", "west"),
  }),
  demo("mesh", "Mesh", "Every job of a layer needs all of the one before.", mesh([["a1", "a2"], ["b1", "b2", "b3"], ["c1", "c2"]])),
  demo("cascade", "Failure and cascade", "One job fails for good; what depends on it fails with it, the rest goes on.", {
    begin: work(2),
    breaks: { needs: "begin", run: "echo trying; sleep 1; exit 1", retries: 2, backoff: "2s" },
    after: work(2, "breaks"),
    "long-after": work(1, "after"),
    beside: work(8, "begin"),
  }),
];
