// What keeps a catalog from loading: all of it at once, each with its file, its place and the rule that it
// breaks.

export interface Problem {
  /** Relative to the catalog folder. */
  readonly file: string
  /** Where in the file: a line, an export, a field. Empty where the whole file is meant. */
  readonly place: string
  /** What was expected, or what to do. */
  readonly rule: string
}

/** A catalog that does not load. */
export class CatalogError extends Error {
  readonly problems: readonly Problem[]

  constructor (problems: readonly Problem[]) {
    super(`The catalog does not load:\n${problems.map((problem) => `  ${toLine(problem)}`).join('\n')}`)
    this.name = 'CatalogError'
    this.problems = problems
  }
}

function toLine ({ file, place, rule }: Problem): string {
  return place === '' ? `${file}: ${rule}` : `${file}: ${place}: ${rule}`
}

/** Notes one problem about the definition at hand. */
export type ReportProblem = (place: string, rule: string) => void
