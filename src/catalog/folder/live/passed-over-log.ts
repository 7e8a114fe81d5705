// Logs which files a catalog passes over.

import type { PassedOver } from '../../compiled/contents.ts'

interface InfoLog { info (fields: object, message: string): void }

/** A line of the log names at most this many files or primitives. */
const MAX_LOGGED = 50

export function toLogged (names: readonly string[]): readonly string[] {
  return names.length <= MAX_LOGGED
    ? names
    : [...names.slice(0, MAX_LOGGED), `and ${names.length - MAX_LOGGED} more`]
}

/** Logs the files of the first load, and again those of a load that passes over others. */
export function createPassedOverLog (
  catalog: string, log: InfoLog
): (passedOver: readonly PassedOver[]) => void {
  let logged = ''
  return (passedOver) => {
    const files = passedOver.map(({ file, reason }) => `${file} ${reason}`)
    const now = files.join('\n')
    if (now === logged) return
    logged = now
    if (files.length === 0) return
    log.info({ catalog, files: toLogged(files) }, 'files of the catalog are passed over')
  }
}
