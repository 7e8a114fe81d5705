// Every block of code in the pages: it is run, loaded, type-checked or compared, by the rule for its kind.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { makeFolder } from '../helpers/folder.ts'
import { missingOf, prints, programsOf, ruleOf } from './block-rules.ts'
import { openTerminal } from './commands.ts'
import { placeOf, readPage, readPages, ROOT, type Block } from './pages.ts'

const pages = await readPages()
const blocks = pages.flatMap((page) => page.blocks.map((block) => ({ ...block, rule: ruleOf(block) })))
const ofRule = (...rules: readonly string[]) => blocks.filter(({ rule }) => rules.includes(rule))
const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))

/** As `trivet init` writes it, with JavaScript that is checked too. */
const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023'],
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    allowJs: true,
    checkJs: true,
    noImplicitAny: false,
    types: ['node']
  },
  exclude: ['node_modules', 'bin']
}

/** Writes the files and the modules of the pages, each page in a folder of its own. */
async function writeBlocks (root: string, written: readonly Block[]): Promise<void> {
  for (const block of written) {
    const name = block.path ?? `modules/line-${block.line}.${block.language}`
    const file = join(root, folderOf(block.page), name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, block.text, { flag: 'wx' })
  }
}

function folderOf (page: string): string {
  return page.replace(/\.md$/, '').replaceAll('/', '-').toLowerCase()
}

/** A folder in which `trivet` and the packages that pages import are installed. */
async function makeProject (t: Parameters<typeof makeFolder>[0]): Promise<string> {
  const root = await makeFolder(t)
  await mkdir(join(root, 'node_modules'))
  await symlink(ROOT, join(root, 'node_modules/trivet'))
  for (const name of ['@types', 'typebox', 'zod']) {
    await symlink(join(ROOT, 'node_modules', name), join(root, 'node_modules', name))
  }
  await writeFile(join(root, 'package.json'), '{ "type": "module" }')
  return root
}

t.test('a page has its blocks, and a block without a rule is refused', async (t) => {
  t.ok(pages.length >= 8)
  for (const info of ['py', 'yaml', 'yaml other.yaml', 'sh catalog/x.sh', '']) {
    const { blocks } = readPage('x.md', `a\n\`\`\`${info}\nprint()\n\`\`\`\n`)
    t.throws(() => blocks.map(ruleOf), { message: /^x\.md:2: no rule covers this block/ }, info)
  }
  t.strictSame(programsOf('A=1 npm ci && docker run x | tee y\n# no'), ['npm', 'docker', 'tee'])
  t.notOk(prints('a … c', 'a b d'))
  t.ok(prints('a … c', 'x\na b c\ny'))
})

t.test('files and modules have the types that the package exports', { timeout: 300_000 }, async (t) => {
  const root = await makeProject(t)
  // Files of JavaScript are run instead.
  const typed = ofRule('file', 'module').filter(({ language, rule }) => rule === 'module' || /^tsx?$/.test(language))
  t.ok(typed.length > 10)
  await writeBlocks(root, typed)
  await writeFile(join(root, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  const tsc = join(ROOT, 'node_modules/typescript7/bin/tsc')
  const compiled = await promisify(execFile)(process.execPath, [tsc, '-p', root], { cwd: root })
    .then(({ stdout }) => stdout, ({ stdout }) => String(stdout))
  t.strictSame(compiled.split('\n'), [''])
})

// Each page has a folder and services of its own. The commands wait for each other only within a page.
t.jobs = 3

for (const page of pages) {
  const own = ofRule('file', 'commands', 'transcript').filter((block) => block.page === page.name)
  if (own.length === 0) continue
  t.test(`${page.name}: its files load, and its commands run in their order`, { timeout: 300_000 }, async (t) => {
    const root = await makeProject(t)
    await writeBlocks(root, own.filter(({ rule }) => rule === 'file'))
    const folder = join(root, folderOf(page.name))
    await mkdir(folder, { recursive: true })
    const terminal = await openTerminal(t, folder, join(root, 'bin'))
    if (existsSync(join(folder, 'catalog'))) {
      const checked = await terminal.run('trivet check catalog')
      t.match(checked, page.name === 'README.md' ? /^0 problems, 0 pieces of advice$/m : /^0 problems/m)
    }
    if (existsSync(join(folder, 'test'))) {
      const output = await terminal.run('node --test test/')
      t.match(output, /^. fail 0$/m)
      t.match(output, /^. skipped 0$/m)
    }
    for (const block of own) {
      const place = placeOf(block)
      if (block.rule === 'commands') await t.resolves(terminal.run(block.text), place)
      if (block.rule !== 'transcript') continue
      for (const [, command = '', shown = ''] of block.text.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)) {
        // The exit code may be 1: a page shows problems too.
        const output = await terminal.run(`{ ${command}; } 2>&1 || [ $? = 1 ]`)
        if (!prints(shown, output)) t.fail(`${place}: ${command}`, { shown, output })
        else t.pass(`${place}: ${command}`)
      }
    }
  })
}

t.test('an excerpt is in the file that it names', async (t) => {
  for (const block of ofRule('excerpt')) {
    const text = await readFile(join(ROOT, block.path ?? ''), 'utf8')
    t.ok(text.includes(block.text.trimEnd()), placeOf(block))
  }
})

t.test('commands that cannot be run here name only what exists', async (t) => {
  const scripts = new Set(Object.keys(manifest.scripts))
  for (const block of ofRule('foreign')) t.strictSame(missingOf(block, scripts), [], placeOf(block))
  const { blocks } = readPage('x.md', '```sh\nnpm run nothing deploy/nothing\n```\n')
  t.strictSame(blocks.flatMap((block) => missingOf(block, scripts)), ['deploy/nothing', 'npm run nothing'])
})

t.test('JSON is JSON', async (t) => {
  for (const block of ofRule('data')) t.doesNotThrow(() => JSON.parse(block.text), placeOf(block))
})

t.test('a drawn folder has what is drawn', async (t) => {
  for (const block of ofRule('tree')) {
    const [root = '', ...lines] = block.text.trimEnd().split('\n')
    for (const line of lines) {
      const [, name = ''] = /^ {2}([\w.-]+)\/? {2,}\S/.exec(line) ?? []
      if (name === '') {
        t.match(line, /^ {10}/, `${placeOf(block)}: a line that goes on`)
        continue
      }
      const isOfPage = blocks.some(({ page, path }) => page === block.page && path?.startsWith(`${root}${name}`))
      t.ok(isOfPage || existsSync(join(ROOT, root, name)), `${placeOf(block)}: ${root}${name}`)
    }
  }
})
