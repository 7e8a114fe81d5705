// A copy of the project. A test may change its source, compile it and run it.

import { execFile } from 'node:child_process'
import { copyFile, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { AppOptions } from '../../src/app/app.ts'
import { writeCatalog, type Files } from './catalog-folder.ts'
import { makeFolder } from './folder.ts'
import { QUIET } from './quiet-options.ts'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

export class ProjectCopy {
  readonly folder: string

  constructor (folder: string) {
    this.folder = folder
  }

  /** Adds the files of a folder to src/. Rejects if one of them exists already. */
  async add (folder: string): Promise<void> {
    await cp(folder, join(this.folder, 'src'), { recursive: true, force: false, errorOnExist: true })
  }

  /** Removes the matching lines from a file below src/, and returns them. */
  async takeOut (path: string, pattern: RegExp): Promise<string[]> {
    const lines = await this.#readLines(path)
    await this.#writeLines(path, lines.filter((line) => !pattern.test(line)))
    return lines.filter((line) => pattern.test(line))
  }

  /** Adds a line to a file below src/, after the one line that matches. */
  async insert (path: string, after: RegExp, line: string): Promise<void> {
    const lines = await this.#readLines(path)
    const [at, ...others] = lines.flatMap((one, index) => after.test(one) ? [index] : [])
    if (at === undefined || others.length > 0) {
      throw new Error(`${path} has ${others.length} other lines like ${after}`)
    }
    await this.#writeLines(path, lines.toSpliced(at + 1, 0, line))
  }

  /** Compiles each file for itself. Resolves to the compiler's report, which has nothing but errors. */
  async build (): Promise<string> {
    const compiler = join(this.folder, 'node_modules', 'typescript7', 'bin', 'tsc')
    const compiling = promisify(execFile)(process.execPath, [
      compiler, '-p', 'tsconfig.build.json', '--emitDeclarationOnly', 'false'
    ], { cwd: this.folder })
    return await compiling.then(({ stdout }) => stdout, ({ stdout }) => String(stdout))
  }

  /** Adds a test to test/NAME/, runs it, and resolves to its report. */
  async runTest (file: string, name: string): Promise<string> {
    for (const path of ['test/contracts', 'test/helpers', 'test/runner', 'test/servers']) {
      await cp(join(PROJECT, path), join(this.folder, path), { recursive: true })
    }
    const test = join('test', name, 'added.test.ts')
    await mkdir(dirname(join(this.folder, test)))
    await copyFile(file, join(this.folder, test))
    const running = promisify(execFile)(process.execPath, ['--import=./test/runner/register.mjs', test], {
      cwd: this.folder
    })
    return await running.then(({ stdout }) => stdout, ({ stdout }) => String(stdout))
  }

  /** The URL of a compiled file, by the path of its source. */
  urlOf (path: string): string {
    return pathToFileURL(join(this.folder, 'dist', path.replace(/\.ts$/, '.js'))).href
  }

  /** Builds an app from the compiled copy, and closes it when the test ends. */
  async start (t: Test, files: Files, options: AppOptions = {}): Promise<FastifyInstance> {
    const { createApp } = await import(this.urlOf('app/app.ts')) as {
      createApp (options: AppOptions): Promise<FastifyInstance>
    }
    const catalog = await writeCatalog(t, files)
    const app = await createApp({ catalog, ...QUIET, ...options })
    t.teardown(async () => await app.close())
    return app
  }

  async #readLines (path: string): Promise<string[]> {
    return (await readFile(join(this.folder, 'src', path), 'utf8')).split('\n')
  }

  async #writeLines (path: string, lines: readonly string[]): Promise<void> {
    await writeFile(join(this.folder, 'src', path), lines.join('\n'))
  }
}

/** Makes a copy, and removes it when the test ends. */
export async function copyProject (t: Test): Promise<ProjectCopy> {
  const folder = await makeFolder(t)
  for (const path of ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json']) {
    await cp(join(PROJECT, path), join(folder, path), { recursive: true })
  }
  await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  return new ProjectCopy(folder)
}
