// Records in PostgreSQL: a row for each.

import type { StateStore } from '../../records/state-store.ts'
import { PROBE_NAME, probeWrites } from '../../records/write-probe.ts'
import { CallsUnderWay } from '../calls-under-way.ts'
import { createCreations } from './creations.ts'
import { PostgresError, throwAsUnavailable } from './postgres-error.ts'
import { createRecordStatements } from './record-statements.ts'
import { createReads, readRecord } from './reads.ts'
import { createReplacements } from './replacements.ts'
import { describeMissingRights } from './schema/rights.ts'
import type { SchemaNames } from './schema/schema.ts'
import { readNumber, readText, type StatementRunner } from './statement.ts'

const PROBE_KEY = { owner: PROBE_NAME, name: PROBE_NAME }
const MISSING_RIGHT = '42501'

/** Closing the store does not close the connections. */
export function openPostgresStateStore (runner: StatementRunner, names: SchemaNames): StateStore {
  const statements = createRecordStatements(names)
  const creations = createCreations(runner, statements)
  const reads = createReads(runner, statements)
  const replacements = createReplacements(runner, statements)
  const calls = new CallsUnderWay(throwAsUnavailable)
  const attempt = calls.run

  const store: StateStore = {
    create: async (key, value, lifetime, limit) => await attempt(
      async () => await creations.create(key, value, lifetime, limit)
    ),
    read: async (key) => await attempt(async () => await reads.read(key)),
    peek: async ({ owner, name }) => await attempt(async () => {
      const [row] = await runner.run(statements.peek, [owner, name])
      return row && readRecord(row)
    }),
    replace: async (key, version, value, lifetime) => await attempt(
      async () => await replacements.replace(key, version, value, lifetime)
    ),
    confirm: async ({ owner, name }, version) => await attempt(async () => {
      const [[isPresent] = []] = await runner.run(statements.confirm, [owner, name, version])
      return isPresent === true
    }),
    delete: async ({ owner, name }) => await attempt(async () => {
      const [[isLive] = []] = await runner.run(statements.delete, [owner, name])
      return isLive === true
    }),
    list: async (owner) => await attempt(async () => {
      const rows = await runner.run(statements.list, [owner])
      return new Map(rows.map(([name, expiresAt]) => [readText(name), readNumber(expiresAt)]))
    }),
    async check () {
      // Rights first: a table that no probe writes may lack them, and all are named at once.
      await attempt(async () => {
        const problem = describeMissingRights(await runner.run(statements.findMissingRights), names)
        if (problem !== undefined) throw new PostgresError(problem, MISSING_RIGHT)
      })
      await probeWrites(store, PROBE_KEY)
    },
    close: async () => await calls.close()
  }
  return store
}
