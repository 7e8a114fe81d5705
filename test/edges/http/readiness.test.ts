import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { until } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'

t.test('/livez and /readyz answer GET and HEAD', async (t) => {
  const app = await buildApp(t, {})
  for (const url of ['/livez', '/readyz']) {
    const got = await app.inject({ method: 'GET', url })
    t.strictSame([got.statusCode, got.json()], [200, { status: 'ok' }], url)
    const head = await app.inject({ method: 'HEAD', url })
    t.strictSame([head.statusCode, head.body], [200, ''], url)
    t.equal((await app.inject({ method: 'POST', url })).statusCode, 404, url)
  }
})

t.test('a replica without its file of static tokens is not ready', async (t) => {
  const authTokens = join(await makeFolder(t), 'tokens.yaml')
  await writeFile(authTokens, '')
  const app = await buildApp(t, {}, { auth: ['tokens'], authTokens })
  await t.rejects(buildApp(t, {}, { auth: ['tokens'], authTokens: `${authTokens}.none` }), {
    name: 'ConfigError', message: /TRIVET_AUTH_TOKENS names a file that cannot be used: ENOENT/
  })
  const isReady = async () => (await app.inject('/readyz')).statusCode === 200
  t.ok(await isReady())
  await rm(authTokens)
  await until(async () => !await isReady(), 'the end of readiness')
  await writeFile(authTokens, '')
  await until(isReady, 'readiness')
})
