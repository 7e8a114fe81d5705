// Reads the pages of the documentation: their blocks of code, their headings and their links.

import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Block {
  readonly page: string
  readonly line: number
  /** The first word behind the fence; empty if there is none. */
  readonly language: string
  /** The path that follows the language. `undefined`: the block is no file. */
  readonly path: string | undefined
  readonly text: string
}

export interface Page {
  /** Its path in the project. */
  readonly name: string
  readonly text: string
  /** The text without its blocks. */
  readonly prose: string
  readonly blocks: readonly Block[]
  readonly anchors: ReadonlySet<string>
  /** Targets inside this project, as written. */
  readonly links: readonly string[]
}

const BLOCK = /^```(\S*)(?: +(\S+))?\n([^]*?)^```$/gm

const OUTSIDE_OF_DOCS = [
  'README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'deploy/README.md', 'examples/database/README.md',
  'examples/internal-api/README.md'
]

/** Returns the pages that people write. */
export async function readPages (): Promise<readonly Page[]> {
  const all = await readAllPages()
  return all.filter(({ name }) => !name.startsWith('docs/api/'))
}

/** Returns the pages that people write, and those that are made from docstrings. */
export async function readAllPages (): Promise<readonly Page[]> {
  const files = await readdir(join(ROOT, 'docs'), { recursive: true })
  const docs = files.filter((file) => file.endsWith('.md')).toSorted().map((file) => `docs/${file}`)
  return await Promise.all([...OUTSIDE_OF_DOCS, ...docs].map(async (name) => {
    return readPage(name, await readFile(join(ROOT, name), 'utf8'))
  }))
}

export function readPage (name: string, text: string): Page {
  const prose = text.replaceAll(BLOCK, '')
  const blocks = [...text.matchAll(BLOCK)].map(({ index, 1: language = '', 2: path, 3: body = '' }) => ({
    page: name, line: text.slice(0, index).split('\n').length, language, path, text: body
  }))
  const headings = [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
  const marks = [...prose.matchAll(/<a id="([^"]+)">/g)].map(([, mark = '']) => mark)
  const links = [...prose.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = '']) => target)
  return { name, text, prose, blocks, anchors: new Set([...toAnchors(headings), ...marks]), links }
}

/** As GitHub makes the anchors of headings: the second one of a name has a number. */
function toAnchors (headings: readonly string[]): string[] {
  const counts = new Map<string, number>()
  return headings.map((heading) => {
    const anchor = heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
    const count = counts.get(anchor) ?? 0
    counts.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  })
}

/** The file and the anchor that a link of a page names. */
export function resolveLink (page: string, target: string): { file: string, anchor: string } {
  const [path = '', anchor = ''] = target.split('#')
  return { file: path === '' ? page : join(dirname(page), path), anchor }
}

/** Where a block is, as a problem names it. */
export function placeOf ({ page, line }: Block): string {
  return `${page}:${line}`
}
