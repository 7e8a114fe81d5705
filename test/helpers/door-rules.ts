// The rule of the doors of rooms, which their READMEs name.

import { readImports, type Sources } from './source-rules.ts'

/**
 * Rooms without a README, or with a long one, and doors that are not what others import. A door is the files
 * of a room that others may import.
 * @param readmes by the folder of the room.
 */
export function breaksOfDoors (sources: Sources, readmes: ReadonlyMap<string, string>): string[] {
  const houseOf = (file: string) => [...readmes.keys()].find((room) => file.startsWith(`${room}/`))
  const homeless = [...sources.keys()].filter((file) => file.includes('/') && houseOf(file) === undefined)
  const used = new Set(readImports(sources).flatMap(
    ({ file, target, isOurs }) => isOurs && houseOf(file) !== houseOf(target) ? [target] : []
  ))
  return [
    ...homeless.map((file) => `${file} is in no room with a README`),
    ...[...readmes].flatMap(([room, text]) => {
      const lines = text.trimEnd().split('\n').length
      const [door = ''] = /^Door: .*(?:\n.+)*/m.exec(text) ?? []
      const named = [...door.matchAll(/`([^`]+)`/g)].map(([, name = '']) => `${room}/${name}`)
      const files = door === 'Door: every file.' ? [] : [...used].filter((file) => houseOf(file) === room)
      return [
        ...lines > 25 ? [`${room} has a README of ${lines} lines`] : [],
        ...door === '' ? [`${room} has no door`] : [],
        ...files.filter((file) => !named.includes(file)).map((file) => `${file} is behind the door`),
        ...named.filter((file) => !used.has(file)).map((file) => `${file} is imported by nobody`)
      ]
    })
  ]
}
