// The length of each measurement. A quick run shows whether the benchmark works. Quote only the figures of a
// full run.

export const FULL = {
  /** How often the section calls starts each process. */
  starts: 2,
  /** The processes, and the batches in each, of the sections alone and eras. */
  processes: 5,
  batches: 200,
  /** The rounds of a measurement, and of a measurement with a narrow yardstick. */
  rounds: 3,
  narrowRounds: 5,
  /** The rounds of the section startup, and the most rounds of the section edit. */
  coldStarts: 5,
  /** The rounds of the sections streams and replicas. */
  streamRounds: 5,
  /** The length of a round and of the warm-up, for each server. */
  seconds: 2,
  warmUpSeconds: 2,
  /** The seconds of a round of the section reload. Each second has one edit. */
  editSeconds: 8
}

export const QUICK = {
  starts: 1,
  processes: 2,
  batches: 50,
  rounds: 2,
  narrowRounds: 3,
  coldStarts: 1,
  streamRounds: 1,
  seconds: 0.5,
  warmUpSeconds: 0.5,
  editSeconds: 3
}
