// A replica whose store takes no writes is not ready and says why, it lives on, and its alert fires.

import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import { adminOriginOf, linesOf } from '../helpers/admin.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { until, within } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import { startService } from '../helpers/service.ts'
import { hasPostgresServer, startPostgresServer } from '../servers/postgres-server.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { hasPrograms } from '../servers/programs.ts'
import { hasRedisServer, startRedisCluster, startRedisServer } from '../servers/redis-server.ts'
import { limitFiles } from '../servers/small-disk.ts'

/** A way in which a store takes no writes. */
interface Way {
  readonly name: string
  readonly reason: RegExp
  begin (): unknown
  end (): unknown
}

interface Report { readonly parts: ReadonlyArray<{ readonly name: string, readonly reason?: string }> }

interface Asked { readonly status: number, readonly reason: string | undefined }

/** The least time that operators give to a probe, in milliseconds: deploy/kubernetes gives it. */
const PROBE_MS = 3000
const ALERTS = fileURLToPath(new URL('../../deploy/prometheus/alerts.yaml', import.meta.url))

async function startReplica (t: Test, stateUrl: string) {
  const service = await startService(t, {
    TRIVET_CATALOG: await writeCatalog(t, {}),
    TRIVET_ADMIN_PORT: '0',
    TRIVET_STATE_URL: stateUrl,
    TRIVET_SECRETS: 's'.repeat(32)
  })
  const admin = await adminOriginOf(service)
  const readStatus = async (path: string) => (
    await within(fetch(new URL(path, service.url)), path, PROBE_MS)
  ).status
  return {
    service,
    isAlive: async () => await readStatus('/livez') === 200,
    async ask (): Promise<Asked> {
      const response = await within(fetch(`${admin}/readyz`), 'the reason', PROBE_MS)
      const report = await response.json() as Report
      const { reason } = report.parts.find(({ name }) => name === 'state store') ?? {}
      return { status: await readStatus('/readyz'), reason }
    },
    async scrape (): Promise<string> {
      const [line] = linesOf(await (await fetch(`${admin}/metrics`)).text(), 'trivet_state_store_ready')
      return line?.split(' ')[1] ?? 'absent'
    }
  }
}

/** Every minute of the alert's time has one of the values. */
async function doesFire (t: Test, values: readonly string[]): Promise<boolean> {
  const file = join(await makeFolder(t), 'alert.yaml')
  const labels = { job: 'trivet', instance: 'a' }
  await writeFile(file, stringify({
    rule_files: [ALERTS],
    evaluation_interval: '1m',
    tests: [{
      interval: '1m',
      input_series: [{
        series: 'trivet_state_store_ready{job="trivet",instance="a"}', values: values.join(' ')
      }],
      promql_expr_test: [{
        expr: 'ALERTS{alertname="TrivetStoreNotReady",alertstate="firing"}',
        eval_time: `${values.length - 1}m`,
        exp_samples: [{
          labels: 'ALERTS{' + Object.entries({
            ...labels, alertname: 'TrivetStoreNotReady', alertstate: 'firing', severity: 'critical'
          }).map(([name, value]) => `${name}="${value}"`).join(',') + '}',
          value: 1
        }]
      }]
    }]
  }))
  return spawnSync('promtool', ['test', 'rules', file]).status === 0
}

async function checkWays (t: Test, stateUrl: string, ways: readonly Way[]): Promise<void> {
  const hasPromtool = hasPrograms(t, ['promtool'], 'prometheus')
  const replica = await startReplica(t, stateUrl)
  for (const { name, reason, begin, end } of ways) {
    const values = [await replica.scrape()]
    await begin()
    let asked: Asked | undefined
    await until(async () => {
      asked = await replica.ask()
      return asked.status === 503
    }, `the end of readiness: ${name}`, 15_000)
    t.match((await replica.ask()).reason, reason, name)
    t.ok(await replica.isAlive(), `${name}: a restart would not help`)
    for (let minute = 1; minute <= 3; minute++) values.push(await replica.scrape())
    t.strictSame(values, ['1', '0', '0', '0'], name)
    if (hasPromtool) t.ok(await doesFire(t, values), `${name}: the alert fires`)
    await end()
    await until(async () => (await replica.ask()).status === 200, `readiness after ${name}`, 20_000)
  }
  const well = ['1', '1', '1', await replica.scrape()]
  if (hasPromtool) t.notOk(await doesFire(t, well), 'and not without cause')
  t.match(replica.service.stdout(), 'not ready: the state store takes no writes', 'the log has it too')
}

