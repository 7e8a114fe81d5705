// Completion in shells: what is completed, and each shell's own script.

import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { runProgram } from '../../helpers/program.ts'

const PROPERTIES = `inputSchema: { type: 'object', properties: {
  query: { type: 'string', description: 'What to find. More.' }, genre: { enum: ['go', 'gothic'] },
  loud: { type: 'boolean' }
} }`
const catalog = await writeCatalog(t, {
  'tools/search.ts': `console.log('loading')\n${toolModule('search_books', PROPERTIES)}`,
  'tools/seal.ts': toolModule('seal')
})

async function complete (...words: string[]): Promise<string[]> {
  const { out } = await runProgram(['complete-words', '--', ...words], { TRIVET_CATALOG: catalog })
  return out.split('\n').filter((line) => line !== '')
}

t.test('commands, flags and their choices', async (t) => {
  t.match((await complete('')).map((line) => line.split('\t')[0]), [
    'init', 'dev', 'serve', 'call', 'check', 'diff', 'list', 'tasks', 'state', 'token', 'completion'
  ])
  t.match(await complete('che'), [/^check\tload a catalog without serving it, and say/])
  t.match(await complete('call', '--answ'), [/^--answer\t/, /^--answers\t/])
  t.strictSame(await complete('check', '--format', 's'), ['sarif\t'])
  t.strictSame(await complete('completion', ''), ['bash\t', 'zsh\t', 'fish\t'])
  t.match(await complete('dev', '--max-body-b'), [/^--max-body-bytes\t/])
  t.strictSame(await complete('nothing', ''), [])
  t.strictSame(await complete('check', ''), [], 'a folder is completed by the shell')
})

t.test('tools, their arguments, and the values of these', async (t) => {
  t.strictSame(await complete('call', 'se'), ['seal\tA tool.', 'search_books\tA tool.'])
  t.strictSame(await complete('call', '--json', 'sea'), ['seal\tA tool.', 'search_books\tA tool.'])
  t.strictSame(await complete('call', 'search_books', ''), ['query=\tWhat to find.', 'genre=\t', 'loud=\t'])
  t.strictSame(await complete('call', 'search_books', 'query=x', 'g'), ['genre=\t'])
  t.strictSame(await complete('call', 'search_books', 'genre=go'), ['genre=go\t', 'genre=gothic\t'])
  t.strictSame(await complete('call', 'search_books', 'loud='), ['loud=true\t', 'loud=false\t'])
  const { out } = await runProgram(['complete-words', '--', 'call', '--catalog', catalog, 'sear'])
  t.equal(out, 'search_books\tA tool.\n')
})

t.test('a catalog that does not load, and a service, complete nothing', async (t) => {
  t.strictSame(await complete('call', 'https://example.com/mcp', ''), [])
  const words = ['complete-words', '--', 'call', '']
  const { out, exitCode } = await runProgram(words, { TRIVET_CATALOG: '/nowhere' })
  t.strictSame([out, exitCode], ['', 0])
})

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))
const bin = t.testdir({})
await writeFile(join(bin, 'trivet'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`)
await chmod(join(bin, 'trivet'), 0o755)
for (const shell of ['bash', 'zsh', 'fish']) {
  await writeFile(join(bin, `of-${shell}`), (await runProgram(['completion', shell])).out)
}
const env = { ...process.env, PATH: `${bin}:${process.env.PATH ?? ''}`, TRIVET_CATALOG: catalog }
const has = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0
const lacks = (shell: string) => has(shell) ? false : `${shell} is not installed`

/** The completions of a line, by the shell itself. */
const SHELLS = {
  bash: (line: string) => execFileSync('bash', ['-c', `
    source '${join(bin, 'of-bash')}'
    COMP_LINE=$1; COMP_POINT=\${#1}; _trivet_complete; printf '%s\\n' "\${COMPREPLY[@]}"`, 'bash', line], { env }),
  fish: (line: string) => execFileSync('fish', ['--no-config', '-c', `
    source '${join(bin, 'of-fish')}'; complete -C '${line}' | string replace -r '\\t.*' ''; true`], { env })
}

for (const [shell, ask] of Object.entries(SHELLS)) {
  t.test(`${shell} completes`, { skip: lacks(shell) }, async (t) => {
    const answers = (line: string) => String(ask(line)).trim().split('\n')
    // Bash replaces only what stands after the "=".
    const value = shell === 'bash' ? (text: string) => text.replace(/.*=/, '') : (text: string) => text
    t.strictSame(answers('trivet che'), ['check'])
    t.strictSame(answers('trivet call search_books genre=got'), [value('genre=gothic')])
  })
}

t.test('the script for zsh is valid', { skip: lacks('zsh') }, async (t) => {
  const { status, stderr } = spawnSync('zsh', ['-f', '-c', `
    autoload -Uz compinit && compinit -u -D && source '${join(bin, 'of-zsh')}' &&
    [[ $_comps[trivet] == _trivet_complete ]]
  `], { env, encoding: 'utf8' })
  t.strictSame([status, stderr], [0, ''])
})
