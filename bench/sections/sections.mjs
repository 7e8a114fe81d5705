// The sections of the benchmark, in their order. Each has `name`, `about`, `run`, `print` and, where it has any, `yardsticks`.

import * as calls from './calls.mjs'

export const SECTIONS = [calls]
