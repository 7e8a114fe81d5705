import t from 'tap'
import { buildApp } from '../helpers/app.ts'

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
