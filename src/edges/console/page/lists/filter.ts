// What the person types to filter the lists.

import { computed, signal } from '@preact/signals'

export const filter = signal('')

const words = computed(() => filter.value.toLowerCase().split(/\s+/).filter((word) => word !== ''))

/** Whether the text has all words of the filter. @param text in lower case. */
export function isWanted (text: string): boolean {
  return words.value.every((word) => text.includes(word))
}
