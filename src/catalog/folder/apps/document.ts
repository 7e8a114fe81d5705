// Makes one HTML document of an app: scripts, style sheets and images that are files of the app are put into
// it. Hosts load a screen as one text, without a server behind it. All other text stays as it was written.

import { parse } from 'parse5'
import { TextEdits } from '../../../platform/modules/text-edits.ts'
import { INDEX, ruleOfApp, tooLarge, type AppFiles, type ReportApp, type AppTarget } from './app-files.ts'
import { bundle, transformScript } from './bundle.ts'
import {
  attributeOf, elementsOf, FILE_ATTRIBUTES, inlineElement, inlineScript, keptAttributes, placeOfElement,
  REFUSED_ATTRIBUTES, textOf, type Element
} from './html.ts'

/** More problems of the HTML itself than these say nothing more. */
const MAX_HTML_PROBLEMS = 20

/** `undefined` if a problem was reported. The same files give the same bytes. */
export async function makeDocument (
  files: AppFiles, maxBytes: number, report: ReportApp
): Promise<string | undefined> {
  let problems = 0
  const tell: ReportApp = (...problem) => {
    problems++
    report(...problem)
  }
  const html = await files.readText(INDEX)
  const tree = parse(html, {
    sourceCodeLocationInfo: true,
    onParseError ({ code, startLine, startCol }) {
      if (problems === MAX_HTML_PROBLEMS) return
      tell(
        INDEX, { line: startLine, column: startCol },
        `is not valid HTML: ${code}; see https://html.spec.whatwg.org/multipage/parsing.html#parse-errors`
      )
    }
  })
  const inliner = new Inliner(html, files, tell)
  for (const element of elementsOf(tree)) await inliner.visit(element)
  const document = await inliner.finish()
  if (problems > 0) return undefined
  if (Buffer.byteLength(document) <= maxBytes) return document
  tell(INDEX, undefined, tooLarge(INDEX, maxBytes).message)
  return undefined
}

/** Collects what must change in the text of a document. */
class Inliner {
  readonly #files: AppFiles
  readonly #report: ReportApp
  readonly #edits: TextEdits
  /** The modules of the document, which become one script in the place of the first. */
  readonly #modules: Array<{ readonly element: Element, readonly text: string }> = []

  constructor (html: string, files: AppFiles, report: ReportApp) {
    this.#edits = new TextEdits(html)
    this.#files = files
    this.#report = report
  }

