// The command line: help, flags and exit codes.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ROWS } from '../../../src/ops/config/settings.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { runProgram } from '../../helpers/program.ts'
import { runService, startService } from '../../helpers/service.ts'

t.test('--help names every command, and each command has help of its own', async (t) => {
  const { out, exitCode } = await runProgram(['--help'])
  t.equal(exitCode, 0)
  const commands = [
    'serve', 'dev', 'check', 'list', 'tasks', 'state', 'token', 'init', 'call', 'diff', 'completion'
  ]
  for (const command of commands) {
    t.match(out, new RegExp(`^  ${command} (?:\\[options\\]|<shell>)`, 'm'))
    const help = await runProgram([command, '--help'])
    t.match(help.out, new RegExp(`^Usage: trivet ${command} `))
    t.equal(help.exitCode, 0)
    // The flags of settings are in groups: there are sixty.
    if (/^(?:serve|dev)$/.test(command)) t.match(help.out, /^Access:\n {2}--auth <value>/m)
  }
  t.match(out, /^Exit codes: 0 for success/m)
})

t.test('--version', async (t) => {
  t.strictSame(await runProgram(['--version']), { out: '1.2.3\n', err: '', exitCode: 0, served: [] })
})

t.test('a command or a flag that does not exist, with the nearest one', async (t) => {
  const cases: ReadonlyArray<readonly [args: readonly string[], err: RegExp]> = [
    [['chekc'], /unknown command 'chekc'\n\(Did you mean check\?\)/],
    [['--prot', '80'], /unknown option '--prot'\n\(Did you mean --port\?\)/],
    [['serve', 'a', 'b'], /too many arguments/],
    [['check', '--ignore', 'everything'], /Allowed choices are .*description, mime-type, scheme, alike, name/s],
  ]
  for (const [args, message] of cases) {
    const { err, exitCode, served } = await runProgram(args)
    t.match(err, message)
    t.strictSame([exitCode, served], [2, []])
  }
})

t.test('each setting that is no secret has a flag, which comes before its variable', async (t) => {
  for (const { variable, isSecret } of ROWS.map(([, setting]) => setting)) {
    const flag = `--${variable.replace('TRIVET_', '').toLowerCase().replaceAll('_', '-')}`
    const { served, exitCode } = await runProgram(['serve', flag, 'x'], { [variable]: 'y', OTHER: 'z' })
    t.strictSame(
      [exitCode, served], isSecret === true ? [2, []] : [0, [{ [variable]: 'x', OTHER: 'z' }]], flag
    )
  }
})

t.test('the folder comes before the flag and the variable', async (t) => {
  const { served } = await runProgram(['serve', 'here', '--port', '80'], { TRIVET_CATALOG: 'there' })
  t.strictSame(served, [{ TRIVET_CATALOG: 'here', PORT: '80' }])
  t.strictSame((await runProgram(['--port', '80'])).served, [{ PORT: '80' }], 'flags alone serve')
})

t.test('the process serves the folder of its argument, and names a flag as it was written', async (t) => {
  const catalog = await writeCatalog(t, { 'server.yaml': 'name: mine\n', 'resources/a.md': '# a' })
  const service = await startService(t, {}, { args: ['serve', catalog] })
  t.match(service.stdout(), /"msg":"mine serves 0 tools/)
  const { code, stderr } = await runService({}, { args: ['serve', catalog, '--max-body-bytes', '1'] })
  t.equal(code, 1)
  t.equal(
    stderr,
    'The settings are not usable:\n  --max-body-bytes must be an integer from 1024 to 104857600, got "1"\n'
  )
})

t.test('what modules write with console is not among the results', async (t) => {
  const catalog = await writeCatalog(t, {
    'resources/r.resource.ts': "console.log('loading')\n" +
    "import { defineResource } from 'trivet'\n" +
    "export default defineResource({ uri: 'a://b', name: 'b', read: () => 'b' })\n"
  })
  const { stdout, stderr } = await runService({}, { args: ['list', catalog, '--json'] })
  t.match(JSON.parse(stdout), { resources: [{ uri: 'a://b' }] })
  t.equal(stderr, 'loading\n')
})

t.test('a command ends although a module of the catalog has a timer', async (t) => {
  const catalog = await writeCatalog(t, {
    'tools/a.ts': "import { defineTool } from 'trivet'\nsetInterval(() => {}, 1000)\n" +
      "export default defineTool({ name: 'a', description: 'A tool.', run: () => 'a' })\n"
  })
  const { code, stdout } = await runService({}, { args: ['list', catalog] })
  t.strictSame([code, stdout], [0, 'Tools\n  a  A tool.\n'])
})

t.test('an error that a module causes and nobody catches is a problem of its catalog', async (t) => {
  const throws = "setImmediate(() => { throw new Error('much later') })\n"
  const catalog = await writeCatalog(t, { 'tools/a.ts': throws })
  const { code, stdout, stderr } = await runService({}, { args: ['check', catalog] })
  t.match(stdout, /much later/)
  t.strictSame([code, stderr], [1, ''])
})

t.test('a reader that closes the output early is no error', async (t) => {
  const files = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`resources/${index}.md`, '#']))
  const line = '"$0" dist/main.js list "$1" --json | head -c 10'
  const child = spawn('bash', ['-c', line, process.execPath, await writeCatalog(t, files)], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)), stdio: ['ignore', 'pipe', 'pipe']
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => { printed += String(text) })
  await once(child, 'close')
  t.equal(printed, '{\n  "tools"'.slice(0, 10))
})
