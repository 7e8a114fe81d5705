// One document of the files of an app.

import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { writeCatalog } from '../../../helpers/catalog-folder.ts'
import { problemsOf, readCatalog } from '../../../helpers/load-catalog.ts'
import { appFiles, documentOf, page, problemsOfApp, SERVER } from './app-catalog.ts'

const bodyOf = (text: string) => /<body>\n([^]*)\n<\/body>/.exec(text)?.[1] ?? ''
const headOf = (text: string) => /<title>A<\/title>([^]*)<\/head>/.exec(text)?.[1] ?? ''

/** What the scripts of a document note, in their order. They are run as a browser would run them. */
async function notesOf (document: string): Promise<unknown[]> {
  const notes: unknown[] = []
  Object.assign(globalThis, { note: (value: unknown) => notes.push(value) })
  const [, code = ''] = /<script type="module">\n([^]*?)<\/script>/.exec(document) ?? []
  await import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`)
  return notes
}

t.test('a document without files of its own stays as it was written', async (t) => {
  const text = page(
    '<p style="color: red" onclick="x()">&amp; &eacute; <a href="#top">top</a><script>a && b</script>'
  )
  t.equal(await documentOf(t, { 'index.html': text }), text)
  const windows = text.replaceAll('\n', '\r\n')
  t.equal(await documentOf(t, { 'index.html': windows }), windows)
})

t.test('modules become one script, which evaluates each of them once and in order', async (t) => {
  const document = await documentOf(t, {
    'index.html': page(
      '<script type="module" src="./first.js"></script>\n<p>kept</p>\n' +
      '<script type="module">import { name } from "./lib/shared.ts"\nnote("inline " + name)</script>'
    ),
    'first.js': `import { name } from "/lib/shared.ts"
import data from "./data.json" with { type: "json" }
note("first " + name + " " + data.n)
note("</script>")
const { late } = await import("./late.js")
note(late)`,
    'late.js': 'export const late = "late"\n',
    'data.json': '{ "n": 7 }',
    'lib/shared.ts': `export const name: string = "shared"
note("evaluated")
declare const note: (value: unknown) => void`
  })
  t.strictSame(await notesOf(document), ['evaluated', 'first shared 7', '</script>', 'late', 'inline shared'])
  t.equal(document.match(/<script/g)?.length, 1)
  t.match(bodyOf(document), /<\/script>\n<p>kept<\/p>\n$/)
})

t.test('a script that is no module keeps its place and its global names', async (t) => {
  const document = await documentOf(t, {
    'index.html': page('<script src="a.js" id="one" async crossorigin></script>'),
    'a.js': 'var text = "</script>"\nfunction f () {}'
  })
  t.equal(bodyOf(document), '<script id="one">\nvar text = "<\\/script>";\nfunction f() {\n}\n</script>')
})

t.test('style sheets are put in with their imports and images', async (t) => {
  const document = await documentOf(t, {
    'index.html': page('', '<link rel="stylesheet" href="css/a.css" media="print">' +
      '<style>p { background: url(dot.png) }</style>'),
    'css/a.css': '@import "./b.css";\na { background: url("../dot.png?x#y"); filter: url(#f) }',
    'css/b.css': 'b { color: red }',
    'dot.png': Buffer.from('dot')
  })
  const url = 'url(data:image/png;base64,ZG90)'
  t.match(headOf(document), /^<style media="print">\n[^]*b {\n {2}color: red;\n}[^]*<\/style><style>/)
  t.equal(document.split(url).length, 3)
  t.ok(document.includes('filter: url(#f)'))
})

t.test('fonts are put in where app.yaml allows data:', async (t) => {
  const document = await documentOf(t, {
    'index.html': page('', '<style>@font-face { font-family: f; src: url(f.woff2) }</style>'),
    'f.woff2': 'f',
    'app.yaml': 'csp: { resourceDomains: ["data:"] }\n'
  })
  t.match(document, 'src: url(data:font/woff2;base64,Zg==)')
})

t.test('images, audio and video are put in as data URLs, and nothing else of the page changes', async (t) => {
  const document = await documentOf(t, {
    'index.html': page(
      '<img alt="" SRC=\'a b.png\' width=1>\n<video poster="p.jpg"><source src="v.mp4"></video>\n' +
      '<svg><image xlink:href="i.svg" /></svg>\n<template><img alt="" src="p.jpg"></template>',
      '<link rel="icon" href="i.svg"><link rel="modulepreload" href="a.js">'
    ),
    'a b.png': 'a',
    'p.jpg': 'p',
    'v.mp4': 'v',
    'i.svg': '<svg/>',
    'a.js': ''
  })
  t.equal(bodyOf(document), '<img alt="" src="data:image/png;base64,YQ==" width=1>\n' +
    '<video poster="data:image/jpeg;base64,cA=="><source src="data:video/mp4;base64,dg=="></video>\n' +
    '<svg><image xlink:href="data:image/svg+xml;base64,PHN2Zy8+" /></svg>\n' +
    '<template><img alt="" src="data:image/jpeg;base64,cA=="></template>')
  t.equal(headOf(document), '<link rel="icon" href="data:image/svg+xml;base64,PHN2Zy8+">')
})

t.test('URLs of origins that app.yaml lists are left to the browser', async (t) => {
  const body = '<script src="https://cdn.example.com/x.js"></script>' +
    '<img alt="" src="https://a.b.example.org/x.png"><iframe src="https://video.example/1"></iframe>' +
    '<script type="module" src="https://cdn.example.com/m.js"></script>'
  const yaml = 'csp:\n  resourceDomains: [https://cdn.example.com, https://*.example.org]\n' +
    '  frameDomains: [https://video.example]\n'
  t.equal(bodyOf(await documentOf(t, { 'index.html': page(body), 'app.yaml': yaml })), body)
  const document = await documentOf(t, {
    'index.html': page('<script type="module" src="a.js"></script>'),
    'a.js': 'import x from "https://cdn.example.com/x.js"\nx()',
    'app.yaml': yaml
  })
  t.match(document, 'import x from "https://cdn.example.com/x.js"')
})

const PARSING = 'https://html.spec.whatwg.org/multipage/parsing.html#parse-errors'

const REFUSED: ReadonlyArray<
  readonly [claim: string, files: { [path: string]: string }, problems: readonly string[]]
> = [
  ['a page that is not valid HTML', { 'index.html': '<p>\n<b id=x id=y></p>' }, [
    `index.html: line 1: is not valid HTML: missing-doctype; see ${PARSING}`,
    `index.html: line 2: is not valid HTML: duplicate-attribute; see ${PARSING}`
  ]],
  ['a file that is missing', {
    'index.html': page('<img alt="" src="gone.png">\n<script type=module src=a.js></script>')
  }, [
    'index.html: line 3: gone.png is no file of the app: gone.png does not exist',
    'index.html: line 4: a.js is no file of the app: a.js does not exist'
  ]],
  ['a file outside the folder', {
    'index.html': page('<img alt="" src="../../server.yaml"><img alt="" src="%2e%2e/x">')
  }, [
    'index.html: line 3: ../../server.yaml leads out of the folder of the app: put the file into it',
    'index.html: line 3: %2e%2e/x leads out of the folder of the app: put the file into it'
  ]],
  ['an import that is missing, outside, or a package', {
    'index.html': page('<p>\n<script type="module" src="a.js"></script>'),
    'a.js': 'import "./b.js"\nimport "../../../x.js"\nimport "react"\nimport "./style.css"',
    'style.css': ''
  }, [
    'a.js: line 1: ./b.js is no file of the app: b.js does not exist',
    'a.js: line 2: ../../../x.js leads out of the folder of the app: put the file into it',
    'a.js: line 3: react is a package: modules of an app import its own files, such as ./react.js',
    'a.js: line 4: style.css is no module: modules import files that end in .js, .mjs, .ts, .mts, .json'
  ]],
  ['syntax errors, with their lines in the page', {
    'index.html': page(`<p>
<script type="module">
let = 1</script><script src="c.js"></script><style>
a { background: url(x.png) }</style>`),
    'c.js': '\n\nvar ='
  }, [
    'c.js: line 3: Expected identifier but found "="',
    'index.html: line 6: x.png is no file of the app: x.png does not exist',
    'index.html: line 5: "let" is a reserved word and cannot be used in an ECMAScript module'
  ]],
  ['an origin that app.yaml does not list', {
    'index.html': page(`<img alt="" src="https://cdn.example/x.png">
<iframe src="https://cdn.example/"></iframe>
<script src="//cdn.example/x.js"></script>`),
    'app.yaml': 'csp:\n  resourceDomains: [https://other.example, http://cdn.example]\n'
  }, [
    'index.html: line 3: https://cdn.example/x.png is blocked by hosts: ' +
      'add https://cdn.example to csp.resourceDomains of app.yaml, or put the file into the app',
    'index.html: line 4: https://cdn.example/ is blocked by hosts: ' +
      'add https://cdn.example to csp.frameDomains of app.yaml, or put the file into the app',
    'index.html: line 5: //cdn.example/x.js names no scheme: begin it with https:'
  ]],
  ['what hosts or the document cannot have', {
    'index.html': page(`<iframe src="b.html"></iframe>
<img alt="" src="data:," srcset="b.html 2x">
<svg><use href="b.html#a"/></svg>
<script src="a.js" defer></script>`, '<base href="/x/"><script type="importmap">{}</script>' +
      '<link rel="manifest" href="b.html"><link rel=stylesheet href=a.css>'),
    'b.html': '',
    'a.js': '',
    'f.woff2': '',
    'a.css': '@font-face { src: url(f.woff2) }'
  }, [
    'index.html: line 2: <base> changes what all paths mean: remove it',
    'index.html: line 2: import maps have no effect on files of the app: import them by their paths',
    'index.html: line 2: <link rel="manifest"> cannot be put into the document: remove it',
    'a.css: line 1: f.woff2 is a font, which would be a data: URL, and hosts load no fonts from those: ' +
      'add data: to csp.resourceDomains of app.yaml',
    'index.html: line 3: src of <iframe> cannot name a file: ' +
      'a screen is one document; put its content into it',
    'index.html: line 4: srcset of <img> cannot name a file: ' +
      'name one size with src, because all sizes would be in the document',
    'index.html: line 5: href of <use> cannot name a file: put the <symbol> into the document',
    'index.html: line 6: a script in the document cannot be deferred: use type="module"'
  ]],
  ['a script that would change how the page is read', {
    'index.html': page('<script type="module" src="a.js"></script>'), 'a.js': 'note("<!-- <script>")'
  }, ['index.html: line 3: a script has both <!-- and <script in it: write <\\!-- or <\\script']],
  ['a folder without a page', { 'a.js': '' }, [
    'index.html: : does not exist: each folder in apps/ is an app, and needs it'
  ]]
]

for (const [claim, files, problems] of REFUSED) {
  t.test(`refuses ${claim}`, async (t) => {
    t.strictSame(await problemsOfApp(t, files), problems)
  })
}

t.test('refuses what is no HTML at all with some of its problems', async (t) => {
  t.equal((await problemsOfApp(t, { 'index.html': '<p x x>'.repeat(1000) })).length, 20)
})

t.test('refuses more bytes than a screen may have, in one file and in all', async (t) => {
  const image = Buffer.alloc(700_000)
  const limit = 'is too large: a screen with all its files may have 1000000 bytes'
  const pageOf = (count: number) => page(
    Array.from({ length: count }, (_, n) => `<img alt="" src="${n}.png">`).join('\n')
  )
  t.strictSame(
    await problemsOfApp(t, { 'index.html': pageOf(2), '0.png': image, '1.png': image }),
    [`index.html: line 4: 1.png ${limit}`]
  )
  t.strictSame(
    await problemsOfApp(t, { 'index.html': pageOf(1), '0.png': Buffer.alloc(760_000) }),
    [`index.html: : index.html ${limit}`], 'base64 is longer than its bytes'
  )
  t.strictSame(await problemsOfApp(t, { 'index.html': pageOf(1), '0.png': image }), [])
})

t.test('refuses links that lead out of the folder', async (t) => {
  const html = page('<img alt="" src="x.png">')
  const root = await writeCatalog(t, {
    ...SERVER,
    ...appFiles({ 'index.html': html }),
    'x.png': 'x',
    'apps/b/index.html': page(''),
    'apps/b/b.png': 'b'
  })
  const rules = async () => await readCatalog(root).then(
    () => [], ({ problems }) => problems.map(({ file, rule }: { file: string, rule: string }) => `${file}: ${rule}`)
  )
  await symlink('../../x.png', join(root, 'apps/a/x.png'))
  t.strictSame(await rules(), [
    'apps/a/x.png: is a link that leads out of its folder: put the file itself here',
    'apps/a/index.html: x.png is no file of the app: x.png does not exist'
  ])
  await rm(join(root, 'apps/a/x.png'))
  await symlink('../b/b.png', join(root, 'apps/a/x.png'))
  t.strictSame(await rules(), [
    'apps/a/index.html: x.png cannot be read: it is gone, or a link out of the app'
  ], 'another app is outside too')
  await rm(join(root, 'apps/a/x.png'))
  await symlink('index.html', join(root, 'apps/a/x.png'))
  t.strictSame(await rules(), [], 'a link within the app is a file: a mounted ConfigMap consists of links')
})

t.test('refuses a name of a folder that cannot be in a URI', async (t) => {
  t.match(await problemsOf(t, { 'apps/a b/index.html': page('') }), [
    { file: 'apps/a b/', rule: /names an app by up to 64 letters/ }
  ])
})
