// The unit of deploy/systemd, against systemd and against the service.

import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { readConfig } from '../../src/ops/config/config.ts'
import { SETTINGS } from '../../src/ops/config/settings.ts'
import { makeFolder } from '../helpers/folder.ts'
import { hasPrograms } from '../servers/programs.ts'

const UNIT = fileURLToPath(new URL('../../deploy/systemd/trivet.service', import.meta.url))
const text = await readFile(UNIT, 'utf8')

/** The values of a directive, in order. */
const valuesOf = (directive: string) =>
  [...text.matchAll(new RegExp(`^${directive}=(.*)$`, 'gm'))].map(([, value = '']) => value)

t.test('its variables are settings, and it waits for the end of the service', (t) => {
  const variables = Object.fromEntries(valuesOf('Environment').map((pair) => pair.split('=')))
  const known = new Set<string>(Object.values(SETTINGS).map(({ variable }) => variable))
  t.strictSame(Object.keys(variables).filter((name) => !known.has(name)), ['NODE_ENV'])
  const { stateUrl, catalog, drainMs, shutdownTimeoutMs } = readConfig(variables)
  t.equal(stateUrl, `file:/var/lib/${valuesOf('StateDirectory').join()}`, 'which it may write')
  t.equal(catalog, '/etc/trivet/catalog')
  const [stopSeconds = ''] = valuesOf('TimeoutStopSec')
  t.ok(Number(stopSeconds) * 1000 >= drainMs + shutdownTimeoutMs + 5000)
  t.strictSame(valuesOf('KillMode'), ['mixed'], 'workers are ended by their parent')
  t.end()
})

t.test('systemd accepts it, and finds it well locked', async (t) => {
  if (!hasPrograms(t, ['systemd-analyze'], 'systemd')) return
  const unit = join(await makeFolder(t), 'trivet.service')
  // systemd looks whether the program is there.
  await writeFile(unit, text.replace(/^ExecStart=.*$/m, `ExecStart=${process.execPath} --version`))
  const analyze = (args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    return { status, printed: stdout + stderr }
  }
  t.strictSame(analyze(['verify', unit]), { status: 0, printed: '' })
  const { status, printed } = analyze(['security', '--offline=yes', '--threshold=20', unit])
  t.equal(status, 0, printed)

  await writeFile(unit, text.replace('Restart=on-failure', 'Restart=perhaps'))
  t.match(analyze(['verify', unit]).printed, 'perhaps', 'and the check can fail')
})
