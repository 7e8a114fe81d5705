// Catalogs with an app, and the document that it becomes.

import type { Test } from 'tap'
import { writeCatalog, type Files } from '../../../helpers/catalog-folder.ts'
import { loadSnapshot, problemsOf } from '../../../helpers/load-catalog.ts'

export const SERVER: Files = { 'server.yaml': 'name: shop\n' }

/** A document with this head and this body. The body begins on line 3. */
export function page (body: string, head = ''): string {
  return `<!doctype html>\n<html lang="en"><head><title>A</title>${head}</head><body>\n${body}\n</body></html>\n`
}

/** The files of the app `a`, by their paths in its folder. */
export function appFiles (files: Files): Files {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`apps/a/${path}`, text]))
}

/** What a read of the app `a` returns. */
export async function documentOf (t: Test, files: Files): Promise<string> {
  const root = await writeCatalog(t, { ...SERVER, ...appFiles(files) })
  return (await readApp(root)).text
}

export async function readApp (root: string): Promise<{ text: string, [member: string]: unknown }> {
  const { primitives: { resources } } = await loadSnapshot(root)
  const app = resources.find(({ key }) => key === 'ui://shop/a')
  const contents = await app?.read({} as never)
  if (!Array.isArray(contents)) throw new Error('there is no app')
  return contents[0]
}

/** The problems of the app `a`, each as one line. */
export async function problemsOfApp (t: Test, files: Files): Promise<string[]> {
  const problems = await problemsOf(t, { ...SERVER, ...appFiles(files) })
  return problems.map(({ file, place, rule }) => [file.replace('apps/a/', ''), place, rule].join(': '))
}
