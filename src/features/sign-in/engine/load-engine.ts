// Loads the engine with its library, which takes time and memory: only where people sign in. No file outside
// imports what loads the library in another way.

import type { EngineLog } from './engine-log.ts'

/** Resolves to its module. What the library says of an old Node.js becomes a line of the log. */
export async function loadEngine (log: Pick<EngineLog, 'warn'>): Promise<typeof import('./engine.ts')> {
  const { warn } = console
  console.warn = (reason: unknown) => log.warn({ reason }, 'the library of the sign-in warns')
  try {
    return await import('./engine.ts')
  } finally {
    console.warn = warn
  }
}
