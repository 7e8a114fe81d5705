// The file of the audit log: it is private, can be moved away, and keeps what it cannot write for later.

import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openAuditFile } from '../../../src/features/audit/audit-log.ts'
import { buildApp } from '../../helpers/app.ts'
import { until, within } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'

const IGNORE = { onError () {}, onDropped () {} }

t.test('appends lines to a file that only its owner can read', async (t) => {
  const path = join(await makeFolder(t), 'audit.jsonl')
  for (const number of [1, 2]) {
    const file = openAuditFile(path, IGNORE)
    file.write(`"number":${number}`)
    await file.close()
  }
  const lines = (await readFile(path, 'utf8')).trim().split('\n').map((line) => JSON.parse(line))
  t.match(lines, [{ number: 1 }, { number: 2 }])
  t.match(lines[0].time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.equal((await stat(path)).mode & 0o777, 0o600)
})

t.test('writes soon, and to a new file once the old one was moved away', async (t) => {
  const path = join(await makeFolder(t), 'audit.jsonl')
  const file = openAuditFile(path, IGNORE)
  const holds = async (name: string, text: string) => {
    return (await readFile(name, 'utf8').catch(() => '')).includes(text)
  }
  file.write('"number":1')
  await until(async () => await holds(path, '"number":1'), 'the first line')
  await rename(path, `${path}.1`)
  file.write('"number":2')
  file.reopen()
  file.write('"number":3')
  await file.close()
  t.notOk(await holds(`${path}.1`, '"number":3'))
  t.ok(await holds(path, '"number":3'))
  t.ok(await holds(`${path}.1`, '"number":2') || await holds(path, '"number":2'), 'no line is lost')
})

t.test('says what it could not write', async (t) => {
  const errors: unknown[] = []
  const file = openAuditFile('/dev/full', {
    onError (error) { errors.push(error) }, onDropped () {}, maxWaitingLength: 100_000
  })
  file.write('"number":1')
  await until(() => errors.length > 0, 'an error')
  t.match(errors[0], { code: 'ENOSPC' })
  file.write('"number":2')
  await file.close()
})

t.test('a pipe needs a reader, and one that stalls does not delay the close', async (t) => {
  const path = join(await makeFolder(t), 'audit.pipe')
  execFileSync('mkfifo', [path])
  await t.rejects(buildApp(t, {}, { auditFile: path }), {
    name: 'ConfigError',
    problems: [new RegExp(`^TRIVET_AUDIT_FILE: ${path} cannot be written: nobody reads this pipe`)]
  })
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  t.teardown(() => { closeSync(reader) })
  let dropped = 0
  const file = openAuditFile(path, { onError () {}, onDropped (lines) { dropped += lines } })
  for (let i = 0; i < 50; i++) file.write(`"text":"${'x'.repeat(10_000)}"`)
  await within(file.close(), 'the close', 3000)
  // A write may end after the close, on a busy machine.
  await until(() => dropped >= 40, 'the lines of a write that has not ended')
  t.ok(dropped >= 40 && dropped < 50, `${dropped} lines are reported as lost`)
})

t.test('a file that cannot be opened is a problem of the settings', async (t) => {
  const auditFile = join(await makeFolder(t), 'missing', 'audit.jsonl')
  await t.rejects(buildApp(t, {}, { auditFile }), {
    name: 'ConfigError',
    problems: [new RegExp(`^TRIVET_AUDIT_FILE: ${auditFile} cannot be written: ENOENT`)]
  })
})
