// A disk of its own for a test: a file system in a file. What is in the file is what a machine that loses its
// power finds again: writes that nobody has flushed are in the memory of the kernel only. And a full disk.

import { execFile, type ChildProcess } from 'node:child_process'
import { copyFile, mkdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { makeFolder } from '../helpers/folder.ts'

const run = promisify(execFile)

export interface SmallDisk {
  /** A folder on the disk. */
  readonly folder: string
  /** Resolves to a folder on the disk that another machine would have after this one lost its power now. */
  losePower (): Promise<string>
}

const BYTES = 64 * 1024 * 1024
/** Long enough that the kernel flushes nothing by itself during a test, in seconds. */
const COMMIT_SECONDS = 300

/** `undefined` where this user may not mount a file: then the test is left out, and the report says so. */
export async function openSmallDisk (t: Test): Promise<SmallDisk | undefined> {
  const folder = await makeFolder(t)
  const image = join(folder, 'image')
  try {
    await writeFile(image, '')
    await truncate(image, BYTES)
    await run('/usr/sbin/mkfs.ext4', ['-q', '-F', '-E', 'lazy_itable_init=0,lazy_journal_init=0', image])
    const disk = await mount(t, image, join(folder, 'disk'))
    await run('sync', ['-f', disk])
    return {
      folder: disk,
      async losePower () {
        const copy = join(folder, 'copy')
        await copyFile(image, copy)
        return await mount(t, copy, join(folder, 'after'))
      }
    }
  } catch (error) {
    const reason = `SKIPPED, and so not verified: a file cannot be mounted (${String(error).split('\n')[0]})`
    console.error(reason)
    t.pass(reason)
    return undefined
  }
}

async function mount (t: Test, image: string, on: string): Promise<string> {
  await mkdir(on)
  await run('mount', ['-o', `loop,commit=${COMMIT_SECONDS}`, image, on])
  t.teardown(async () => await run('umount', ['--lazy', on]))
  return on
}

/** Limits the size of the files that a process may write. A write beyond it fails as on a full disk. */
export async function limitFiles ({ pid }: ChildProcess, bytes: number | 'unlimited'): Promise<void> {
  await run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
}
