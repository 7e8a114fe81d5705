// Counts the transitions of tasks that runs have reached: rows of the table, by the phase that they began in.

import { phaseOf, type TaskPhase } from '../../src/features/tasks/records/record.ts'
import type { TransitionRow } from '../../src/features/tasks/machine/transition-row.ts'
import { TRANSITIONS } from '../../src/features/tasks/machine/transition-table.ts'

export class Coverage {
  readonly #counts = new Map<string, number>()

  /** Counts from now on. The table decides as before. */
  constructor () {
    for (const row of TRANSITIONS) {
      for (const phase of row.from) this.#counts.set(toName(row, phase), 0)
      const holds = row.holds?.bind(row)
      // The first row that holds is the one that decides.
      row.holds = (record, event, now) => {
        if (holds?.(record, event, now) === false) return false
        const name = toName(row, phaseOf(record))
        this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
        return true
      }
    }
  }

  get counts (): ReadonlyMap<string, number> { return this.#counts }
  get missing (): readonly string[] {
    return [...this.#counts].flatMap(([name, count]) => count === 0 ? [name] : [])
  }
}

function toName ({ on, when, to }: TransitionRow, phase: TaskPhase): string {
  return `${phase}, ${on}${when === undefined ? '' : ` (${when})`}: ${to}`
}
