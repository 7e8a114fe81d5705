// Messages as conforming clients send them, of each method.

import { LOG_LEVELS } from '../../src/platform/protocol/log-levels.ts'
import type { Knowledge, OrdinaryMessage } from './drafts.ts'
import type { Json, Random } from './random.ts'

type Make = (random: Random, known: Knowledge) => OrdinaryMessage
type Args = (random: Random, known: Knowledge) => { readonly [name: string]: Json }

const none: Args = () => ({})
const text: Args = (random) => ({ text: random.text() })
const LEAVE_MS = 25

/** The arguments of each tool. */
const TOOLS: { readonly [name: string]: Args } = {
  echo: text,
  checked: (random) => ({
    word: random.chance(0.3) ? 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' : 'aa',
    count: random.below(12),
    choice: random.pick(['a', 'b', 1, null, 'c']),
    day: random.pick(['2026-07-28', '2026-13-40', '']),
    list: [{ n: 1 }, random.json(1)]
  }),
  routed: (random) => ({ region: random.pick(['eu', 'é', 'us west']), size: random.below(9) }),
  fails: none,
  lies: none,
  refuses: none,
  blocks: none,
  streams: none,
  slow: none,
  keep: text,
  append: (random, known) => ({ id: known.use(random, 'handles'), text: random.text() }),
  drop: (random, known) => ({ id: known.use(random, 'handles') }),
  asks: none,
  asks_all: none,
  uploads: none,
  puts: (random) => random.chance(0.5)
    ? {}
    : { name: random.text(), mimeType: random.pick(['text/plain', 'text/html', random.text()]) },
  task: (random) => ({ ms: random.below(60) }),
  task_asks: none,
  task_fails: none,
  repeats: (random) => ({ n: random.below(5) }),
  limited: none,
  reader: none,
  hidden: none,
  asks_scopes: none,
  shows: none,
  authorizes: (random) => ({ n: random.below(5) }),
  nobody: none
}
const ASKING: ReadonlySet<string> = new Set(['asks', 'asks_all', 'uploads', 'task_asks'])

const URIS = [
  'file:///open.txt', 'file:///folder/a.json', 'file:///folder/b.bin', 'file:///private.txt', 'shop://hours',
  'shop://broken', 'shop://hidden', 'book://1', 'book://%C3%A9', 'book://é',
  'shop://orders/a/b?status=x&page=1', 'skill://write/SKILL.md', 'skill://write/references/style.md', 'skill://write/', 'ui://fuzzed/panel',
  'file:///', 'file:///folder/', 'file:///../open.txt', 'nothing://x'
]
const uri = (random: Random): string => random.chance(0.9) ? random.pick(URIS) : random.text()

const cursor = (random: Random, known: Knowledge) => random.chance(0.4)
  ? { cursor: known.use(random, 'cursors') }
  : {}

const list = (method: string): Make => (random, known) => ({ method, params: cursor(random, known) })

const toolsCall: Make = (random, known) => {
  const name = random.pick(Object.keys(TOOLS))
  const args = TOOLS[name]?.(random, known) ?? {}
  return {
    method: 'tools/call',
    params: { name, arguments: args },
    ...(ASKING.has(name) && { leaveAfterMs: LEAVE_MS })
  }
}

/** The next round of a call that has asked. */
const answerRound: Make = (random, known) => {
  const one = random.below(12)
  const round = known.rounds[one % Math.max(1, known.rounds.length)]
  if (round === undefined) return toolsCall(random, known)
  return {
    method: 'tools/call',
    params: {
      name: round.name,
      arguments: {},
      inputResponses: Object.fromEntries(round.keys.map((key) => [key, answerTo(key, random)])),
      ...(round.state !== undefined && { requestState: round.state })
    },
    leaveAfterMs: LEAVE_MS
  }
}

/** An answer to a question of the catalog. */
function answerTo (key: string, random: Random): Json {
  if (random.chance(0.15)) return random.json()
  if (key === 'model') return { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' }
  if (key === 'roots') return { roots: [{ uri: 'file:///a' }] }
  if (key === 'form' && random.chance(0.7)) return { action: 'accept', content: { size: 's', count: 2 } }
  return { action: random.pick(['accept', 'decline', 'cancel']) }
}

const promptsGet: Make = (random) => ({
  method: 'prompts/get',
  params: random.pick<{ readonly [name: string]: Json }>([
    { name: 'greet', arguments: { who: random.text(), tone: random.text() } }, { name: 'greet' },
    { name: 'talks', arguments: { topic: random.text() } }, { name: 'broken' }, { name: 'secret' },
    { name: random.text() }
  ])
})

const resourcesRead: Make = (random) => ({ method: 'resources/read', params: { uri: uri(random) } })

const complete: Make = (random) => ({
  method: 'completion/complete',
  params: {
    ref: random.pick<Json>([
      { type: 'ref/prompt', name: 'greet' }, { type: 'ref/prompt', name: 'talks' },
      { type: 'ref/prompt', name: 'broken' }, { type: 'ref/prompt', name: 'secret' },
      { type: 'ref/resource', uri: 'book://{id}' }, { type: 'ref/resource', uri: uri(random) }
    ]),
    argument: { name: random.pick(['who', 'topic', 'tone', 'id', 'x']), value: random.text() },
    ...(random.chance(0.3) && { context: { arguments: { tone: random.text() } } })
  }
})

const listen: Make = (random, known) => ({
  method: 'subscriptions/listen',
  params: {
    notifications: {
      toolsListChanged: random.chance(0.5),
      ...(random.chance(0.5) && { resourceSubscriptions: [uri(random), uri(random)] }),
      ...(random.chance(0.3) && { taskIds: [known.use(random, 'tasks')] })
    }
  },
  leaveAfterMs: LEAVE_MS
})

const ofTask = (method: string): Make => (random, known) => ({
  method,
  params: {
    taskId: known.use(random, 'tasks'),
    ...(method === 'tasks/update' && { inputResponses: { form: answerTo('form', random) } })
  }
})

const unknown: Make = (random) => ({
  method: random.pick([
    'ping', 'initialize', 'tools/lists', 'resources/subscribe', 'logging/setLevel', random.text()
  ]),
  params: {}
})

const COMMON: ReadonlyArray<readonly [number, Make]> = [
  [30, toolsCall], [3, list('tools/list')], [2, list('prompts/list')], [2, list('resources/list')],
  [2, list('resources/templates/list')], [6, promptsGet], [10, resourcesRead], [6, complete], [2, unknown]
]

export const MODERN: ReadonlyArray<readonly [number, Make]> = [
  ...COMMON, [8, answerRound], [2, list('server/discover')], [2, list('skills/list')],
  [2, (random) => ({ method: 'skills/get', params: { uri: uri(random) } })],
  [2, (random, known) => ({
    method: 'resources/directory/read', params: { uri: uri(random), ...cursor(random, known) }
  })],
  [3, listen], [4, ofTask('tasks/get')], [2, ofTask('tasks/update')], [1, ofTask('tasks/cancel')]
]

export const LEGACY: ReadonlyArray<readonly [number, Make]> = [
  ...COMMON, [2, () => ({ method: 'ping', params: {} })],
  [2, (random) => ({ method: 'logging/setLevel', params: { level: random.pick([...LOG_LEVELS]) } })],
  [2, (random) => ({ method: 'resources/subscribe', params: { uri: uri(random) } })],
  [2, (random) => ({ method: 'resources/unsubscribe', params: { uri: uri(random) } })]
]
