// Edits of a catalog's files while it is served.

import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '../requests/answers.mjs'
import { modernRequest } from '../requests/messages.mjs'
import { changeTool } from './catalog-folder.mjs'

const BETWEEN_EDITS_MS = 1000
const RELOAD_TIMEOUT_MS = 30_000

let edit = 0

/** @returns what ends it, and resolves with the edit that was made last */
export function startEditing (catalog, toolCount) {
  let last
  let editing = Promise.resolve()
  const timer = setInterval(() => {
    edit++
    last = { index: edit * 7 % toolCount, description: `Edit ${edit} of the benchmark.` }
    editing = editing.then(() => changeTool(catalog, last.index, last.description))
  }, BETWEEN_EDITS_MS)
  return async () => {
    clearInterval(timer)
    await editing
    return last
  }
}

/** Resolves when the list shows an edit: one that never arrives would make a good figure. */
export async function untilLoaded (url, { index, description }) {
  const startedAt = performance.now()
  while (true) {
    const { tools } = await ask(url, modernRequest('tools/list', {}))
    if (tools[index].description === description) return
    if (performance.now() - startedAt > RELOAD_TIMEOUT_MS) throw new Error(`${url} has not loaded an edit`)
    await sleep(100)
  }
}
