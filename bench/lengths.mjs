// How long everything is measured. Quick shows whether all is in order; only a full run is fit to quote.

export const FULL = {
  /** Of the section calls: processes, one after the other. */
  starts: 2,
  /** Of the section alone. */
  processes: 5,
  batches: 200,
  /** Of each measurement, and of those whose yardstick is narrow. */
  rounds: 3,
  narrowRounds: 5,
  /** Of the sections startup and edit. */
  coldStarts: 5,
  /** Of the sections streams and replicas. */
  streamRounds: 5,
  /** Of a round, for each server. */
  seconds: 2,
  warmUpSeconds: 2,
  /** Of the section reload, with an edit in each. */
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
