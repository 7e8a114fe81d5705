// Tools with tasks and without, and their calls. The tools do almost nothing: otherwise their work would hide
// the cost of tasks.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ask } from '../requests/answers.mjs'
import { ID_MIXES } from '../requests/ids.mjs'
import { modernRequest } from '../requests/messages.mjs'
import { createRandom } from '../requests/random.mjs'
import { CONNECTIONS, forServer, REQUESTS_EACH, toRing } from '../requests/rings.mjs'

/** The capabilities of a client that takes tasks. */
export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
export const QUICK = 'quick_task'
const KEPT = 'kept_task'
/** How many tasks are read in turns. */
const KEPT_TASKS = 256

/** The source of `run`, by how the tool answers. */
const RUNS = {
  sync: "({ amount }) => 'sum ' + amount",
  async: "async ({ amount }) => { await null; return 'sum ' + amount }",
  waiting: "async ({ amount }) => { await new Promise((done) => setImmediate(done)); return 'sum ' + amount }"
}
export const KINDS = Object.keys(RUNS)
/** The first is the one that the other is compared with. */
export const MODES = ['never', 'allowed']

const SCHEMA = "{ type: 'object', properties: { amount: { type: 'number' } } }"

/** Writes a catalog of a tool for each kind and mode, and one whose calls are always tasks. */
export async function writeTaskTools (folder) {
  await mkdir(join(folder, 'tools'), { recursive: true })
  const write = async (name, options, run) => {
    await writeFile(join(folder, 'tools', `${name}.ts`), `import { defineTool } from 'trivet'

export default defineTool({
  name: '${name}',
  description: 'Adds up.',
  ${options},
  inputSchema: ${SCHEMA},
  run: ${run}
})
`)
  }
  for (const [kind, run] of Object.entries(RUNS)) {
    for (const mode of MODES) await write(toolName(mode, kind), `task: '${mode}'`, run)
  }
  // Short lives, so that a long measurement does not fill the memory.
  await write(QUICK, "task: 'required', ttlMs: 5000, keepResultMs: 5000", RUNS.sync)
  await write(KEPT, "task: 'required', ttlMs: 3_600_000, keepResultMs: 3_600_000", RUNS.sync)
}

export function toolName (mode, kind) {
  return `${mode}_${kind}`
}

/** The calls of one tool by a client that takes tasks. */
export function taskRings (name, ids) {
  return forServer(Array.from({ length: CONNECTIONS }, (_, connection) => {
    const random = createRandom(connection)
    return toRing(Array.from({ length: REQUESTS_EACH }, (_, place) => {
      const params = { name, arguments: { amount: random(1_000_000) } }
      return modernRequest('tools/call', params, ID_MIXES[ids](place, random), TASKS)
    }))
  }))
}

/** Begins tasks, and makes requests that read them when they are completed. */
export async function readingRings (url, ids) {
  const taskIds = []
  for (let amount = 0; amount < KEPT_TASKS; amount++) {
    const params = { name: KEPT, arguments: { amount } }
    taskIds.push((await ask(url, modernRequest('tools/call', params, 1, TASKS))).taskId)
  }
  const isWorking = async (taskId) => {
    return (await ask(url, modernRequest('tasks/get', { taskId }, 1, TASKS))).status === 'working'
  }
  for (const taskId of taskIds) while (await isWorking(taskId)) await pause(5)
  return forServer(Array.from({ length: CONNECTIONS }, (_, connection) => {
    const random = createRandom(connection)
    return toRing(Array.from({ length: REQUESTS_EACH }, (_, place) => {
      const taskId = taskIds[random(KEPT_TASKS)]
      return modernRequest('tasks/get', { taskId }, ID_MIXES[ids](place, random), TASKS)
    }))
  }))
}

export const TASK_CHECKS = {
  'tasks/get': ({ status, result }) => status === 'completed' && result.content[0].text.startsWith('sum '),
  'tools/call': ({ content: [{ text }], resultType }, { arguments: { amount } }) => (
    resultType === 'complete' && text === `sum ${amount}`
  )
}
