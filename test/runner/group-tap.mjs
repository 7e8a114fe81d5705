// What a test file of a group gets as "tap": see group-loader.mjs.

import { roots } from './group-roots.mjs'

export default roots.get(new URL(import.meta.url).searchParams.get('file'))
