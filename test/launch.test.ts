// The first file of the process: it refuses a Node that is too old, in one line.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const LAUNCH = fileURLToPath(new URL('../dist/launch.js', import.meta.url))

/** Runs the program in a Node that calls itself so. */
async function launch (version: string): Promise<{ code: number, stdout: string, stderr: string }> {
  const source = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const args = ['--import', `data:text/javascript,${encodeURIComponent(source)}`, LAUNCH, '--version']
  const env = { PATH: process.env.PATH }
  const run = promisify(execFile)(process.execPath, args, { env })
  return await run.then((ran) => ({ code: 0, ...ran }), (error) => error)
}

t.test('an older Node is refused, with the version that is needed', async (t) => {
  for (const version of ['18.20.8', '20.18.3']) {
    const { code, stdout, stderr } = await launch(version)
    t.strictSame([code, stdout], [1, ''])
    t.match(stderr, new RegExp(`^Trivet needs Node 20\\.19 or later, and this is ${version} \\(.*\\)\\n$`))
  }
})

t.test('this Node, and later ones, run it', async (t) => {
  for (const version of [process.versions.node, '20.19.0', '21.0.0', '30.1.0']) {
    const { code, stdout, stderr } = await launch(version)
    // V8 complains of a flag that it does not know.
    t.strictSame([code, stderr], [0, ''], version)
    t.match(stdout, /^\d+\.\d+\.\d+\n$/)
  }
})