if (hasRedisServer(t)) {
  t.test('a Redis that takes no writes ends readiness, and not the replica', {
    timeout: 180_000
  }, async (t) => {
    const { url, cli, freeze, thaw } = await startRedisServer(t)
    const set = async (name: string, value: string) => await cli('config', 'set', name, value)
    await checkWays(t, url, [
      {
        name: 'maxmemory',
        reason: /OOM command not allowed/,
        begin: async () => await set('maxmemory', '1'),
        end: async () => await set('maxmemory', '0')
      },
      {
        name: 'a replica',
        reason: /READONLY/,
        begin: async () => await cli('replicaof', '127.0.0.1', String(await findFreePort())),
        end: async () => await cli('replicaof', 'no', 'one')
      },
      {
        name: 'too few replicas',
        reason: /NOREPLICAS/,
        begin: async () => await set('min-replicas-to-write', '1'),
        end: async () => await set('min-replicas-to-write', '0')
      },
      {
        name: 'a right that was revoked',
        reason: /(?:NOPERM|can't run this command|no permissions)/i,
        begin: async () => await cli('acl', 'setuser', 'default', '-hset'),
        end: async () => await cli('acl', 'setuser', 'default', '+@all')
      },
      { name: 'a server that hangs', reason: /./, begin: freeze, end: thaw }
    ])
  })

  t.test('one master of a cluster that takes no writes ends readiness', { timeout: 120_000 }, async (t) => {
    const { url, nodes } = await startRedisCluster(t)
    await checkWays(t, url, nodes.map((node, index) => ({
      name: `master ${index}`,
      reason: /OOM command not allowed/,
      begin: async () => await node.cli('config', 'set', 'maxmemory', '1'),
      end: async () => await node.cli('config', 'set', 'maxmemory', '0')
    })))
  })
}

if (hasPostgresServer(t)) {
  t.test('a PostgreSQL that takes no writes ends readiness, and not the replica', {
    timeout: 180_000
  }, async (t) => {
    const { port, sql, freeze, thaw } = await startPostgresServer(t)
    await sql('CREATE ROLE service LOGIN')
    await sql('GRANT CREATE ON DATABASE postgres TO service')
    const set = async (name: string, value: string) => {
      await sql(`ALTER SYSTEM SET ${name} = '${value}'`)
      await sql('SELECT pg_reload_conf()')
    }
    const change = (name: string, reason: RegExp, begin: string, end: string): Way => ({
      name, reason, begin: async () => await sql(begin), end: async () => await sql(end)
    })
    const revoke = (right: string, table: string) => change(
      `${right} on ${table} was revoked`, new RegExp(`lacks rights \\(${right} on "trivet"\\.${table}\\)`),
      `REVOKE ${right} ON trivet.${table} FROM service`, `GRANT ${right} ON trivet.${table} TO service`
    )
    await checkWays(t, `postgres://service@127.0.0.1:${port}/postgres`, [
      {
        name: 'a standby that is gone',
        reason: /the standby did not confirm|did not answer/,
        begin: async () => await set('synchronous_standby_names', 'gone'),
        end: async () => await set('synchronous_standby_names', '')
      },
      {
        name: 'read-only',
        reason: /read-only/,
        begin: async () => await set('default_transaction_read_only', 'on'),
        // ALTER SYSTEM is no write.
        end: async () => await set('default_transaction_read_only', 'off')
      },
      revoke('INSERT', 'records'),
      revoke('UPDATE', 'records'),
      revoke('DELETE', 'due_times'),
      change(
        'a dropped schema', /"?trivet"?.* does not exist/,
        'ALTER SCHEMA trivet RENAME TO elsewhere', 'ALTER SCHEMA elsewhere RENAME TO trivet'
      ),
      change(
        'a dropped function', /function .* does not exist/,
        'ALTER FUNCTION trivet.create_records_1 RENAME TO elsewhere',
        'ALTER FUNCTION trivet.elsewhere RENAME TO create_records_1'
      ),
      { name: 'a server that hangs', reason: /./, begin: freeze, end: thaw }
    ])
  })
}

t.test('a full disk ends readiness, and not the replica', { timeout: 60_000 }, async (t) => {
  const replica = await startReplica(t, `file:${await makeFolder(t)}`)
  t.equal((await replica.ask()).status, 200)
  await limitFiles(replica.service.child, 4096)
  await until(async () => (await replica.ask()).status === 503, 'the end of readiness')
  t.ok(await replica.isAlive())
  await limitFiles(replica.service.child, 'unlimited')
  await until(async () => (await replica.ask()).status === 200, 'readiness')
})