  async visit (element: Element): Promise<void> {
    await this.#attempt(element, async () => {
      switch (element.tagName) {
        case 'script': return await this.#script(element)
        case 'style': return await this.#style(element)
        case 'link': return await this.#link(element)
        case 'base': throw new SyntaxError('<base> changes what all paths mean: remove it')
        default: return await this.#attributes(element)
      }
    })
  }

  /** Bundles the modules, and returns the text of the document. */
  async finish (): Promise<string> {
    const [first, ...followers] = this.#modules
    if (first === undefined) return this.#edits.apply()
    for (const { element } of followers) this.#replace(element, '')
    const code = await bundle('js', this.#modules.map(({ text }) => text), this.#files, this.#report)
    if (code !== undefined) {
      await this.#attempt(first.element, async () => {
        this.#replace(first.element, inlineScript(code, ' type="module"'))
      })
    }
    return this.#edits.apply()
  }

  /** What it throws is a problem of the element. */
  async #attempt (element: Element, act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      this.#report(INDEX, placeOfElement(element), ruleOfApp(error))
    }
  }

  async #script (element: Element): Promise<void> {
    const type = (attributeOf(element, 'type') ?? '').trim().toLowerCase()
    const src = attributeOf(element, 'src')
    const target = src === undefined ? undefined : this.#files.resolve(src, INDEX)
    if (type === 'importmap') {
      throw new SyntaxError('import maps have no effect on files of the app: import them by their paths')
    }
    if (type === 'module') {
      if (target === undefined) this.#addModule(element, textOf(element))
      else if (target.kind === 'file') this.#addModule(element, `import ${toSpecifier(target)}`)
    } else if (/^(?:(?:text|application)\/javascript)?$/.test(type) && target?.kind === 'file') {
      if (attributeOf(element, 'defer') !== undefined) {
        throw new SyntaxError('a script in the document cannot be deferred: use type="module"')
      }
      const code = await transformScript(target.path, this.#files, this.#report)
      if (code !== undefined) this.#replace(element, inlineScript(code, keptAttributes(element)))
    }
  }

  #addModule (element: Element, text: string): void {
    this.#modules.push({ element, text: onLineOf(element, text) })
  }

  async #style (element: Element): Promise<void> {
    const text = textOf(element)
    if (/url\(|@import/i.test(text)) await this.#replaceByStyle(element, text)
  }

  async #link (element: Element): Promise<void> {
    const href = attributeOf(element, 'href')
    if (href === undefined) return
    const target = this.#files.resolve(href, INDEX)
    if (target.kind !== 'file') return
    const rel = (attributeOf(element, 'rel') ?? '').toLowerCase().split(/\s+/)
    if (rel.includes('stylesheet')) {
      await this.#replaceByStyle(element, `@import ${toSpecifier(target)};`)
    } else if (rel.includes('icon')) {
      this.#setAttribute(element, 'href', await this.#files.toDataUrl(target.path))
    } else if (rel.some((type) => type === 'modulepreload' || type === 'preload' || type === 'prefetch')) {
      this.#replace(element, '')
    } else {
      throw new SyntaxError(`<link rel="${rel.join(' ')}"> cannot be put into the document: remove it`)
    }
  }

  async #replaceByStyle (element: Element, text: string): Promise<void> {
    const css = await bundle('css', [onLineOf(element, text)], this.#files, this.#report)
    if (css !== undefined) this.#replace(element, inlineElement('style', css, keptAttributes(element)))
  }

  async #attributes (element: Element): Promise<void> {
    for (const name of FILE_ATTRIBUTES[element.tagName] ?? []) {
      const value = attributeOf(element, name)
      const target = value === undefined ? undefined : this.#files.resolve(value, INDEX)
      if (target?.kind === 'file') {
        this.#setAttribute(element, name, await this.#files.toDataUrl(target.path))
      }
    }
    for (const { name, domains, advice } of REFUSED_ATTRIBUTES[element.tagName] ?? []) {
      const value = attributeOf(element, name)
      if (value === undefined || value.trim().startsWith('data:')) continue
      // A list of sizes: one URL stands for all of them.
      const [url = ''] = name === 'srcset' ? value.trim().split(/[\s,]/) : [value]
      if (this.#files.resolve(url, INDEX, domains).kind === 'file') {
        throw new SyntaxError(`${name} of <${element.tagName}> cannot name a file: ${advice}`)
      }
    }
  }

  #setAttribute (element: Element, name: string, value: string): void {
    const attributes = element.sourceCodeLocation?.attrs
    const spelling = attributes?.[name] === undefined ? `xlink:${name}` : name
    const at = attributes?.[spelling]
    if (at === undefined) throw new Error(`the place of ${name} is not known`)
    this.#edits.exchange(at.startOffset, at.endOffset, `${spelling}="${value}"`)
  }

  #replace (element: Element, text: string): void {
    const at = element.sourceCodeLocation
    if (!at) throw new Error(`the place of <${element.tagName}> is not known`)
    this.#edits.exchange(at.startOffset, at.endOffset, text)
  }
}

function toSpecifier ({ path }: Extract<AppTarget, { kind: 'file' }>): string {
  return JSON.stringify(`/${encodeURI(path)}`)
}

/** The text with as many lines before it as in the document, so that problems have their line. */
function onLineOf (element: Element, text: string): string {
  const at = element.sourceCodeLocation
  return '\n'.repeat((at?.startTag?.endLine ?? at?.startLine ?? 1) - 1) + text
}
