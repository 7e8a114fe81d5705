// The secret that is kept beside the database.

import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createApp } from '../../../../../src/app/app.ts'
import { readKeptSecret } from '../../../../../src/platform/store/backends/lmdb/secret.ts'
import { listen } from '../../../../helpers/app.ts'
import { writeCatalog } from '../../../../helpers/catalog-folder.ts'
import { makeFolder } from '../../../../helpers/folder.ts'
import { createReadableLog } from '../../../../helpers/log.ts'
import { openSession } from '../../../../helpers/session.ts'

t.test('is created once, and only its user may read it', async (t) => {
  const folder = await makeFolder(t)
  const { secret, file } = readKeptSecret(folder, 'trivet')
  t.ok(secret.length >= 32)
  t.equal(file, join(folder, 'trivet.secret'))
  t.equal((await stat(file)).mode & 0o777, 0o600)
  t.equal((await readFile(file, 'utf8')).trim(), secret)
  t.strictSame(readKeptSecret(folder, 'trivet'), { secret, file })
  t.not(readKeptSecret(folder, 'shop').secret, secret, 'each prefix has its own')
  t.strictSame((await readdir(folder)).toSorted(), ['shop.secret', 'trivet.secret'])
})

t.test('a file without a secret is refused with advice', async (t) => {
  const folder = await makeFolder(t)
  await writeFile(join(folder, 'trivet.secret'), 'short')
  t.throws(() => readKeptSecret(folder, 'trivet'), { message: /trivet\.secret must have 32 .* Remove it/ })
  await chmod(join(folder, 'trivet.secret'), 0o600)
  const stateUrl = `file:${folder}`
  const options = { catalog: await writeCatalog(t, {}), stateUrl, watch: 'off', logLevel: 'silent' } as const
  await t.rejects(createApp(options), { name: 'ConfigError', message: /trivet\.secret must have 32/ })
})

t.test('without TRIVET_SECRETS a session outlives a restart on the same folder', async (t) => {
  const [folder, catalog] = [await makeFolder(t), await writeCatalog(t, {})]
  const { logger, lines } = createReadableLog()
  const start = async (secrets: readonly string[] = []) => {
    const app = await createApp({ catalog, watch: 'off', stateUrl: `file:${folder}`, logger, secrets })
    t.teardown(async () => await app.close())
    return { app, url: await listen(app) }
  }
  const { app, url } = await start()
  const session = await openSession(t, url)
  t.equal((await session.request('ping')).status, 200)
  await app.close()
  const next = await start()
  t.equal((await session.with({ url: next.url }).request('ping')).status, 200)
  t.match(lines.filter(({ file }) => file !== undefined), [{ file: join(folder, 'trivet.secret'), msg: /^TRIVET_SECRETS is not set/ }])
  await next.app.close()
  const own = await start(['a secret of this service, long enough'])
  t.equal((await session.with({ url: own.url }).request('ping')).status, 404, 'own secrets take its place')
})
