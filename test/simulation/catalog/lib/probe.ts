// What the tools tell the simulation. It is in a global variable, because a catalog is modules of its own.

import type { Probe } from '../../probe.ts'

/** The probe of the run that is going on. */
export function probe (): Probe {
  const present: Probe | undefined = Reflect.get(globalThis, Symbol.for('trivet.simulation'))
  if (present === undefined) throw new TypeError('no simulation runs')
  return present
}
