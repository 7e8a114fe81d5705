// Compiles only if the type of the config has the added setting.

import type { Config } from './settings.ts'

export const readWidgets = ({ maxWidgets }: Config): number => maxWidgets
