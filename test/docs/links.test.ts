// The links between the pages, and from the pages to files.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readAllPages, readPage, resolveLink, ROOT } from './pages.ts'

const changelog = readPage('CHANGELOG.md', readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'))
const pages = [...await readAllPages(), changelog]

t.test('every link leads to a file, and to a heading of it', async (t) => {
  let count = 0
  for (const { name, links } of pages) {
    for (const target of links) {
      const { file, anchor } = resolveLink(name, target)
      t.ok(existsSync(join(ROOT, file)), `${name}: ${target}`)
      const linked = pages.find((page) => page.name === file)
      if (anchor !== '') t.ok(linked?.anchors.has(anchor), `${name}: ${target}`)
      count++
    }
  }
  t.ok(count > 20)
})

t.test('every page can be reached from the README', async (t) => {
  const reached = new Set(['README.md'])
  for (const page of reached) {
    const { links = [] } = pages.find(({ name }) => name === page) ?? {}
    for (const target of links) {
      const { file } = resolveLink(page, target)
      if (pages.some(({ name }) => name === file)) reached.add(file)
    }
  }
  t.strictSame(pages.map(({ name }) => name).filter((name) => !reached.has(name)), [])
})

t.test('links and anchors are read as GitHub reads them', async (t) => {
  const page = readPage('docs/x.md', '# A `b`, c-d (e)\n[f](../README.md#run-it) [g](https://h)\n')
  t.strictSame([...page.anchors], ['a-b-c-d-e'])
  const resolved = page.links.map((target) => resolveLink(page.name, target))
  t.strictSame(resolved, [{ file: 'README.md', anchor: 'run-it' }])
})
