// A copy of the project. A test may change its source, compile it and run it.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { AppOptions } from '../../src/app/app.ts'
import { writeCatalog, type Files } from './catalog-folder.ts'
import { makeFolder } from './folder.ts'
import { QUIET } from './quiet-options.ts'
import type { Removal } from './removals.ts'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

/** What else tests of the project read or import. */
const READ_BY_TESTS = ['bench', 'build', 'catalog', 'deploy', 'docs', 'examples', 'package-lock.json']

/** What a build of a state leaves. */
const BUILT = ['dist', 'build-info']
const INCREMENTAL = ['--declaration', 'false', '--incremental', '--tsBuildInfoFile', 'build-info']

/** Costs a fraction of the CPU time of Node's own copying. */
async function copyFolder (from: string, target: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, target])
}

export class ProjectCopy {
  readonly folder: string
  /** The folder of the compiled files. */
  #dist = 'dist'

  constructor (folder: string) {
    this.folder = folder
  }

  /** Makes another copy with the same files, and removes it when the test ends. */
  async duplicate (t: Test): Promise<ProjectCopy> {
    const folder = await makeFolder(t)
    await copyFolder(`${this.folder}/.`, folder)
    return new ProjectCopy(folder)
  }

  /** Adds the files of a folder to src/. Rejects if one of them exists already. */
  async add (folder: string): Promise<void> {
    await cp(folder, join(this.folder, 'src'), { recursive: true, force: false, errorOnExist: true })
  }

  /**
   * Deletes the paths from src/ as it is in the project, and cuts what matches. Resolves to the number of
   * lines that each file lost or has changed. Rejects if a pattern matches nothing.
   */
  async remove ({ paths, cuts }: Removal): Promise<ReadonlyMap<string, number>> {
    await rm(join(this.folder, 'src'), { recursive: true })
    await copyFolder(join(PROJECT, 'src'), join(this.folder, 'src'))
    for (const path of paths) await rm(join(this.folder, 'src', path), { recursive: true })
    return new Map(await Promise.all(Object.entries(cuts).map(async ([file, patterns]) => {
      const path = join(this.folder, 'src', file)
      let [text, lines] = [await readFile(path, 'utf8'), 0]
      for (const pattern of patterns) {
        const cut = text.replace(pattern, (match) => {
          lines += match.match(/\n/g)?.length ?? 1
          return ''
        })
        if (cut === text) throw new Error(`${file} has nothing like ${pattern}`)
        text = cut
      }
      await writeFile(path, text)
      return [file, lines] as const
    })))
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

  /**
   * Compiles each file for itself. Resolves to the compiler's report, which has nothing but errors. Several
   * threads would check types of the others again: a quarter more CPU time.
   */
  async build (...flags: readonly string[]): Promise<string> {
    const compiler = join(this.folder, 'node_modules', 'typescript7', 'bin', 'tsc')
    const compiling = promisify(execFile)(process.execPath, [
      compiler, '-p', 'tsconfig.build.json', '--emitDeclarationOnly', 'false', '--singleThreaded', ...flags
    ], { cwd: this.folder })
    return await compiling.then(({ stdout }) => stdout, ({ stdout }) => String(stdout))
  }

  /** Compiles the copy as it is. What is compiled later begins with this state. */
  async buildWhole (): Promise<string> {
    const report = await this.build(...INCREMENTAL)
    for (const path of BUILT) await rename(join(this.folder, path), join(this.folder, `whole-${path}`))
    return report
  }

  /**
   * Compiles what differs from the whole state, and the files that import it.
   * @param name of this state of the sources: each state is imported from a folder of its own.
   */
  async buildChanges (name: string, { paths }: Removal): Promise<string> {
    for (const path of BUILT) await copyFolder(join(this.folder, `whole-${path}`), join(this.folder, path))
    const report = await this.build(...INCREMENTAL)
    this.#dist = `dist-${name}`
    const dist = join(this.folder, this.#dist)
    await rename(join(this.folder, 'dist'), dist)
    for (const path of paths) {
      await rm(join(dist, path.replace(/\.ts$/, '.js')), { recursive: true, force: true })
    }
    return report
  }

  /** Bundles src/ as a build does. Rejects if the build would. */
  async bundle (): Promise<void> {
    const script = join(PROJECT, 'test/helpers/bundle-copy.mjs')
    await promisify(execFile)(process.execPath, [script], { cwd: this.folder })
  }

  /** Adds a test to test/NAME/, runs it, and resolves to its report. */
  async runTest (file: string, name: string): Promise<string> {
    await this.#addTests()
    const test = join('test', name, 'added.test.ts')
    await mkdir(dirname(join(this.folder, test)))
    await copyFile(file, join(this.folder, test))
    return await this.#runNode(test)
  }

  /**
   * Runs test files of the project against src/ of the copy, in one process. Resolves to their report.
   * @param cuts what tests say of that which was deleted, by the file below the project.
   */
  async runTests (files: readonly string[], cuts: { readonly [file: string]: RegExp }): Promise<string> {
    await this.#addTests()
    for (const [file, pattern] of Object.entries(cuts)) {
      const text = await readFile(join(PROJECT, file), 'utf8')
      await writeFile(join(this.folder, file), text.replace(pattern, ''))
    }
    const report = await this.#runNode('test/runner/group.mjs', ...files)
    for (const file of Object.keys(cuts)) await copyFile(join(PROJECT, file), join(this.folder, file))
    return report
  }

  async #addTests (): Promise<void> {
    if (existsSync(join(this.folder, 'test'))) return
    await copyFolder(join(PROJECT, 'test'), join(this.folder, 'test'))
    for (const path of READ_BY_TESTS) await symlink(join(PROJECT, path), join(this.folder, path))
  }

  async #runNode (...args: readonly string[]): Promise<string> {
    const running = promisify(execFile)(process.execPath, ['--import=./test/runner/register.mjs', ...args], {
      cwd: this.folder, env: { ...process.env, TAP: '1' }, maxBuffer: 1e8
    })
    return await running.then(({ stdout }) => stdout, ({ stdout }) => String(stdout))
  }

  /** The URL of a compiled file, by the path of its source. */
  urlOf (path: string): string {
    return pathToFileURL(join(this.folder, this.#dist, path.replace(/\.ts$/, '.js'))).href
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
