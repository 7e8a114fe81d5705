// Measures what `ctx.fetch` costs beside the fetch of undici: the same calls in one process, in turns.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { ratios, spread } from '../figures/stats.mjs'
import { printTable, printTitle, spreadText } from '../figures/table.mjs'

const CALLS = 5000
const LAPS = 11
const ANSWERS = { small: '1 kB', large: '100 kB' }
const [ORIGIN, CALLER] = ['upstream-origin', 'upstream-caller'].map(
  (name) => fileURLToPath(new URL(`../servers/${name}.mjs`, import.meta.url))
)

export const name = 'upstreams'
export const about = 'CPU time of ctx.fetch, beside the fetch of undici'

export async function run ({ nodes, main }, show) {
  const origin = spawn(process.execPath, [ORIGIN], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [url] = await once(origin.stdout.setEncoding('utf8'), 'data')
    const rows = nodes.flatMap(({ path, version }) => {
      const args = [CALLER, main, url.trim(), String(CALLS), String(LAPS)]
      const figures = JSON.parse(execFileSync(path, args, { encoding: 'utf8' }))
      return Object.entries(figures).map(([answer, { trivet, undici }]) => ({
        node: version,
        answer: ANSWERS[answer],
        trivet: spread(trivet),
        undici: spread(undici),
        ofUndici: ratios(trivet, undici)
      }))
    })
    show(rows)
    return rows
  } finally {
    origin.kill()
  }
}

export function print (rows) {
  printTitle('ctx.fetch and the fetch of undici: CPU µs of a call with its answer')
  printTable(['Node', 'answer', 'ctx.fetch', 'undici', 'of undici'], rows.map(
    ({ node, answer, trivet, undici, ofUndici }) => (
      [node, answer, spreadText(trivet), spreadText(undici), spreadText(ofUndici)]
    )
  ))
}

export function yardsticks (rows) {
  return rows.map(({ node, answer, ofUndici }) => ({
    name: `ctx.fetch, answers of ${answer}, CPU of undici's fetch, Node ${node}`,
    atMost: 1.1,
    figure: ofUndici.median
  }))
}
