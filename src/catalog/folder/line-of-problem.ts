// Finds the lines of problems that name a place within a definition: a schema is an object when it is
// checked, and has no lines.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CatalogError, findDefinitionLine, type Problem } from '../compiled/problem.ts'

/** A member of a schema that has none of the allowed values, such as `type: 'strng'`. */
const WRONG_MEMBER = /^\/(?:\S*\/)?(\w+) must be one of .*, got "(\w+)"$/

/** Rejects as the work does. A CatalogError then has lines for the problems whose files have one. */
export async function withLines<T> (root: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    const { problems } = error
    throw new CatalogError(await Promise.all(problems.map(async (problem) => await locate(root, problem))))
  }
}

/** The schema may be in another file. The problem then stays as it is. */
async function locate (root: string, problem: Problem): Promise<Problem> {
  const { file, place, rule } = problem
  const [, member, value] = WRONG_MEMBER.exec(rule) ?? []
  if (member === undefined || value === undefined) return problem
  const text = await readFile(join(root, file), 'utf8').catch(() => '')
  const line = findDefinitionLine(text, value, new RegExp(`\\b${member}["']?\\s*:`))
  return line === undefined ? problem : { ...problem, place: `line ${line}`, rule: `${place}: ${rule}` }
}
