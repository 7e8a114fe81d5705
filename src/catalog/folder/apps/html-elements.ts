// The elements of a parsed HTML document.

import type { DefaultTreeAdapterTypes } from 'parse5'
import type { PlaceInFile } from './app-files.ts'

export type Element = DefaultTreeAdapterTypes.Element
type ParentNode = DefaultTreeAdapterTypes.ParentNode

/** In the order of the document, with those of templates. */
export function * elementsOf (parent: ParentNode): Generator<Element> {
  for (const node of parent.childNodes) {
    if (!('tagName' in node)) continue
    yield node
    yield * elementsOf(node)
    if ('content' in node) yield * elementsOf(node.content)
  }
}

export function attributeOf ({ attrs }: Element, name: string): string | undefined {
  return attrs.find((one) => one.name === name)?.value
}

export function textOf ({ childNodes }: Element): string {
  return childNodes.map((node) => 'value' in node ? node.value : '').join('')
}

/** `undefined` for an element that the parser has added. */
export function placeOfElement ({ sourceCodeLocation: at }: Element): PlaceInFile | undefined {
  return at ? { line: at.startLine, column: at.startCol } : undefined
}
