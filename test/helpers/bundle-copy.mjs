// Bundles src/ of the current folder, and writes only the page of the console. Fails where a build would: by
// what esbuild does not find, and by a row of build/bundled.mjs.

import { build } from 'esbuild'
import { listBundled } from '../../build/bundled.mjs'
import { bundleConsole } from '../../build/console.mjs'
import { MODULES } from '../../build/modules.mjs'

const { metafile } = await build({ ...MODULES, write: false })
await listBundled([...Object.keys(metafile.inputs), ...await bundleConsole('bundled/console')])
