// The order of the checks, and the seams of the pipeline. Methods, outlets and observers are test doubles.

import t, { type Test } from 'tap'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import { ToolError } from '../../../src/platform/author/tool-error.ts'
import { LargeJson } from '../../../src/catalog/compiled/results/large-json.ts'
import {
  invalidParams, missingClientCapability, ProtocolError
} from '../../../src/platform/protocol/errors.ts'
import type { Caller, Outlet } from '../../../src/request/pipeline/caller.ts'
import { Lifetimes } from '../../../src/request/pipeline/lifetimes.ts'
import {
  defineMethod, type Call, type Method, type MethodOptions
} from '../../../src/request/pipeline/method.ts'
import {
  joinObservers, type Ending, type Observed, type Observer
} from '../../../src/request/pipeline/observer.ts'
import { Pipeline } from '../../../src/request/pipeline/pipeline.ts'
import type { RequestTrace, RequestTracer } from '../../../src/request/pipeline/request-tracer.ts'
import type { Limiter, ResultRoom } from '../../../src/request/pipeline/seams.ts'
import { Type } from '../../../src/platform/schema/type.ts'
import type { MessageSink } from '../../../src/platform/store/changes/message-sink.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { loadSnapshot } from '../../helpers/load-catalog.ts'

const snapshot = await loadSnapshot(await writeCatalog(t, {}))

interface TestDependencies {
  readonly methods: readonly Method[]
  readonly observers?: readonly Observer[]
  readonly limiter?: Limiter
  readonly lifetimes?: Lifetimes
  readonly largeResults?: ResultRoom
  readonly tracer?: Pick<RequestTracer, 'begin'>
}

/** Builds a pipeline, and returns a function that serves one request with it. */
function build (
  {
    methods, observers = [], limiter = { admit () {} }, lifetimes = new Lifetimes(), ...others
  }: TestDependencies
) {
  const pipeline = new Pipeline({
    support: {
      era: 'modern',
      snapshotFor: () => snapshot,
      openRound () { throw new Error('nothing is asked here') },
      toMissingCapability: missingClientCapability
    },
    methods,
    lifetimes,
    observer: joinObservers(observers),
    limiter,
    ...others
  })
  return async (method: string, params: object = {}, caller: Partial<Caller> = {}) => {
    const outlet = new KeptOutlet()
    pipeline.serve({ id: 1, method, params: { ...params } }, { ...CALLER, ...caller }, outlet)
    return await outlet.answer
  }
}

const silent = () => {}
const CALLER: Caller = {
  principal: ANONYMOUS,
  envelope: {
    revision: '2026-07-28',
    clientCapabilities: {},
    clientInfo: undefined,
    logLevel: undefined,
    progressToken: undefined
  },
  requestId: 'r1',
  log: { debug: silent, info: silent, warn: silent, error: silent }
}

type Answer = { readonly result: string } | { readonly error: ProtocolError } | 'left out'

class KeptOutlet implements Outlet {
  readonly status = 200
  readonly answer: Promise<Answer>
  #resolve: (answer: Answer) => void = () => {}

