// What keeps a catalog from loading: all of it at once, each with its file, its place and the rule that it breaks.

export interface Complaint {
  /** Relative to the catalog folder. */
  readonly file: string
  /** Where in the file: a line, an export, a field. Empty where the whole file is meant. */
  readonly place: string
  /** What was expected, or what to do. */
  readonly rule: string
}

/** A catalog that does not load. */
export class CatalogError extends Error {
  readonly complaints: readonly Complaint[]

  constructor (complaints: readonly Complaint[]) {
    super(`The catalog does not load:\n${complaints.map((complaint) => `  ${toLine(complaint)}`).join('\n')}`)
    this.name = 'CatalogError'
    this.complaints = complaints
  }
}

function toLine ({ file, place, rule }: Complaint): string {
  return place === '' ? `${file}: ${rule}` : `${file}: ${place}: ${rule}`
}

/** Notes one complaint about the definition at hand. */
export type Complain = (place: string, rule: string) => void
