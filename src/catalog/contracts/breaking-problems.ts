// Changes that break clients, as problems of the catalog that makes them.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Problem } from '../compiled/problem.ts'
import { findDefinitionLine } from './change-line.ts'
import { findChanges, type Change } from './changes.ts'
import { offeredBy, type ReadCatalog } from './offered.ts'

/**
 * Remembers what a catalog offers. The function that it returns finds what a later catalog breaks.
 * @param root the folder of both.
 */
export function createComparison (
  root: string, served: ReadCatalog
): (next: ReadCatalog) => Promise<Problem[]> {
  const before = offeredBy(served)
  return async (next) => {
    const breaks = findChanges(before, offeredBy(next)).filter(({ isBreaking }) => isBreaking)
    return await Promise.all(breaks.map(async (change) => await toProblem(root, change)))
  }
}

async function toProblem (root: string, { kind, key, file, rule }: Change): Promise<Problem> {
  const text = await readFile(join(root, file), 'utf8').catch(() => '')
  const line = findDefinitionLine(text, key)
  return {
    file, place: line === undefined ? '' : `line ${line}`, rule: `breaks clients: ${kind} ${key} ${rule}`
  }
}
