// Edits the files of a catalog while a server serves the catalog.

import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '../requests/answers.mjs'
import { modernRequest } from '../requests/messages.mjs'
import { changeTool } from './catalog-folder.mjs'

const BETWEEN_EDITS_MS = 1000
const RELOAD_TIMEOUT_MS = 30_000

let edit = 0

/** @returns a function that ends the editing, and resolves with the last edit */
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

/**
 * Resolves when the tool list shows the edit. Without this check, an edit that is never loaded would improve
 * the figures.
 */
export async function untilLoaded (url, { index, description }) {
  const startedAt = performance.now()
  while (true) {
    const { tools } = await ask(url, modernRequest('tools/list', {}))
    if (tools[index].description === description) return
    if (performance.now() - startedAt > RELOAD_TIMEOUT_MS) throw new Error(`${url} has not loaded an edit`)
    await sleep(100)
  }
}
