// Two releases of one catalog. The second has another version, another description of `work`, and the tool
// `work_next`, which the first does not know.

import type { Files } from '../helpers/catalog-folder.ts'

/** The scope of the tools with tasks. */
export const SCOPE = 'work'

const HANDLES = `import { defineHandle } from 'trivet'
  export const ledgers = defineHandle({ kind: 'ledger', prefix: 'led', idleTtlMs: 86_400_000,
    schema: { type: 'array', items: { type: 'string' } } })`

const OBJECT = `const object = (...names) => ({ type: 'object', required: names,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) })`

/** Three steps, with a question and a sleep between them. Each run notes what a step returned to it. */
const toWork = (file: string) => `import { appendFileSync } from 'node:fs'
  import { defineTool, elicit } from 'trivet'
  ${OBJECT}
  const toTool = (name, description) => defineTool({ name, description, task: 'required',
    onReplicaLoss: 'rerun', scopes: ['${SCOPE}'], inputSchema: object('task'),
    async run ({ task }, ctx) {
      const values = []
      const record = async (key) => {
        const value = await ctx.step(key, {}, async () => {
          const value = crypto.randomUUID()
          await new Promise((done) => setTimeout(done, 100 * Math.random()))
          return value
        })
        appendFileSync(${JSON.stringify(file)}, [task, key, value].join(' ') + '\\n')
        values.push(value)
      }
      await record('one')
      const schema = { type: 'object', properties: { by: { type: 'string' } } }
      const { go } = await ctx.ask({ go: elicit.form({ message: 'Go on?', schema }) })
      await record('two')
      await ctx.sleep(1500)
      await record('three')
      return { values, answers: { go: go.content?.by ?? go.action } }
    } })`

/**
 * Asks beside a sleep. The run after the sleep comes late to its questions: until then it runs, and they
 * are open.
 */
const toRemind = (file: string) => `import { appendFileSync } from 'node:fs'
  import { defineTool, elicit } from 'trivet'
  ${OBJECT}
  const schema = { type: 'object', properties: { by: { type: 'string' } } }
  const question = elicit.form({ message: 'Go on?', schema })
  const pause = async (ms) => await new Promise((done) => setTimeout(done, ms))
  export default defineTool({ name: 'remind', description: 'Asks, and works meanwhile.', task: 'required',
    onReplicaLoss: 'rerun', scopes: ['${SCOPE}'], inputSchema: object('task'),
    async run ({ task }, ctx) {
      const values = []
      const answers = {}
      const record = async (key) => {
        const value = await ctx.step(key, {}, () => crypto.randomUUID())
        appendFileSync(${JSON.stringify(file)}, [task, key, value].join(' ') + '\\n')
        values.push(value)
      }
      const ask = async (key) => {
        const { [key]: answer } = await ctx.ask({ [key]: question })
        answers[key] = answer.content?.by ?? answer.action
      }
      await record('one')
      await pause(1000 * Math.random())
      await Promise.all([ask('go'), ask('beside'), ctx.sleep(1200)])
      await record('two')
      await Promise.all([ask('now'), ctx.sleep(1000).then(async () => {
        await pause(500 * Math.random())
        await ask('later')
      })])
      await record('three')
      return { values, answers }
    } })`

const FIRST = "export const work = toTool('work', 'Works.')"
const SECOND = `export const work = toTool('work', 'Works, and says so in the second release.')
  export const workNext = toTool('work_next', 'Works in the second release only.')`

const COLLECT = `import { createHash } from 'node:crypto'
  import { defineTool } from 'trivet'
  ${OBJECT}
  export default defineTool({ name: 'collect', description: 'Reads a file of the user.', task: 'required',
    onReplicaLoss: 'rerun', scopes: ['${SCOPE}'], inputSchema: object('task'),
    async run (_, ctx) {
      const file = await ctx.files.upload({ message: 'Send the file.' })
      if (file.action !== 'accept') return { action: file.action }
      const digest = createHash('sha256')
      for await (const chunk of file.stream()) digest.update(chunk)
      return { action: 'accept', sha256: digest.digest('hex') }
    } })`

const CALLS = `import { defineTool } from 'trivet'
  import { ledgers } from '../handles/ledger.ts'
  ${OBJECT}
  export const open = defineTool({ name: 'open', description: 'Opens.', async run (_, ctx) {
    return { id: (await ctx.handles(ledgers).create([])).id } } })
  export const add = defineTool({ name: 'add', description: 'Adds.', inputSchema: object('id', 'entry'),
    async run ({ id, entry }, ctx) {
      await ctx.handles(ledgers).update(id, (all) => { if (!all.includes(entry)) all.push(entry) })
      return { ok: true }
    } })
  export const show = defineTool({ name: 'show', description: 'Shows.', inputSchema: object('id'),
    run: async ({ id }, ctx) => ({ entries: await ctx.handles(ledgers).read(id) }) })
  export const order = defineTool({ name: 'order', description: 'Orders.', dedupe: true,
    annotations: { idempotentHint: true }, inputSchema: object('item'),
    async run () {
      await new Promise((done) => setTimeout(done, 150))
      return { order: crypto.randomUUID() }
    } })`

/** @param file where the tools note what their steps returned: task, key and value in each line. */
export function toReleases (file: string): readonly [first: Files, second: Files] {
  const toRelease = (version: string, tools: string): Files => ({
    'server.yaml': `name: storm\nversion: ${version}\n`,
    'handles/ledger.ts': HANDLES,
    'tools/work.ts': `${toWork(file)}\n${tools}`,
    'tools/remind.ts': toRemind(file),
    'tools/collect.ts': COLLECT,
    'tools/calls.ts': CALLS
  })
  return [toRelease('1.0.0', FIRST), toRelease('2.0.0', SECOND)]
}
