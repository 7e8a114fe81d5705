// Problems of a catalog. A catalog with a problem does not load.

export interface Problem {
  /** Relative to the catalog folder. */
  readonly file: string
  /** A line, an export or a field of the file. Empty for a problem of the whole file. */
  readonly place: string
  /** The column in the line, from 1. Present if the place is a line, and the error has a column. */
  readonly column?: number
  /** What the rule is, or what to do. */
  readonly rule: string
}

/** The catalog does not load. Has every problem of it. */
export class CatalogError extends Error {
  readonly problems: readonly Problem[]

  constructor (problems: readonly Problem[]) {
    super(`The catalog does not load:\n${problems.map((problem) => `  ${toLine(problem)}`).join('\n')}`)
    this.name = 'CatalogError'
    this.problems = problems
  }
}

/** Returns the line of its file, if the place of a problem is a line. */
export function lineNumberOf ({ place }: Pick<Problem, 'place'>): number | undefined {
  const number = /^line (\d+)$/.exec(place)?.[1]
  return number === undefined ? undefined : Number(number)
}

function toLine ({ file, place, rule }: Problem): string {
  return place === '' ? `${file}: ${rule}` : `${file}: ${place}: ${rule}`
}

/** Reports one problem of a definition. */
export type ReportProblem = (place: string, rule: string) => void

/** Adds each problem to the list, with the place of its definition. */
export function createReporter (
  problems: Problem[], { file, place }: Pick<Problem, 'file' | 'place'>
): ReportProblem {
  return (within, rule) => {
    problems.push({ file, place: [place, within].filter((part) => part !== '').join('.'), rule })
  }
}

/** The members of a definition that have its name or its URI. */
const KEY_MEMBERS = /\b(?:name|uri|uriTemplate)["']?\s*:/

/**
 * Finds the line, from 1, where the text of a module has this value in one of the members. `undefined` if no
 * line has it: the value may be computed, or be the name of the file.
 */
export function findDefinitionLine (
  text: string, value: string, members: RegExp = KEY_MEMBERS
): number | undefined {
  const quoted = ['\'', '"', '`'].map((quote) => `${quote}${value}${quote}`)
  const index = text.split('\n').findIndex(
    (line) => members.test(line) && quoted.some((spelling) => line.includes(spelling))
  )
  return index === -1 ? undefined : index + 1
}
