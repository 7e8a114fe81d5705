// Makes one script of the modules of an app, and one style sheet of a style sheet with its imports. Hosts
// allow inline scripts and no scripts from `data:` or `blob:` URLs, so that the modules of an app cannot stay
// apart. Prepares the other scripts for their places in the document.

import { extname } from 'node:path'
import type { Loader, Message, OnLoadResult, OnResolveResult, PartialMessage, Plugin } from 'esbuild'
import { isBuildError, runInEsbuild } from '../../../platform/modules/esbuild-process.ts'
import { INDEX, ruleOfApp, type AppFiles, type PlaceInFile, type ReportApp } from './app-files.ts'

const MODULES: { readonly [extension: string]: Loader } = {
  '.js': 'js', '.mjs': 'js', '.ts': 'ts', '.mts': 'ts', '.json': 'json'
}
const FONTS = /\.(?:woff2?|ttf|otf|eot)$/i

type EntryLoader = 'js' | 'css'

/**
 * Bundles texts of the document. `undefined` if a problem was reported.
 * @param texts their imports are resolved from the document.
 */
export async function bundle (
  loader: EntryLoader, texts: readonly string[], files: AppFiles, report: ReportApp
): Promise<string | undefined> {
  try {
    const { outputFiles = [] } = await runInEsbuild(async ({ build }) => await build({
      entryPoints: [ENTRY],
      bundle: true,
      write: false,
      // An absolute path: that of the process would be in the output otherwise.
      outdir: '/',
      format: 'esm',
      platform: 'browser',
      target: 'esnext',
      charset: 'utf8',
      logLevel: 'silent',
      // esbuild looks for a tsconfig.json near the process otherwise.
      tsconfigRaw: '{}',
      plugins: [toPlugin(loader, texts, files)]
    }))
    return outputFiles[0]?.text ?? ''
  } catch (error) {
    if (!isBuildError(error)) throw error
    for (const message of error.errors) reportMessage(message, report)
    return undefined
  }
}

const ENTRY = 'entry'
/** The namespace of the files. In that of INDEX are the texts, by their indexes. */
const APP = 'app'

function toPlugin (loader: EntryLoader, texts: readonly string[], files: AppFiles): Plugin {
  async function resolve (path: string, from: string, kind: string): Promise<OnResolveResult> {
    if (loader === 'js' && !/^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i.test(path)) {
      throw new SyntaxError(
        `${path} is a package: modules of an app import its own files, such as ./${path}.js`
      )
    }
    const target = files.resolve(path, from)
    if (target.kind !== 'file') return { path, external: true }
    if (kind !== 'url-token') return { path: target.path, namespace: APP }
    if (FONTS.test(target.path) && !files.allowsData) {
      throw new SyntaxError(
        `${path} is a font, which would be a data: URL, and hosts load no fonts from those: ` +
        'add data: to csp.resourceDomains of app.yaml'
      )
    }
    return { path: await files.toDataUrl(target.path), external: true }
  }
  async function load (path: string): Promise<OnLoadResult> {
    const fileLoader = loaderOf(path, loader)
    return { contents: `${await files.readText(path)}${asModule(fileLoader)}`, loader: fileLoader }
  }
  return {
    name: 'trivet-app',
    setup ({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, async ({ path, importer, namespace, kind }) => {
        if (kind === 'entry-point') return { path: ENTRY, namespace: ENTRY }
        if (namespace === ENTRY) return { path, namespace: INDEX }
        const from = namespace === INDEX ? INDEX : importer
        return await resolve(path, from, kind).catch(toErrors)
      })
      const keyword = loader === 'js' ? 'import' : '@import'
      onLoad({ filter: /.*/, namespace: ENTRY }, () => ({
        contents: texts.map((_, index) => `${keyword} "${index}";`).join('\n'), loader
      }))
      onLoad({ filter: /.*/, namespace: INDEX }, ({ path }) => ({
        contents: `${texts[Number(path)] ?? ''}${asModule(loader)}`, loader
      }))
      onLoad({ filter: /.*/, namespace: APP }, async ({ path }) => await load(path).catch(toErrors))
    }
  }
}

function toErrors (error: unknown): { readonly errors: PartialMessage[] } {
  return { errors: [{ text: ruleOfApp(error) }] }
}

/** esbuild reads a text without imports and exports as a script, which browsers never do with a module. */
function asModule (loader: Loader): string {
  return loader === 'js' || loader === 'ts' ? '\nexport {}' : ''
}

function loaderOf (path: string, loader: EntryLoader): Loader {
  if (loader === 'css') return 'css'
  const moduleLoader = MODULES[extname(path)]
  if (moduleLoader !== undefined) return moduleLoader
  const endings = Object.keys(MODULES).join(', ')
  throw new SyntaxError(`${path} is no module: modules import files that end in ${endings}`)
}

/** A place in a given text has the path of the document as its namespace. */
function reportMessage ({ text, location }: Message, report: ReportApp): void {
  const file = location?.file ?? ''
  const path = file.startsWith(`${APP}:`) ? file.slice(APP.length + 1) : file.replace(/:.*$/, '')
  report(path === '' || path === ENTRY ? INDEX : path, placeOfMessage(location), text)
}

function placeOfMessage (location: Message['location']): PlaceInFile | undefined {
  return location === null ? undefined : { line: location.line, column: location.column + 1 }
}

/** Escapes the text that would end the element. `undefined` if a problem was reported. */
export async function transformScript (
  path: string, files: AppFiles, report: ReportApp
): Promise<string | undefined> {
  const source = await files.readText(path)
  try {
    // Without a format: the names of a script stay global.
    const { code } = await runInEsbuild(async ({ transform }) => await transform(source, {
      loader: 'js', target: 'esnext', charset: 'utf8', logLevel: 'silent', tsconfigRaw: '{}'
    }))
    return code
  } catch (error) {
    if (!isBuildError(error)) throw error
    for (const { text, location } of error.errors) {
      report(path, placeOfMessage(location), text)
    }
    return undefined
  }
}
