// Scripts and style sheets as elements of a document.

import type { Element } from './html-elements.ts'

/** @param attributes begin with a space, or are empty. */
export function inlineScript (code: string, attributes: string): string {
  // Both together begin a state of the HTML parser in which </script> does not end the element.
  if (code.includes('<!--') && /<script/i.test(code)) {
    throw new SyntaxError('a script has both <!-- and <script in it: write <\\!-- or <\\script')
  }
  return inline('script', code, attributes)
}

export function inlineStyle (css: string, attributes: string): string {
  return inline('style', css, attributes)
}

function inline (name: string, text: string, attributes: string): string {
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
