// A folder under resources/ is swapped for a link between the check of a path and the opening of its file.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createApp } from '../../../src/app/app.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { within } from '../../helpers/deadline.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { send } from '../../helpers/request.ts'

const SWAPPER = fileURLToPath(new URL('../../helpers/swap-folder.mjs', import.meta.url))
const CANARY = 'a text outside the folder'
const OWN = 'a text inside the folder'
const MAX_READS = 6000
const MAX_MS = 6000

/** Starts another process that swaps the folder. The returned function ends it and resolves to the count. */
async function swap (t: Test, folder: string, link: string, aside: string): Promise<() => Promise<number>> {
  const child = fork(SWAPPER, [folder, link, aside], { execArgv: [] })
  t.teardown(() => child.kill('SIGKILL'))
  await within(once(child, 'message'), 'the first swap')
  return async () => {
    const counted = once(child, 'message')
    child.send('stop')
    const [count] = await within(counted, 'the count')
    return count
  }
}

t.test('no swap of a folder for a link lets a read leave the folder (158)', async (t) => {
  const outside = await writeCatalog(t, { 'deep/a.txt': CANARY })
  const root = await writeCatalog(t, { 'resources/docs/deep/a.txt': OWN })
  await symlink(outside, join(root, 'link'))
  const app = await createApp({ catalog: root, ...QUIET })
  t.teardown(async () => await app.close())
  const stop = await swap(t, join(root, 'resources/docs'), join(root, 'link'), join(root, 'aside'))
  const texts = new Map<string, number>()
  const note = (text: string) => texts.set(text, (texts.get(text) ?? 0) + 1)
  const count = (text: string) => texts.get(text) ?? 0
  const deadline = performance.now() + MAX_MS
  let reads = 0

  async function readOn (uri: string): Promise<void> {
    while (reads < MAX_READS && performance.now() < deadline) {
      reads++
      const { response } = await send(app, { method: 'resources/read', params: { uri } })
      const { result, error } = response
      // Every error but 'Resource not found' is a failure below.
      note(result?.contents[0]?.text ?? error.message.split(':')[0])
    }
  }

  // Several at once: then more time passes between the check and the opening.
  const uris = ['file:///docs/deep/a.txt', 'file:///docs/deep']
  await Promise.all([...uris, ...uris].map(readOn))
  const swaps = await stop()
  const unlucky = 'Resource not found'
  t.comment(`${swaps} swaps, ${reads} reads: ${count(OWN)} found, ${count(unlucky)} not found`)
  t.equal(count(CANARY), 0, 'nothing outside is read')
  t.ok(count(OWN) > 0, 'the own file is read')
  t.ok(count(unlucky) > 0, 'some reads meet a swap')
  t.strictSame([...texts.keys()].sort(), [unlucky, OWN], 'and no other answer is given')
  t.ok(swaps > reads / 10, 'the folder is swapped meanwhile')
})
