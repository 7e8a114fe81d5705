// Types the commands of a contender in an empty folder, until a tool is tested and served.

import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../servers/free-port.mjs'
import { start, stopProcess, untilStarted } from '../servers/processes.mjs'
import { workspacePath } from '../workspace.mjs'
import { pointToPackage, run } from './install.mjs'
import { untilAnswering } from './served-shop.mjs'

/** Rejects with the first command that fails. */
export async function takeSteps ({ folder, commands, byHand }, tarball) {
  const empty = workspacePath('empty')
  await mkdir(empty)
  for (const command of commands.slice(0, -1)) {
    // npm may not have this version of Trivet.
    const typed = command.replace('npx trivet', `npx --yes --package=${tarball} trivet`)
    await run('sh', ['-c', typed], empty)
    if (byHand.length > 0) await writeByHand(folder, byHand, empty)
    if (command.startsWith('npx trivet')) await pointToPackage(empty, tarball)
  }
  await serve(commands.at(-1), empty)
}

async function writeByHand (folder, files, empty) {
  const source = fileURLToPath(new URL(folder, import.meta.url))
  await mkdir(join(empty, 'resources'), { recursive: true })
  for (const file of [...files, 'resources/returns.md']) await copyFile(join(source, file), join(empty, file))
}

async function serve (command, cwd) {
  const port = String(await findFreePort())
  // exec: the shell gives its process to the command, so that the end reaches it.
  const child = start('sh', ['-c', `exec ${command}`], {
    cwd, env: { PORT: port }, stdio: ['ignore', 'ignore', 'inherit']
  })
  await untilStarted(child, command, (signal) => untilAnswering(`http://127.0.0.1:${port}/mcp`, signal))
  await stopProcess(child)
}
