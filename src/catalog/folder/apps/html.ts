// HTML: the elements of a parsed document, the text of new ones, and the attributes that make a browser
// load a file.

import type { DefaultTreeAdapterTypes } from 'parse5'
import type { PlaceInFile } from './app-files.ts'

export type Element = DefaultTreeAdapterTypes.Element
type ParentNode = DefaultTreeAdapterTypes.ParentNode

/** Yields all elements in the order of the document, with those of templates. */
export function * elementsOf (parent: ParentNode): Generator<Element> {
  for (const node of parent.childNodes) {
    if (!('tagName' in node)) continue
    yield node
    yield * elementsOf(node)
    if ('content' in node) yield * elementsOf(node.content)
  }
}

export function attributeOf ({ attrs }: Element, name: string): string | undefined {
  return attrs.find((attribute) => attribute.name === name)?.value
}

export function textOf ({ childNodes }: Element): string {
  return childNodes.map((node) => 'value' in node ? node.value : '').join('')
}

/** `undefined` for an element that the parser has added. */
export function placeOfElement ({ sourceCodeLocation: at }: Element): PlaceInFile | undefined {
  return at ? { line: at.startLine, column: at.startCol } : undefined
}

/** @param attributes begin with a space, or are empty. */
export function inlineScript (code: string, attributes: string): string {
  // Both together begin a state of the HTML parser in which </script> does not end the element.
  if (code.includes('<!--') && /<script/i.test(code)) {
    throw new SyntaxError('a script has both <!-- and <script in it: write <\\!-- or <\\script')
  }
  return inlineElement('script', code, attributes)
}

/** @param attributes begin with a space, or are empty. */
export function inlineElement (name: string, text: string, attributes: string): string {
  if (text.toLowerCase().includes(`</${name}`)) throw new SyntaxError(`a ${name} has </${name} in it`)
  return `<${name}${attributes}>\n${text.trim()}\n</${name}>`
}

/** What a script or a link says of the file that is now in the document. */
const OF_FILE = new Set([
  'src', 'href', 'rel', 'type', 'async', 'crossorigin', 'integrity', 'referrerpolicy', 'fetchpriority', 'as'
])

/** The other attributes of an element, as they are written into its start tag. */
export function keptAttributes ({ attrs }: Element): string {
  return attrs.filter(({ name }) => !OF_FILE.has(name)).map(
    ({ name, value }) => ` ${name}="${value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`
  ).join('')
}

interface FileAttributes { readonly [element: string]: readonly string[] }

/** Hosts allow `data:` URLs of images, audio and video. */
export const FILE_ATTRIBUTES: FileAttributes = {
  img: ['src'],
  input: ['src'],
  source: ['src'],
  audio: ['src'],
  video: ['src', 'poster'],
  image: ['href'],
  feImage: ['href']
}

interface RefusedAttribute {
  readonly name: string
  /** The list of app.yaml that URLs must be in. */
  readonly domains: 'resourceDomains' | 'frameDomains'
  /** What to do about a file. */
  readonly advice: string
}

const ONE_SIZE = 'name one size with src, because all sizes would be in the document'
const frame = (name: string): RefusedAttribute => ({
  name, domains: 'frameDomains', advice: 'a screen is one document; put its content into it'
})
const srcset: RefusedAttribute = { name: 'srcset', domains: 'resourceDomains', advice: ONE_SIZE }

/** Files that cannot be put into the document. */
export const REFUSED_ATTRIBUTES: { readonly [element: string]: readonly RefusedAttribute[] } = {
  img: [srcset],
  source: [srcset],
  iframe: [frame('src')],
  embed: [frame('src')],
  object: [frame('data')],
  track: [{ name: 'src', domains: 'resourceDomains', advice: 'add the cues with a script' }],
  use: [{ name: 'href', domains: 'resourceDomains', advice: 'put the <symbol> into the document' }]
}
