// Resources and templates that a model cannot choose, or whose contents a host cannot show.

import type { CatalogContents, Located } from '../compiled/contents.ts'
import type { Advise } from './piece.ts'

/** The schemes that the specification, its extensions and the registries of the web give a meaning. */
const KNOWN_SCHEMES = new Set([
  'file', 'http', 'https', 'git', 'skill', 'ui', 'data', 'mailto', 'urn', 'ftp', 'ssh', 's3', 'gs'
])

/** A plain file has its type by its extension, and its name says what it is. */
const MODULE = /\.[cm]?[jt]sx?$/

interface Described {
  readonly description?: string
  readonly mimeType?: string
}

/** @param toAdvise makes the reporter of a definition. */
export function adviseOnResources (
  { resources, templates, server: { instructions = '' } }: CatalogContents,
  toAdvise: (located: Located<unknown>) => Advise
): void {
  const all = [
    ...resources.map((located) => ({ located, address: located.definition.uri })),
    ...templates.map((located) => ({ located, address: located.definition.uriTemplate }))
  ].filter(({ located: { file } }) => MODULE.test(file))
  const texts = [instructions, ...all.map(({ located }) => located.definition.description ?? '')].join('\n')
  // A text that has the word explains it: "A book by its number" does for `book:`.
  const words = texts.toLowerCase().split(/[^a-z\d+.-]+/)
  const schemes = new Set<string>()
  for (const { located, address } of all) {
    const { description, mimeType }: Described = located.definition
    const advise = toAdvise(located)
    if (description === undefined || description.trim() === '') {
      advise('description', '', 'has no description: a model must guess what it contains')
    }
    if (mimeType === undefined) {
      advise('mime-type', '', 'has no mimeType: a host must guess how to show its contents')
    }
    const scheme = /^[a-z][a-z\d+.-]*(?=:)/i.exec(address)?.[0].toLowerCase()
    if (scheme === undefined || KNOWN_SCHEMES.has(scheme) || schemes.has(scheme)) continue
    schemes.add(scheme)
    if (words.some((word) => word.startsWith(scheme))) continue
    const remedy = 'say in the instructions of server.yaml, or in a description, what its addresses name'
    advise('scheme', '', `uses the scheme ${scheme}:, which no text for models explains: ${remedy}`)
  }
}