  constructor () {
    this.answer = new Promise((resolve) => { this.#resolve = resolve })
  }

  onPending (): void {}
  notify (): void {}
  succeed (result: string | Buffer): void { this.#resolve({ result: String(result) }) }
  openStream (): MessageSink { throw new Error('no stream is expected here') }
  fail (error: ProtocolError): void { this.#resolve({ error }) }
  leaveUnanswered (): void { this.#resolve('left out') }
}

const NO_PARAMS = Type.Object({})

function method (
  name: string, call: Call, options: Partial<Pick<MethodOptions<typeof NO_PARAMS>, 'eras'>> = {}
): Method {
  return defineMethod({ name, params: NO_PARAMS, ...options, open: () => call })
}

const errorOf = (answer: Answer) => typeof answer === 'object' && 'error' in answer ? answer.error : undefined

t.test('serves only the methods of its era', async (t) => {
  const ask = build({
    methods: [
      method('both', { handle: () => '"b"' }), method('old', { handle: () => '"o"' }, { eras: ['legacy'] })
    ]
  })
  t.strictSame(await ask('both'), { result: '"b"' })
  for (const name of ['old', 'none', 'toString', '__proto__']) t.equal(errorOf(await ask(name))?.code, -32601)
})

t.test('checks method, name, params, capabilities, headers, caller and limits in this order', async (t) => {
  const order: string[] = []
  const note = <T>(step: string, value: T): T => {
    order.push(step)
    return value
  }
  const strict = defineMethod({
    name: 'strict',
    params: Type.Object({ name: Type.String() }),
    mirroredName: 'name',
    open: ({ name }) => ({
      subject: note('open', name),
      requiredCapabilities: note('capabilities', undefined),
      mirroredParams: [{ header: 'Mcp-Param-A', value: 'a' }],
      handle: () => note('handle', '{}')
    })
  })
  const ask = build({
    methods: [strict],
    limiter: { admit ({ subject }) { note(`admit ${subject}`, undefined) } }
  })
  const mirror = (header: string) => note(header, header === 'Mcp-Name' ? 'x' : 'a')
  t.strictSame(await ask('strict', { name: 'x' }, { mirror }), { result: '{}' })
  t.strictSame(order, ['Mcp-Name', 'open', 'capabilities', 'Mcp-Param-A', 'admit x', 'handle'])
  order.length = 0
  await ask('strict', { name: 'x' })
  t.strictSame(
    order, ['open', 'capabilities', 'admit x', 'handle'],
    'without the headers where the transport has none'
  )
})

t.test('the first check that fails ends the request', async (t) => {
  const handled: string[] = []
  const handle = () => {
    handled.push('handled')
    return '{}'
  }
  const refusal = new ProtocolError(403, 'Not you.')
  const refusing: ReadonlyArray<readonly [claim: string, dependencies: TestDependencies, code: number]> = [
    ['a capability', { methods: [method('m', { requiredCapabilities: { sampling: {} }, handle })] }, -32021],
    ['the limiter', { methods: [method('m', { handle })], limiter: { admit () { throw refusal } } }, 403],
    [
      'the limiter, later',
      { methods: [method('m', { handle })], limiter: { admit: async () => await Promise.reject(refusal) } },
      403
    ],
    [
      'a check that breaks',
      { methods: [method('m', { handle })], limiter: { admit () { throw new Error('broken') } } }, -32603
    ]
  ]
  for (const [claim, dependencies, code] of refusing) {
    t.equal(errorOf(await build(dependencies)('m'))?.code, code, claim)
  }
  t.strictSame(handled, [])
})

t.test('awaits a limiter, which sees the end of the request', async (t) => {
  const order: string[] = []
  const ask = build({
    methods: [method('m', { handle: async () => { order.push('handled'); return '{}' } })],
    limiter: {
      async admit (_, { lifetime }) {
        await new Promise(setImmediate)
        order.push('admitted')
        lifetime.onEnd(() => order.push('given back'))
      }
    }
  })
  await ask('m')
  t.strictSame(order, ['admitted', 'handled', 'given back'])
})

t.test('a call may turn its errors into results', async (t) => {
  const recover = (error: unknown): string => {
    if (error instanceof ToolError) return JSON.stringify(error.message)
    throw error
  }
  const calls: ReadonlyArray<readonly [claim: string, handle: Call['handle']]> = [
    ['at once', () => { throw new ToolError('no') }],
    ['later', async () => await Promise.reject(new ToolError('no'))]
  ]
  for (const [claim, handle] of calls) {
    t.strictSame(await build({ methods: [method('m', { handle, recover })] })('m'), { result: '"no"' }, claim)
  }
  const limiter: Limiter = { admit () { throw new ToolError('too many') } }
  t.strictSame(await build({ methods: [method('m', { handle: () => '{}', recover })], limiter })('m'), {
    result: '"too many"'
  })
  t.equal(
    errorOf(
      await build({ methods: [method('m', { handle () { throw invalidParams('x') }, recover })] })('m')
    )?.code,
    -32602, 'and passes on the others'
  )
  const breaking = method('m', {
    handle () { throw new ToolError('no') }, recover () { throw new Error('broken') }
  })
  t.equal(errorOf(await build({ methods: [breaking] })('m'))?.code, -32603)
})

t.test('tells every observer of the begin and the end, with the same object', async (t) => {
  const methods = [
    method('good', { subject: 'thing', handle: () => '{}' }),
    method('slow', { handle: async () => await Promise.resolve('{}') }),
    method('bad', { handle () { throw new Error('why') } })
  ]
  const begun: Observed[] = []
  const ended: Array<readonly [Observed, Ending]> = []
  let others = 0
  const ask = build({
    methods,
    observers: [
      {
        begin: (observed) => begun.push(observed), end: (observed, ending) => ended.push([observed, ending])
      },
      { end () { others++ } },
      {}
    ]
  })
  for (const name of ['good', 'slow', 'bad', 'none']) await ask(name)
  t.equal(others, 4)
  t.match(ended.map(([observed]) => observed), [
    { requestId: 'r1', method: 'good', subject: 'thing', principal: ANONYMOUS, revision: '2026-07-28' },
    { method: 'slow', subject: undefined },
    { method: 'bad' },
    { method: undefined }
  ])
  t.ok(ended.every(([observed], index) => observed === begun[index]))
  t.match(ended.map(([, ending]) => ending), [
    { status: 200, protocolError: undefined, error: undefined, isCancelled: false },
    { protocolError: undefined },
    { protocolError: { code: -32603, message: 'Internal error' }, error: { message: 'why' } },
    { protocolError: { code: -32601 } }
  ])
  t.ok(ended.every(([, { durationMs }]) => durationMs >= 0 && durationMs < 10_000))
})

t.test('traces each request, and tells the observers the id of its trace', async (t) => {
  const traced: unknown[] = []
  const trace: RequestTrace = {
    traceId: 't1',
    runHandler: (_, run) => run(),
    span: async (_, fn) => await fn(),
    handles: (_, handles) => handles,
    upstream () { throw new Error('no upstream') },
    end: ({ method }, { protocolError }) => traced.push(['end', method, protocolError?.code])
  }
  const ids: unknown[] = []
  const keepId = ({ traceId }: Observed) => ids.push(traceId)
  const options = {
    methods: [
      method('good', { handle: () => '{}' }), method('bad', { handle () { throw new Error('why') } })
    ],
    observers: [{ begin: keepId, end: keepId }]
  }
  const tracer: Pick<RequestTracer, 'begin'> = {
    begin ({ params }, name, { requestId }) {
      traced.push(['begin', name, params, requestId])
      return trace
    }
  }
  const ask = build({ ...options, tracer })
  for (const name of ['good', 'bad', 'none']) await ask(name, { a: 1 })
  t.strictSame(traced, [
    ['begin', 'good', { a: 1 }, 'r1'], ['end', 'good', undefined],
    ['begin', 'bad', { a: 1 }, 'r1'], ['end', 'bad', -32603],
    ['begin', undefined, { a: 1 }, 'r1'], ['end', undefined, -32601]
  ])
  t.strictSame(ids, Array(6).fill('t1'))
  ids.length = 0
  await build(options)('good')
  t.strictSame(ids, [undefined, undefined])
})

t.test('every method that is served says all of itself (29, 30)', async (t: Test) => {
  const { createMethods } = await import('../../../src/request/methods/method-list.ts')
  const { createTaskMethods } = await import('../../../src/features/tasks/clients/methods.ts')
  const { createLegacyMethods } = await import('../../../src/edges/legacy/methods/session-methods.ts')
  // They are only looked at.
  const nothing: never = undefined as never
  const methods = [
    ...createMethods({
      files: nothing,
      subscriptions: nothing,
      openStreams: nothing,
      scopeGroups: nothing,
      tokenWatch: nothing,
      changingLists: new Set(),
      lists: nothing,
      requestTimeoutMs: 1,
      handles: nothing,
      firstAnswers: nothing,
      announce: nothing,
      tasks: nothing,
      taskFollowers: nothing
    }),
    ...createTaskMethods(nothing),
    ...createLegacyMethods({ settings: nothing, changingLists: new Set() })
  ]
  const facts = Object.fromEntries(
    methods.map(({ name, eras, mirroredName }) => [name, [eras.join(), mirroredName]])
  )
  t.strictSame(facts, {
    'server/discover': ['modern', undefined],
    'tools/list': ['modern,legacy', undefined],
    'tools/call': ['modern,legacy', 'name'],
    'prompts/list': ['modern,legacy', undefined],
    'prompts/get': ['modern,legacy', 'name'],
    'resources/list': ['modern,legacy', undefined],
    'resources/templates/list': ['modern,legacy', undefined],
    'resources/read': ['modern,legacy', 'uri'],
    'resources/directory/read': ['modern', undefined],
    'skills/list': ['modern', undefined],
    'skills/get': ['modern', undefined],
    'completion/complete': ['modern,legacy', undefined],
    'subscriptions/listen': ['modern', undefined],
    'tasks/get': ['modern', 'taskId'],
    'tasks/update': ['modern', 'taskId'],
    'tasks/cancel': ['modern', 'taskId'],
    initialize: ['legacy', undefined],
    ping: ['legacy', undefined],
    'logging/setLevel': ['legacy', undefined],
    'resources/subscribe': ['legacy', undefined],
    'resources/unsubscribe': ['legacy', undefined]
  })
})

const answering = (result: string | LargeJson) => (
  defineMethod({ name: 'm', params: Type.Object({}), open: () => ({ handle: () => result }) })
)

t.test('a call that waits for room does not count as one that is served', async (t) => {
  const lifetimes = new Lifetimes()
  let begin = () => {}
  const waiting = new Promise<void>((resolve) => { begin = resolve })
  const serve = build({
    lifetimes,
    methods: [answering('{"ok":1}')],
    largeResults: { begin: () => waiting, admit: () => true, note () {} }
  })
  const answer = serve('m')
  t.equal(lifetimes.pending, 0)
  begin()
  t.strictSame(await answer, { result: '{"ok":1}' })
  await new Promise(setImmediate)
  t.equal(lifetimes.pending, 0)
})

t.test('the size of a result before its cut is noted: it was in memory', async (t) => {
  const sizes: number[] = []
  const serve = build({
    methods: [defineMethod({
      name: 'm',
      params: Type.Object({}),
      open: (_params, { observed }) => ({
        handle () {
          observed.uncutLength = 5000
          return '{}'
        }
      })
    })],
    largeResults: { begin: () => undefined, admit: () => true, note: (_call, size) => { sizes.push(size) } }
  })
  await serve('m')
  t.strictSame(sizes, [5000])
})

t.test('a large result without room is not written', async (t) => {
  let isWritten = false
  const large = new LargeJson(1_000_000, async () => {
    isWritten = true
    return '{}'
  })
  const sizes: number[] = []
  const serve = build({
    methods: [answering(large)],
    largeResults: {
      begin: () => undefined,
      admit (_call, _request, size) {
        sizes.push(size)
        return sizes.length > 1
      },
      note () {}
    }
  })
  t.match(await serve('m'), { error: { code: 503, httpStatus: 500, message: /its answer was dropped/ } })
  t.notOk(isWritten)
  t.strictSame(await serve('m'), { result: '{}' })
  t.strictSame(sizes, [1_000_000, 1_000_000])
})
