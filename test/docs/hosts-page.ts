// The tables of docs/hosts.md: what a service answers to each kind of host, and the habits of hosts. The test
// writes them.

import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { DRIVEN, HOST_HABITS, HOSTS as DRIVEN_HOSTS, nameHosts } from '../../src/catalog/hosts/host-table.ts'
import { buildApp, listen } from '../helpers/app.ts'
import type { Message } from '../helpers/request.ts'
import { openSession } from '../helpers/session.ts'
import { TaskClient, TASKS, toFiles, type ToolSources } from '../features/tasks/task-client.ts'

const FORM = "elicit.form({ message: 'Which size?', schema: { type: 'object', " +
  "properties: { size: { type: 'string' } }, required: ['size'] } })"
const LINK = "elicit.url({ message: 'Pay', url: 'https://pay.example/1' })"
const asks = (question: string) => `async (_, ctx) => (await ctx.ask({ it: ${question} })).it.action`
const LONG = "async (_, ctx) => { await ctx.sleep(60_000); return 'done' }"

const TOOLS: ToolSources = {
  short: ["task: 'allowed'", "() => 'done'"],
  long: ["task: 'allowed'", LONG],
  relays: ["task: 'allowed', relayQuestions: true", asks(FORM)],
  asks: ["task: 'allowed'", asks(FORM)],
  links: ["task: 'allowed'", asks(LINK)],
  requires: ["task: 'required'", LONG]
}

/** The heading of each column, the tool that is called, and whether the service continues calls. */
const SITUATIONS: ReadonlyArray<readonly [heading: string, tool: string, continues: boolean]> = [
  ['A short call', 'short', true],
  ['A long call', 'long', true],
  ['A form, `relayQuestions: true`', 'relays', true],
  ['A form without it', 'asks', true],
  ['A link', 'links', true],
  ["A long call, `task: 'required'`", 'requires', true],
  ['A long call, `continueTool: off`', 'long', false]
]

const ELICITATION = { elicitation: { form: {}, url: {} } }

const HOSTS: ReadonlyArray<readonly [kind: string, capabilities: object]> = [
  ['With tasks and elicitation', { ...ELICITATION, ...TASKS }],
  ['With elicitation only', ELICITATION],
  ['Plain', {}]
]

type Call = (tool: string) => Promise<Message>

/** Returns the table. It takes about ten seconds: hosts wait. */
export async function toHostsTable (t: Test): Promise<string> {
  const options = { constants: { taskGraceMs: 50 }, taskWaitMs: 1000 }
  const on = await buildApp(t, toFiles(TOOLS), options)
  const off = await buildApp(t, { ...toFiles(TOOLS), 'server.yaml': 'continueTool: off\n' }, options)
  const [urlOn, urlOff] = [await listen(on), await listen(off)]
  const rows: string[][] = []
  for (const [kind, capabilities] of HOSTS) {
    const row = await readRow(callModern(on, capabilities), callModern(off, capabilities))
    rows.push([`${kind}, 2026-07-28`, ...row])
  }
  for (const [kind, capabilities] of HOSTS) {
    // The extension is of 2026-07-28: sessions do not know it.
    const row = await readRow(await openCall(t, urlOn, capabilities), await openCall(t, urlOff, capabilities))
    rows.push([`${kind}, earlier revisions`, ...row])
  }
  return toTable(['Host', ...SITUATIONS.map(([heading]) => heading)], rows)
}

function toTable (headings: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  return [headings, headings.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

export function toVersionsTable (): string {
  return toTable(['Host', 'Version'], Object.entries(DRIVEN_HOSTS))
}

export function toHabitsTable (): string {
  return toTable(['Host', 'Habit', 'How it was seen'], HOST_HABITS.map((habit) => (
    [nameHosts(habit), habit.habit, habit.seen ?? DRIVEN]
  )))
}

async function readRow (on: Call, off: Call): Promise<string[]> {
  const cells: string[] = []
  for (const [, tool, continues] of SITUATIONS) cells.push(nameAnswer(await (continues ? on : off)(tool)))
  return cells
}

function callModern (app: FastifyInstance, capabilities: object): Call {
  const client = new TaskClient(app, { capabilities })
  return async (tool) => await client.call(tool)
}

async function openCall (t: Test, url: string, capabilities: object): Promise<Call> {
  const session = await openSession(t, url, { capabilities })
  return async (tool) => {
    const reply = await session.startCall(tool)
    // Without a stream the answer is the result.
    const first = reply.isStream ? await reply.next() : undefined
    if (first !== undefined && 'method' in first) {
      await session.answer(first.id, { action: 'decline' })
      return first
    }
    await reply.ended()
    return reply.result ?? reply.error
  }
}

/** Says what the answer is, in the words of the page. */
function nameAnswer (answer: Message): string {
  if (answer.code !== undefined) return `error ${answer.code}`
  if (answer.resultType === 'task') return 'a task'
  if (answer.resultType === 'input_required') return 'the question, as `input_required`'
  if (answer.method !== undefined) return `the question, as \`${answer.method}\``
  const text: string = answer.content[0].text
  if (text === 'done') return 'the result'
  if (/To get its result, call the tool continue_call/.test(text)) return '`continue_call`'
  if (/Then call the tool continue_call/.test(text)) return 'the question, and `continue_call`'
  if (answer.isError === true) return /lacks tasks/.test(text) ? 'a tool error: it lacks tasks' : 'a tool error'
  throw new Error(`no words for ${JSON.stringify(answer)}`)
}
