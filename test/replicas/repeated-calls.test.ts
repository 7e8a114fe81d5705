// A call with `dedupe` that is repeated at another replica.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { toolModule, writeCatalog } from '../helpers/catalog-folder.ts'
import { makeFolder } from '../helpers/folder.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import { startService } from '../helpers/service.ts'
import { post } from '../helpers/stream.ts'

if (hasRedisServer(t)) {
  t.test('of equal calls at once on three replicas one runs, and all get its answer', async (t) => {
    const redis = await startRedisServer(t)
    const runs = join(await makeFolder(t), 'runs')
    const catalog = await writeCatalog(t, {
      'tools/order.ts': "import { appendFileSync } from 'node:fs'\n" + toolModule(
        'order', 'annotations: { idempotentHint: true }, dedupe: true', `async () => {
          appendFileSync(${JSON.stringify(runs)}, '.')
          await new Promise((resolve) => setTimeout(resolve, 300))
          return crypto.randomUUID()
        }`
      )
    })
    const replicas = await Promise.all([1, 2, 3].map(async () => await startService(t, {
      TRIVET_CATALOG: catalog,
      TRIVET_WATCH: 'off',
      TRIVET_STATE_URL: redis.url,
      TRIVET_SECRETS: 'the secret that all three replicas have'
    })))
    const call = async (index: number): Promise<string> => {
      const { response } = await post(t, replicas[index % 3]?.url ?? '', {
        method: 'tools/call',
        params: { name: 'order' },
        id: index,
        headers: { 'idempotency-key': 'order 4711' }
      })
      t.equal(response.id, index)
      return response.result.content[0].text
    }
    const texts = await Promise.all(Array.from({ length: 30 }, async (_, index) => await call(index)))
    t.equal(new Set(texts).size, 1)
    t.equal(await readFile(runs, 'utf8'), '.')
    await replicas[0]?.stop()
    t.equal(await call(1), texts[0], 'also when the replica that ran it is gone')
  })
}
