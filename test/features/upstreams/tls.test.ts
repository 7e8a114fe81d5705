// Upstreams over TLS and IPv6, from the built service: which certificates count, and what a refused one says.

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { hasOpenssl, makeCertificate } from '../../helpers/certificates.ts'
import { until } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { startService } from '../../helpers/service.ts'
import { post } from '../../helpers/stream.ts'
import { crmModule } from './upstream-server.ts'

const CALL = `import { defineTool } from 'trivet'
import { crm } from '../lib/crm.ts'
export default defineTool({
  name: 'call', run: async (_, ctx) => await (await ctx.fetch(crm, 'who')).text()
})`

const hasIPv6 = Object.values(networkInterfaces()).flat().some((one) => one?.address === '::1')

async function serveTls (t: Test, folder: string, name: string, host: string): Promise<number> {
  const [key, cert] = await Promise.all(['key', 'crt'].map(
    async (ending) => await readFile(join(folder, `${name}.${ending}`))
  ))
  const server = createServer({ key: key ?? '', cert: cert ?? '' }, (_, response) => response.end('over TLS'))
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

t.test('a certificate counts if its name is right and somebody trusted has signed it', async (t) => {
  if (!hasOpenssl(t)) return
  const folder = await makeFolder(t)
  const names = 'DNS:localhost,IP:0:0:0:0:0:0:0:1'
  await makeCertificate(folder, 'own', 'localhost', names)
  await makeCertificate(folder, 'other', 'localhost', names)
  const cases = [
    ['own', '127.0.0.1', 'localhost', undefined],
    ['own', '127.0.0.1', '127.0.0.1', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['other', '127.0.0.1', 'localhost', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ...hasIPv6 ? [['own', '::1', '[::1]', undefined]] as const : []
  ] as const
  for (const [name, host, named, code] of cases) {
    const port = await serveTls(t, folder, name, host)
    const catalog = await writeCatalog(t, {
      'lib/crm.ts': crmModule(`https://${named}:${port}/api`, 'retry: false'), 'tools/call.ts': CALL
    })
    const environment = { TRIVET_CATALOG: catalog, NODE_EXTRA_CA_CERTS: join(folder, 'own.crt') }
    const { url, stdout } = await startService(t, environment)
    const { response } = await post(t, url, { method: 'tools/call', params: { name: 'call' } })
    const [{ text }] = response.result.content
    if (code === undefined) t.equal(text, 'over TLS', `${name} ${named}`)
    else {
      t.match(text, /^The service crm could not be reached/, `${name} ${named}`)
      t.notMatch(text, /certificate|localhost|127/, 'a caller learns no cause')
      await until(() => stdout().includes(`"code":"${code}"`), 'the cause in the log')
    }
  }
})

t.test('no setting of a definition turns the check off', async (t) => {
  if (!hasOpenssl(t)) return
  const folder = await makeFolder(t)
  await makeCertificate(folder, 'own', 'localhost', 'DNS:localhost')
  const port = await serveTls(t, folder, 'own', '127.0.0.1')
  const catalog = await writeCatalog(t, {
    'lib/crm.ts': crmModule(`https://localhost:${port}/api`, 'retry: false, rejectUnauthorized: false'),
    'tools/call.ts': CALL
  })
  await t.rejects(async () => await startService(t, { TRIVET_CATALOG: catalog }), /rejectUnauthorized/)
})
