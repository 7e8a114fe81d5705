import t from 'tap'
import { MAX_LOOP_DELAY_MS } from '../../../src/features/overload/shedding.ts'
import { MAX_MEMORY_PERCENT } from '../../../src/features/overload/memory-share.ts'
import { CONSTANTS } from '../../../src/ops/config/constants.ts'
import { ROWS } from '../../../src/ops/config/settings.ts'
import { adviceFor, findUnknownVariables, REMOVED } from '../../../src/ops/config/unknown-variables.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { startService } from '../../helpers/service.ts'

t.test('names what a misspelt variable may mean', async (t) => {
  const environment = { TRIVET_X: 'jwt', TRIVET_MAX_BODY_BITES: '1', PATH: '/bin', HOST: '::' }
  const [nothing, bites, ...rest] = findUnknownVariables(environment)
  t.equal(nothing?.variable, 'TRIVET_X')
  t.equal(bites?.variable, 'TRIVET_MAX_BODY_BITES')
  t.equal(bites?.nearest?.[0], 'TRIVET_MAX_BODY_BYTES')
  t.strictSame(rest, [])
})

t.test('settings, the token of commands, and what Kubernetes adds for a Service are known', async (t) => {
  const known = ROWS.map(([, { variable }]) => variable)
  const added = [
    'TRIVET_SERVICE_HOST', 'TRIVET_SERVICE_PORT', 'TRIVET_SERVICE_PORT_MCP', 'TRIVET_PORT',
    'TRIVET_PORT_3000_TCP', 'TRIVET_PORT_3000_TCP_ADDR', 'TRIVET_ADMIN_SERVICE_HOST',
    'TRIVET_ADMIN_PORT_9464_TCP_PROTO'
  ]
  const environment = Object.fromEntries([...known, ...added, 'TRIVET_TOKEN'].map((name) => [name, 'x']))
  t.strictSame(findUnknownVariables(environment), [])
})

t.test('says what to do instead of a variable that was a setting', async (t) => {
  const variables = ROWS.map(([, { variable }]) => variable)
  for (const [variable, advice] of Object.entries(REMOVED)) {
    t.strictSame(findUnknownVariables({ [variable]: '1' }), [{ variable, advice }])
    t.notOk(variables.includes(variable), `${variable} is no setting`)
    for (const name of advice.match(/TRIVET_[A-Z_]+/g) ?? []) t.ok(variables.includes(name), name)
  }
  t.equal(adviceFor('limitCalls'), 'set maxCallsPerCaller')
  t.equal(adviceFor('maxLoopDelayMs'), "the limit is 50 ms; overload: 'off' takes it away")
  t.equal(adviceFor('maxBodyBytes'), undefined)
})

t.test('advice names the values that the constants have', async (t) => {
  t.match(REMOVED, {
    TRIVET_LIMIT_SESSIONS: `${CONSTANTS.maxSessionsPerCaller} sessions`,
    TRIVET_MAX_BODY_DEPTH: `${CONSTANTS.maxBodyDepth} levels`,
    TRIVET_MAX_EMBEDDED_BYTES: `${CONSTANTS.maxEmbeddedBytes / 2 ** 20} MiB`,
    TRIVET_MAX_HEADER_BYTES: `${CONSTANTS.maxHeaderBytes} bytes`,
    TRIVET_MAX_LOOP_DELAY_MS: `${MAX_LOOP_DELAY_MS} ms`,
    TRIVET_MAX_MEMORY_PERCENT: `${MAX_MEMORY_PERCENT} percent`,
    TRIVET_MAX_RESULT_BYTES: `${CONSTANTS.maxResultBytes / 2 ** 20} MiB`,
    TRIVET_TASK_GRACE_MS: `${CONSTANTS.taskGraceMs} ms`
  })
})

t.test('the service warns of one, and starts', async (t) => {
  const catalog = await writeCatalog(t, {})
  const service = await startService(t, { TRIVET_CATALOG: catalog, TRIVET_LOG_LEVLE: 'debug' })
  await until(() => service.stdout().includes('is no setting'), 'the warning')
  const line = service.stdout().split('\n').find((text) => text.includes('is no setting')) ?? '{}'
  t.match(JSON.parse(line), {
    level: 40, variable: 'TRIVET_LOG_LEVLE', nearest: ['TRIVET_LOG_LEVEL', 'TRIVET_LOG_LEVEL_FILE']
  })
})
