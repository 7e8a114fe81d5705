// The log of a request, which hooks and handlers of an embedding program use.

import t from 'tap'
import { createFastify } from '../../../src/edges/http/fastify.ts'
import { createReadableLog } from '../../helpers/log.ts'

const SAID = ['trace', 'debug text', 'info', 'warn', 'error', 'fatal', 'of a part']

t.test('gives each line its request\'s id, at every level', async (t) => {
  const { logger, lines } = createReadableLog('trace')
  const app = createFastify(logger, { isOwnLog: true })
  app.get('/', (request) => {
    request.log.trace('trace')
    request.log.debug({ a: 1 }, 'debug %s', 'text')
    request.log.info('info')
    request.log.warn({ err: new Error('why') }, 'warn')
    request.log.error('error')
    request.log.fatal('fatal')
    request.log.silent('silent')
    request.log.child({ part: 'b' }).info('of a part')
    return request.id
  })
  const ids = [(await app.inject('/')).payload, (await app.inject('/')).payload]
  t.not(ids[0], ids[1])
  t.strictSame(lines.map(({ msg }) => msg), [...SAID, ...SAID])
  for (const [index, line] of lines.entries()) t.equal(line.reqId, ids[index < SAID.length ? 0 : 1])
  t.match(lines[1], { level: 20, a: 1 })
  t.match(lines[3], { level: 40, err: { message: 'why' } })
  t.equal(lines.at(-1)?.part, 'b')
})

t.test('has the level of the service until its own level is set', async (t) => {
  const { logger, lines } = createReadableLog('warn')
  const app = createFastify(logger, { isOwnLog: true })
  app.get('/', (request) => {
    const before = request.log.level
    request.log.info('kept back')
    request.log.level = 'debug'
    request.log.debug('said')
    return [before, request.log.level]
  })
  t.strictSame((await app.inject('/')).json(), ['warn', 'debug'])
  t.equal(logger.level, 'warn')
  t.strictSame(lines.map(({ msg }) => msg), ['said'])
})

t.test('has the level and the serializers of its route', async (t) => {
  const { logger, lines } = createReadableLog('warn')
  const app = createFastify(logger, { isOwnLog: true })
  app.get('/', { logLevel: 'debug', logSerializers: { secret: () => 'hidden' } }, (request) => {
    request.log.debug({ secret: 'hunter2' }, 'said')
    return request.log.level
  })
  t.equal((await app.inject('/')).payload, 'debug')
  t.match(lines, [{ msg: 'said', secret: 'hidden' }])
})

t.test('has the methods of a pino logger', async (t) => {
  const { logger } = createReadableLog('warn')
  const app = createFastify(logger, { isOwnLog: true })
  app.get('/', ({ log }) => {
    if (!('isLevelEnabled' in log && typeof log.isLevelEnabled === 'function')) return 'not pino'
    return [log.isLevelEnabled('warn'), log.isLevelEnabled('info')]
  })
  t.strictSame((await app.inject('/')).json(), [true, false])
})

t.test('may be changed, and be the prototype of another log', async (t) => {
  const { logger, lines } = createReadableLog('warn')
  const app = createFastify(logger, { isOwnLog: true })
  app.get('/', ({ log, id }) => {
    const warn = log.warn.bind(log)
    log.warn = (...args: unknown[]) => warn(`changed: ${String(args[0])}`)
    log.warn('one')
    const derived: typeof log = Object.create(log)
    derived.error('two')
    new Proxy(log, {}).error('three')
    return [id, derived.level]
  })
  const [id, level] = (await app.inject('/')).json()
  t.equal(level, 'warn')
  t.match(lines, [
    { msg: 'changed: one', reqId: id }, { msg: 'two', reqId: id }, { msg: 'three', reqId: id }
  ])
})

t.test('is what a logger of one\'s own makes', async (t) => {
  const lines: string[] = []
  const write = (text: unknown) => { lines.push(String(text)) }
  const logger = Object.freeze({
    level: 'info',
    silent () {},
    fatal: write,
    error: write,
    warn: write,
    info: write,
    debug: write,
    trace: write,
    audit: write,
    child: () => logger
  })
  const app = createFastify(logger)
  app.get('/', ({ log }) => {
    const { info } = log
    info('said')
    return [log === logger, Object.keys(log).includes('audit')]
  })
  t.strictSame((await app.inject('/')).json(), [true, true])
  t.strictSame(lines, ['said'])
})

t.test('refuses headers beyond the limit with 431', async (t) => {
  const app = createFastify(createReadableLog('warn').logger, { maxHeaderBytes: 2000 })
  app.get('/', () => 'ok')
  t.teardown(async () => await app.close())
  const url = await app.listen({ port: 0 })
  const statusOf = async (length: number) => (await fetch(url, { headers: { a: 'x'.repeat(length) } })).status
  t.equal(await statusOf(1000), 200)
  t.equal(await statusOf(2500), 431)
})
